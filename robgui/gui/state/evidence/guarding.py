"""Guarding: the starred findings as tests, written away from the GUI thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

if TYPE_CHECKING:
    from robgui.batch.guards.making import Made
    from robgui.gui.state.store import Store


def make_tests(store: Store, folder: Path) -> None:
    """Writes a guard suite into ``folder``, and says what it holds and what was left out."""
    # It is only read, so one that cannot be written will do: the tests go into the folder.
    workspace = store.history.workspace
    if workspace is None:
        return
    trusted = sorted({model.ran for model in store.library.models if model.ran})
    store.history.working.emit("Making tests of the starred findings …")

    def make() -> Made:
        from robgui.batch.guards.making import make_guards

        return make_guards(workspace, folder, store.answers.ask, trust=trusted)

    def written(made: Made) -> None:
        store.history.working.emit("")
        for why in made.left_out:
            store.say("info", f"No test: {why}")
        store.history.offered.emit(
            f"Tests written: {made.words} in {folder}. To ask a later model: Check a model against"
            f" tests in the Model menu, or robgui check {folder.name} --model FILE",
            "Open",
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))),
        )

    def failed(sentence: str, details: str) -> None:
        store.history.working.emit("")
        store.say("error", sentence, details)

    store.writing.run(make, written, failed=failed)
