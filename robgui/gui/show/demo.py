"""The demo of an analysis: its model, its data and its input brought up in the window, as a user
would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Demo
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
    if data is not None and data is not library.dataset:
        library.use_dataset(data)
    if model is not library.model:
        library.use_model(model)
    store.select(store.selection.but(input=demo.index or 0, second=None))
    return True
