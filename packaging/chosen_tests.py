"""Which tests belong to a method: those in whose path its name stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

#: Not collected by pytest, see pyproject.toml.
_LEFT_OUT = {"bench", "data"}


def method_names(root: Path) -> list[str]:
    """The methods of the project in ``root``: the folders that hold a METHOD record."""
    return sorted(path.parent.name for path in root.glob("robgui/analyses/*/method.py"))


def tests_of(root: Path, methods: Iterable[str]) -> list[str]:
    """Folders and files of tests that are named after one of ``methods``, relative to ``root``.

    ``tests/analyses/semantic``, ``tests/gui/panels/semantic`` and
    ``tests/reproduce/test_semantic_claims.py`` are those of ``semantic``.
    """
    return sorted(
        path.relative_to(root).as_posix()
        for method in set(methods)
        for path in _named_after(root / "tests", method)
    )


def _named_after(folder: Path, method: str) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir() and path.name == method:
            yield path
        elif path.is_dir() and path.name not in _LEFT_OUT:
            yield from _named_after(path, method)
        elif path.match("test_*.py") and _begins_with(path.stem.removeprefix("test_"), method):
            yield path


def _begins_with(name: str, method: str) -> bool:
    return name == method or name.startswith(f"{method}_")
