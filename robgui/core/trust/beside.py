"""Finds the modules beside a model or its architecture file that would be imported from there."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from robgui.core.errors import ModelError
from robgui.core.regular import is_file, read_regular

#: Largest amount of code accepted with a model.
_MOST_FILES = 2_000
_MOST_BYTES = 200_000_000
#: Packages may contain data files too.
_LARGEST_FILE = 50_000_000


def modules_beside(names: Iterable[str], folders: Sequence[Path]) -> dict[str, bytes]:
    """Files of the modules ``names`` in ``folders`` and of all they import.

    They come as ``{name below the folder: content}``.

    A package comes whole. What is installed, or part of Python, is not beside.
    """
    found: dict[str, bytes] = {}
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        # A random.py beside a model must not replace Python's own for the whole program.
        if name in seen or name in sys.stdlib_module_names or name == "robgui":
            continue
        seen.add(name)
        for inner, content in _files(name, folders):
            found[inner] = content
            # What the module imports from its neighbours runs too, so it is part of what is
            # trusted.
            waiting += imports_of(content)
            if len(found) > _MOST_FILES or sum(map(len, found.values())) > _MOST_BYTES:
                raise ModelError(
                    f"the module {name} beside the model has more files than code ever has; move"
                    " the model away from them"
                )
    return found


def code_bytes(path: Path) -> bytes:
    """A file of code; ModelError if it is larger than code ever is."""
    try:
        return read_regular(path, _LARGEST_FILE)
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read as code ({error.strerror}); move the model away from it"
        ) from error


def imports_of(source: bytes) -> list[str]:
    """The top-level name of every module that Python code imports.

    Empty if it is not Python.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name.partition(".")[0] for alias in node.names]
        # A relative import stays inside its package, which is copied whole.
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module.partition(".")[0])
    return names


def working_folder() -> list[Path]:
    """The current folder, if Python searches it for modules."""
    here = Path.cwd()
    if any(entry in ("", ".", str(here)) for entry in sys.path):
        return [here]
    return []


def _files(name: str, folders: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    for folder in folders:
        if is_file(folder / name / "__init__.py"):
            if not _installed(name, folders):
                yield from _package(folder, name)
            return
        if is_file(folder / f"{name}.py"):
            if not _installed(name, folders):
                yield f"{name}.py", code_bytes(folder / f"{name}.py")
            return


def _package(folder: Path, name: str) -> Iterator[tuple[str, bytes]]:
    for file in sorted((folder / name).rglob("*")):
        # Cached bytecode need not match the source that the user was shown.
        if file.is_file() and "__pycache__" not in file.parts:
            yield file.relative_to(folder).as_posix(), code_bytes(file)


def _installed(name: str, folders: Sequence[Path]) -> bool:
    """Whether Python finds the module outside ``folders``."""
    beside = {folder.resolve() for folder in folders}
    elsewhere = [entry for entry in sys.path if Path(entry or ".").resolve() not in beside]
    return PathFinder.find_spec(name, elsewhere) is not None
