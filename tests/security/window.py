"""Drops hostile files onto a real window, one after the other, as a person would.

``python -m tests.security.window FOLDER --minutes 30``: the window is on the display (DISPLAY), its
workspace, messages, pictures and the files are in FOLDER. Questions are answered without ever
giving trust. It ends with what went wrong, or with nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QMimeData, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QPlainTextEdit, QWidget

from robgui import resources
from robgui.core.execution.run import Run, RunState
from robgui.core.workspace import Workspace
from tests.fuzz.outcome import tame
from tests.security.dropped import hostile_files, marks

#: Seconds after which a file counts as one that the window never finished with.
SLOWEST = 240.0
#: Seconds after which a person presses Stop; the question of trust comes sooner, also where the
#: process that opens models has to start anew first.
PATIENCE = 60.0
#: How the program speaks of an exception that it did not expect.
_BUG = re.compile(r"Unexpected [A-Z]\w+(:|\.)")
_LONGEST = 2000
_ANALYSIS = "zonnscan"


class Round:
    """A window, and everything it has said."""

    def __init__(self, folder: Path, pictures: int) -> None:
        from robgui.gui.app.app import application, open_window

        self.folder = folder
        self.workspace = folder / "own.robgui"
        self.said: list[dict[str, str]] = []
        self.wrong: list[str] = []
        self.dropped = ""
        self.longest = 0.0
        self._pictures = pictures
        self._kept: dict[str, Run] = {}
        self._app = application()
        self.window = open_window(self.workspace)
        self.window.store.said.connect(self._hear)
        self._questions = QTimer(interval=150)
        self._questions.timeout.connect(self._answer)
        self._questions.start()
        self.window.show()
        self.wait(
            lambda: bool(self.window.store.analyses) and bool(self.window.store.history.workspace)
        )

    def compute(self) -> None:
        """One run, so that the workspace has something to lose."""
        store = self.window.store
        self.drop(resources.path("demo", "table.csv"))
        self.drop(resources.path("demo", "table_mlp.onnx"))
        known = store.analyses[_ANALYSIS]
        execution = store.submit(store.next_run.build(known, known.params(samples=64), (0,)))
        self.wait(lambda: execution.state.ended and not self._busy())
        self._kept = self._runs()
        if [run.state for run in self._kept.values()] != [RunState.DONE]:
            self.wrong.append(f"nothing was computed: {self.said}")

    def drop(self, path: Path) -> None:
        """Drops one file and waits until the window is at rest again."""
        self.dropped = (
            path.name if path.parent == self.folder else f"{path.parent.name}/{path.name}"
        )
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        event = QDropEvent(
            QPointF(50, 50),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        began = time.monotonic()
        self.window.dropEvent(event)
        self.turn(0.3)
        self.wait(lambda: not self._busy() or time.monotonic() - began > PATIENCE)
        if self._busy():  # as a person would who waits for a model that never answers
            self._note("stop", "Stop is pressed.")
            self.window.store.stop_everything()
            self.wait(lambda: not self._busy())
        took = time.monotonic() - began
        self.longest = max(self.longest, took)
        print(f"{took:6.1f} s  {self.dropped}", flush=True)

    def turn(self, seconds: float) -> None:
        """Lets the window live."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            self._app.processEvents()
            self._slow(time.monotonic() - began)
            time.sleep(0.01)

    def wait(self, condition: Any) -> None:
        """Lets the window live until something holds."""
        end = time.monotonic() + SLOWEST
        while not condition():
            if time.monotonic() > end:
                self.wrong.append(f"{self.dropped}: the window never came to rest")
                return
            self.turn(0.05)

    def picture(self, name: str) -> None:
        """Keeps what is on the screen."""
        if self._pictures > 0:
            self._pictures -= 1
            self.window.grab().save(str(self.folder / f"{name}.png"))

    def back(self) -> None:
        """Opens the own workspace again, whatever a hostile one has left open."""
        workspace = self.window.store.history.workspace
        if workspace is None or Path(workspace.path) != self.workspace:
            self.drop(self.workspace)

    def end(self) -> list[str]:
        """Closes the window and looks at what is left; what went wrong."""
        from robgui.gui.app.app import leave

        self.back()
        self.window.close()
        self._questions.stop()
        leave(self.window, 0)
        with sqlite3.connect(self.workspace) as database:
            (answer,) = database.execute("PRAGMA integrity_check").fetchone()
        if answer != "ok":
            self.wrong.append(f"the workspace is damaged: {answer}")
        if self._runs() != self._kept:
            self.wrong.append("the runs of the workspace are other ones than before")
        self.wrong += [f"a payload has left {mark}" for mark in marks(self.folder)]
        return self.wrong

    def _runs(self) -> dict[str, Run]:
        """The runs that the own workspace holds, each with a result that can be read."""
        with Workspace.open(self.workspace) as opened:
            runs = {run.id: run for run in opened.runs()}
            assert all(opened.result(each) is not None for each in runs)
        return runs

    def _busy(self) -> bool:
        store = self.window.store
        return bool(
            store.busy
            or store.keeping.busy
            or store.runner.busy
            or self.window.commands.questions.dialog
            or QApplication.activeModalWidget()
        )

    def _slow(self, seconds: float) -> None:
        if seconds > 20:
            self.wrong.append(f"{self.dropped}: the window stood still for {seconds:.0f} s")

    def _hear(self, level: str, sentence: str, details: str) -> None:
        self._note(level, sentence)
        if "\n" in sentence or not sentence.strip() or len(sentence) > _LONGEST:
            self.wrong.append(f"{self.dropped}: no sentence: {tame(sentence)}")
        if (level == "error" and details) or _BUG.search(sentence):
            self.wrong.append(f"{self.dropped}: nobody foresaw: {tame(sentence + details[-300:])}")

    def _answer(self) -> None:
        """Says no to every question, and uses every model that can be used without one."""
        asked, dialog = QApplication.activeModalWidget(), self.window.commands.questions.dialog
        if asked is not None:
            self._note("question", " ".join([asked.windowTitle(), *_words(asked)]))
            asked.reject() if isinstance(asked, QDialog) else asked.close()
        elif dialog is not None and not self.window.store.pictures.busy:
            button = dialog.use if dialog.use.isEnabled() else dialog.cancel
            words = f"{button.text()}: {dialog.verdict.text()} {dialog.problem.text()}"
            self._note("model", words)
            button.click()

    def _note(self, level: str, words: str) -> None:
        self.said.append({"file": self.dropped, "level": level, "said": tame(words)})


def _words(asked: QWidget) -> list[str]:
    labels = [label.text() for label in asked.findChildren(QLabel) if label.isVisible()]
    return labels + [text.toPlainText() for text in asked.findChildren(QPlainTextEdit)]


def drop_all(
    folder: Path,
    *,
    count: int,
    seed: int,
    minutes: float,
    pictures: int = 0,
    kinds: Sequence[str] = (),
    honest: Path | None = None,
) -> Round:
    """Drops ``count`` files, again and again until the minutes are over; the round is closed."""
    files = hostile_files(folder / "files", count, seed, kinds, honest)
    made = Round(folder, pictures)
    made.compute()
    end, number = time.monotonic() + 60 * minutes, 0
    while number < len(files) or time.monotonic() < end:
        path = files[number % len(files)]
        made.drop(path)
        made.picture(f"shown-{number:03}")
        made.back()
        number += 1
        if number >= len(files) and minutes > 0:
            made.turn(min(2.0, max(0.0, end - time.monotonic())))
    made.dropped = ""
    made.end()
    (folder / "said.json").write_text(
        json.dumps({"dropped": number, "files": len(files), "said": made.said}, indent=1),
        encoding="utf-8",
    )
    return made


def main(words: list[str]) -> int:
    """1 when anything went wrong."""
    parser = argparse.ArgumentParser(prog="tests.security.window")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", default=[], help="spoiled files of these only")
    parser.add_argument("--honest", type=Path, help="honest files of an earlier round of fuzzing")
    given = parser.parse_args(words)
    folder = given.folder.absolute()
    folder.mkdir(parents=True)
    for name in ("DATA", "CONFIG", "CACHE"):
        os.environ[f"XDG_{name}_HOME"] = str(folder / "user")
    os.environ["ROBGUI_CONFIG"] = str(folder / "settings.json")
    began = time.monotonic()
    made = drop_all(
        folder,
        count=given.files,
        seed=given.seed,
        minutes=given.minutes,
        pictures=400,
        kinds=given.kind,
        honest=given.honest,
    )
    print(
        f"{(time.monotonic() - began) / 60:.1f} minutes, {len(made.said):,} messages and questions,"
        f" the longest wait for a file {made.longest:.1f} s."
    )
    print("\n".join(made.wrong) or "Alive, every message one sentence, no mark, workspace whole.")
    return int(bool(made.wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
