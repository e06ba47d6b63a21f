"""Deferred: a function that is imported when it is first called."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


class Deferred:
    """A function that is imported when it is first called; see ``deferred``."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def load(self) -> None:
        """Imports its module now."""
        importlib.import_module(self._module)

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself, imported now."""
        # Not kept: once imported, this is a look-up in a dictionary.
        found: Callable[..., Any] = getattr(importlib.import_module(self._module), self.__name__)
        return found


def deferred(place: str) -> Deferred:
    """A function given as ``module:name`` and imported on its first call.

    Method records name their engines this way, so the window reads a record without importing
    torch, and what says and shows their results, so that a command line is refused at once.
    """
    module, _, name = place.partition(":")
    return Deferred(module, name)
