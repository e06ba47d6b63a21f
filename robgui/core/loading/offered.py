"""The networks that a Python file defines, read from its text; the file is never run."""

from __future__ import annotations

import ast
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from robgui.core.errors import RobguiError
from robgui.core.loading.archive import Archive
from robgui.core.loading.pickles import words_in
from robgui.core.regular import open_regular, read_regular

#: Largest Python file that is read, and most files beside the weights.
_LARGEST, _MOST_FILES = 2_000_000, 50
#: Most bytes of the part of a weight file that names the weights.
_LARGEST_HEAD = 64 * 2**20
#: Ends of the names of classes that torch, Lightning and others offer to build networks on.
_BASES = ("Module", "Sequential", "PreTrainedModel")
#: Prefixes that wrappers add to the name of every weight.
_WRAPPERS = ("module", "_orig_mod", "model", "net", "network")
#: Words in the name of a function that builds a network of other files.
_BUILDS = re.compile(r"(^|_)(build|make|create|get|new|load)?_?(net|network|model|module)$|^build")
_KINDS = ("weight", "bias", "running_mean")


@dataclass(frozen=True, slots=True)
class Offered:
    """A class or function of a Python file that builds a network.

    Attributes:
        name: What it is called.
        needs: Parameters that have no default.
        parts: What it calls its layers, as far as the text tells.
    """

    name: str
    needs: tuple[str, ...]
    parts: frozenset[str]


def networks_in(source: bytes) -> list[Offered]:
    """The networks of a Python file in its order, classes first; empty if it is not Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    networks = {
        name: Offered(name, _needs(_method(classes, name)), frozenset(_parts(classes, name)))
        for name in classes
        if _is_network(classes, name, ())
    }
    made = []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        if built := _built(node, networks):
            made.append(Offered(node.name, _needs(node), networks[built].parts))
        elif not _needs(node) and _may_build(node):
            made.append(Offered(node.name, (), frozenset()))
    return [*networks.values(), *made]


def networks_beside(weights: Path) -> dict[Path, list[Offered]]:
    """The networks of the Python files that lie beside a file of weights."""
    found = {}
    for path in sorted(weights.parent.glob("*.py"))[:_MOST_FILES]:
        if networks := networks_of(path):
            found[path] = networks
    return found


def networks_of(path: Path) -> list[Offered]:
    """The networks of a Python file; empty if it cannot be read."""
    try:
        return networks_in(read_regular(path, _LARGEST))
    except (OSError, RobguiError):
        return []


def fitting(networks: Sequence[Offered], parts: frozenset[str]) -> Offered | None:
    """The network whose layers are called like the weights; None if no network is."""
    known = [each for each in networks if parts and parts <= each.parts]
    if not known:
        return None
    # A network with layers that have no weights fits too, but one without surplus fits better.
    known.sort(key=lambda each: (len(each.parts - parts), len(each.needs)))
    return known[0]


def parts_of(path: Path) -> frozenset[str]:
    """The first part of every weight's name, such as ``conv1``; empty if they cannot be read."""
    try:
        names = list(_weight_names(path))
    except (OSError, RobguiError, ValueError, AttributeError):
        return frozenset()
    for _ in _WRAPPERS:
        heads = {name.partition(".")[0] for name in names}
        if len(heads) == 1 and heads <= set(_WRAPPERS):
            names = [name.partition(".")[2] for name in names]
    return frozenset(name.partition(".")[0] for name in names)


def _weight_names(path: Path) -> Iterator[str]:
    """The names of the weights in a file of torch or safetensors; nothing in it is run."""
    with open_regular(path) as file:
        head = file.read(8)
        if head[:2] == b"PK":
            with Archive(path) as archive:
                if archive.size("data.pkl") <= _LARGEST_HEAD:
                    yield from filter(_is_weight, words_in(archive.read("data.pkl")))
        elif head[:1] == b"\x80":
            file.seek(0)
            stream = io.BytesIO(file.read(_LARGEST_HEAD))
            # The old format is a row of pickles: magic number, version, system, weights.
            for _ in range(4):
                yield from filter(_is_weight, words_in(stream))
        # safetensors: eight bytes of length, then the names as JSON.
        elif 2 <= (length := int.from_bytes(head, "little")) <= _LARGEST_HEAD:
            yield from filter(_is_weight, json.loads(file.read(length)))


def _is_weight(name: str) -> bool:
    return name.rpartition(".")[2] in _KINDS and "." in name and " " not in name


def _is_network(classes: dict[str, ast.ClassDef], name: str, seen: tuple[str, ...]) -> bool:
    """Whether a class is built on a network, here or through other classes of the file."""
    for base in classes[name].bases:
        word = ast.unparse(base).rpartition(".")[2]
        if word in classes and word not in (*seen, name):
            if _is_network(classes, word, (*seen, name)):
                return True
        elif word.endswith(_BASES):
            return True
    return False


def _method(classes: dict[str, ast.ClassDef], name: str) -> ast.FunctionDef | None:
    """The ``__init__`` of a class, its own or inherited within the file."""
    seen: list[str] = []
    while name in classes and name not in seen:
        seen.append(name)
        for node in classes[name].body:
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                return node
        bases = [ast.unparse(base) for base in classes[name].bases]
        name = next((base for base in bases if base in classes), "")
    return None


def _needs(function: ast.FunctionDef | None) -> tuple[str, ...]:
    if function is None:
        return ()
    given = function.args
    plain = [each.arg for each in (*given.posonlyargs, *given.args)]
    # Defaults belong to the last parameters.
    needed = plain[: len(plain) - len(given.defaults)]
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return (
        *(name for name in needed if name != "self"),
        *(each.arg for each, default in named if default is None),
    )


def _parts(classes: dict[str, ast.ClassDef], name: str) -> Iterator[str]:
    """What the methods of a class, and of those it is built on, assign to ``self``."""
    seen: list[str] = []
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name not in classes or name in seen:
            continue
        seen.append(name)
        waiting += [ast.unparse(base) for base in classes[name].bases]
        for node in ast.walk(classes[name]):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            ):
                yield node.attr


def _built(function: ast.FunctionDef, networks: dict[str, Offered]) -> str:
    """The network of the file that a function returns; empty if the text does not tell."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Call):
            name = ast.unparse(node.value.func)
            if name in networks:
                return name
    return ""


def _may_build(function: ast.FunctionDef) -> bool:
    """Whether a function returns a network by its annotation, its call or its own name."""
    if function.returns is not None:
        return ast.unparse(function.returns).strip("\"'").endswith(_BASES)
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    if any(
        isinstance(one, ast.Call) and ast.unparse(one.func).endswith(_BASES) for one in returned
    ):
        return True
    made = any(one is not None and not isinstance(one, ast.Constant) for one in returned)
    return made and bool(_BUILDS.search(function.name))
