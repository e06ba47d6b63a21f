"""Exporting: the inputs that a run has made, written away from the GUI thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from robgui.core.execution.export import Origin
from robgui.core.execution.registry import find

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.gui.state.store import Store


def export_made(store: Store, request: Request, result: Any, place: Path) -> None:
    """Writes what the run of a result has made to ``place``, and says what is where."""
    known = find(request.analysis)
    origin = _origin(store, request)
    if known.export is None or origin is None:
        store.say("info", "The model and the data of this run are not open; open both first.")
        return
    write, params = known.export.write, known.params.parse(dict(request.params))
    store.history.working.emit(f"{known.export.title} …")

    def written(words: str) -> None:
        store.history.working.emit("")
        # Some exports fill a folder, others write one file.
        if place.is_dir():
            folder = place
        else:
            folder = place.parent
        store.history.offered.emit(
            words, "Open", lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
        )

    def failed(sentence: str, details: str) -> None:
        store.history.working.emit("")
        store.say("error", sentence, details)

    store.writing.run(lambda: write(result, params, origin, place), written, failed=failed)


def _origin(store: Store, request: Request) -> Origin | None:
    """The model and the inputs of a run, if they are open."""
    library = store.library
    data = store.subjects.dataset_of(request)
    model = next((one for one in library.models if request.place_of(one.fingerprint) == 0), None)
    if data is None or model is None:
        return None
    if request.indices is None:
        chosen = data
    else:
        chosen = data.subset(request.indices)
    return Origin(model, chosen, store.answers.ask)
