"""One session with the real window in a process of its own; prints JSON of what it saw.

``python -m tests.e2e.reopening_alone PHASE [PATH ...]``: ``first`` opens data and model, corrects
the settings and runs; ``again`` runs what is open after the start; ``save_as``, ``open`` and
``new`` do so after the step they are called after.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from robgui.gui.app.app import application, leave, open_window
from robgui.gui.app.main_window import MainWindow
from robgui.gui.model.model_dialog import ModelDialog

PATIENCE = 120.0
CORRECTED = {"mean": (0.5,), "std": (0.1,), "labels": ("dark", "middle", "bright")}


def wait(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        QTest.qWait(20)
        if time.monotonic() > end:
            sys.exit(f"waited in vain for {what}")


def idle(window: MainWindow) -> None:
    store = window.store
    wait(lambda: not (store.busy or store.keeping.busy or store.pictures.busy), "the store")


def open_files(window: MainWindow, paths: list[str], corrected: dict[str, Any]) -> None:
    """What a user does: opens each file, corrects what the dialog shows, presses Use model."""
    for path in paths:
        window.commands.open_path(Path(path))
        QTest.qWait(50)
        idle(window)
        for dialog in QApplication.topLevelWidgets():
            if isinstance(dialog, ModelDialog) and dialog.isVisible():
                if corrected:
                    dialog.form.show_values(corrected)
                wait(lambda dialog=dialog: dialog.candidate is not None, "the dialog")
                dialog.use.click()
        idle(window)


def run(window: MainWindow) -> dict[str, Any]:
    """Runs the first analysis on the input that is chosen; says what came out."""
    store = window.store
    wait(lambda: store.library.predictions.complete, "predictions")
    window.show_panel("zonnscan")
    window.run_pane.show_params("zonnscan", {"samples": 64, "radii": [0.0, 0.1, 0.3], "seed": 1})
    wait(lambda: not store.next_run.obstacle("zonnscan"), store.next_run.obstacle("zonnscan"))
    drawn = window.current_panel is not None and window.current_panel.result is not None
    before = len(store.history.runs)
    window.run_pane.start()
    wait(lambda: len(store.history.runs) > before, "the run")
    wait(lambda: store.history.runs[0].state.ended and not store.runner.busy, "its end")
    idle(window)
    model = store.library.model
    assert model is not None
    verdict = store.history.runs[0].verdict
    return {
        "workspace": str(store.history.workspace.path),
        "model": model.name,
        "file": model.file,
        "mean": list(model.settings.mean),
        "labels": list(model.labels),
        "accuracy": store.library.predictions.accuracy(),
        "verdict": verdict.sentence if verdict is not None else "",
        "runs": len(store.history.runs),
        "drawn": drawn,
        "missing": [reference.name for reference in store.history.missing],
    }


def main(phase: str, *paths: str) -> None:
    """One session."""
    application()
    window = open_window()
    window.show()
    store = window.store
    wait(lambda: bool(store.analyses) and store.history.workspace is not None, "the window")
    wait(lambda: bool(store.library.devices), "the process for models")
    idle(window)
    if phase == "first":
        open_files(window, list(paths), CORRECTED)
    elif phase == "open":
        open_files(window, list(paths), {})
    elif phase == "save_as":
        store.history.save_as(Path(paths[0]))
        wait(lambda: store.history.workspace.path == Path(paths[0]), "the copy")
        idle(window)
    elif phase == "new":
        store.open_workspace(Path(paths[0]))
        wait(lambda: store.history.workspace.path == Path(paths[0]), "the new one")
        idle(window)
        open_files(window, list(paths[1:]), {})
    seen = run(window)
    window.close()
    leave(window, 0)
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
