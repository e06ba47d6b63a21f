"""DemoLeaving: the models and data of the demo make room for the user's own files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from robgui import resources
from robgui.core.model.card import ModelCard
from robgui.gui.state.library.alike import looks_alike
from robgui.gui.state.library.opening import Opening

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.gui.state.store import Store


class DemoLeaving:
    """Closes the demo when the first data or model of the user's own come in and nothing runs.

    Otherwise its networks would be compared with the user's and chosen for the user's data.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._own: set[Path] = set()
        store.library.arriving.connect(self._arrives)

    def expect(self, path: Path) -> None:
        """The user opens this file."""
        if not _of_demo(path):
            self._own.add(path.absolute())

    def _arrives(self, item: ModelCard | Dataset) -> None:
        if item.path is None or item.path.absolute() not in self._own:
            return
        self._own.discard(item.path.absolute())
        library = self._store.library
        every: list[ModelCard | Dataset] = [*library.models, *library.datasets]
        demo = [one for one in every if _of_demo(one.path)]
        # A run may still need the model and the data of the demo.
        if not demo or self._store.runner.busy or not self._is_first(item):
            return
        models = [one.path for one in library.models if one in demo and one.path is not None]
        data = [one.path for one in library.datasets if one in demo and one.path is not None]
        library.let_go(demo)
        self._store.offered.emit(
            f"The models and data of the demo were closed to make room for {item.path.name};"
            " their runs are kept.",
            "Open them again",
            partial(self._bring_back, models, data),
        )

    def _is_first(self, item: ModelCard | Dataset) -> bool:
        """Whether these are the user's first data, or first model and not for the demo's data."""
        library = self._store.library
        if any(one.path is not None and not _of_demo(one.path) for one in library.datasets):
            return False
        if not isinstance(item, ModelCard):
            return True
        if any(not _of_demo(one.path) for one in library.models):
            return False
        return library.dataset is None or not looks_alike(item, library.dataset)

    def _bring_back(self, models: Sequence[Path], data: Sequence[Path]) -> None:
        # They come back beside the user's own, which stay in use.
        for path in data:
            self._store.library.load_dataset(path, quiet=True, use=False)
        for path in models:
            self._store.library.load_model(Opening(path, quiet=True, use=False))


def _of_demo(path: Path | None) -> bool:
    """Whether a file is one of those that the program brings along."""
    roots = [root / "demo" for root in resources.possible_roots()]
    return path is not None and any(path.resolve().is_relative_to(root) for root in roots)
