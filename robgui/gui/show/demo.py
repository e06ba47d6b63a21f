"""The demo of an analysis: its model, data and input, brought up as a user would.

The scene that the whole demo opens with is here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from robgui import resources
from robgui.core.execution.registry import analyses
from robgui.gui.state.library.opening import Opening

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis, Demo
    from robgui.gui.state.store import Store


def choose(store: Store, demo: Demo) -> bool:
    """Uses the model and the data of a demo and points at its input.

    False when one of them is not loaded.
    """
    library = store.library
    model = next((one for one in library.models if one.name == demo.model), None)
    data = next((one for one in library.datasets if one.name == demo.data), None)
    if model is None or (demo.data and data is None):
        return False
    # Data before the model: choosing data may choose a model that fits it.
    if data is not None and data is not library.dataset:
        library.use_dataset(data)
    if model is not library.model:
        library.use_model(model)
    store.select(store.selection.replace(input=demo.index or 0, second=None))
    return True


def opening_scene() -> Analysis | None:
    """The analysis that the demo opens with; None if no method has one."""
    return next((one for one in analyses().values() if one.demo and one.demo.opens), None)


class DemoStart(QObject):
    """Loads the demo, the files of its opening scene first, and sets that scene.

    Signals:
        ready: Model, data and input of the opening scene are chosen.
    """

    ready = Signal()

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store
        self._waiting: Analysis | None = None
        store.library.models_changed.connect(self._set)
        store.library.datasets_changed.connect(self._set)

    def load(self) -> None:
        """Loads everything; the scene is set as soon as its own files are there."""
        first = opening_scene()
        if first is not None and first.demo is not None:
            wanted = first.demo.data
        else:
            wanted = ""
        # The sort is stable and False comes first: the opening scene's files lead, the rest keep
        # order.
        entries = sorted(resources.demo(), key=lambda entry: entry.dataset.name != wanted)
        self._waiting = first
        for entry in entries:
            self._store.library.load_dataset(entry.dataset, quiet=True)
            for model in entry.models:
                self._store.library.load_model(Opening(model, quiet=True))
        self._set()

    def _set(self) -> None:
        scene = self._waiting
        if scene is None or scene.demo is None:
            return
        names = {one.name for one in self._store.library.models}
        data = {one.name for one in self._store.library.datasets}
        if scene.demo.model not in names or scene.demo.data not in data:
            return
        self._waiting = None  # choosing signals other data, which leads back here
        choose(self._store, scene.demo)
        self._store.params_offered.emit(scene.name, dict(scene.demo.params))
        self.ready.emit()
