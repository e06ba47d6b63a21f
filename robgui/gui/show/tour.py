"""The demo without a screen: every panel run on bundled models, with screenshots and report."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QDeadlineTimer, QEventLoop
from PySide6.QtWidgets import QWidget

from robgui import resources
from robgui.core.errors import RobguiError
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.registry import analyses
from robgui.core.text.words import duration
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.app.main_window import MainWindow
from robgui.gui.app.theme import theme
from robgui.gui.show.demo import choose

SIZE = (1366, 768)
_PATIENCE = 600.0


def stops() -> list[Analysis]:
    """The analyses that the tour shows: those with a demo, in the order of the rail."""
    return [known for known in analyses().values() if known.demo is not None]


class Tour:
    """Drives a real window through the demo.

    Attributes:
        window: The window to take pictures of.
    """

    def __init__(self, folder: Path, stops: Sequence[Analysis]) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RobguiError(
                f"{folder} cannot be made ({error.strerror}); name another folder."
            ) from error
        self._folder = folder
        self._stops = stops
        self._app = application()
        self._count = 0
        self._errors: list[str] = []
        workspace = folder / "demo.robgui"
        for old in (
            workspace,
            # SQLite would replay these into the new file.
            workspace.with_name(workspace.name + "-wal"),
            workspace.with_name(workspace.name + "-shm"),
        ):
            old.unlink(missing_ok=True)
        self.window: MainWindow = open_window(workspace)
        self.window.store.said.connect(self._heard)
        self.window.resize(*SIZE)
        self.window.show()

    def run(self) -> int:
        """Every stop, light and dark, then the report.

        Returns 0, or 1 when the window had an error to show.
        """
        store = self.window.store
        dark = theme.dark
        self._wait(lambda: bool(store.analyses) and store.history.workspace is not None, "torch")
        theme.apply(False)
        self._shot("welcome")
        self.window.commands.start_demo()
        expected = sum(len(entry.models) for entry in resources.demo())
        self._wait(
            lambda: len(store.library.models) >= expected or not store.busy,
            "the demo models",
        )
        for stop in self._stops:
            self._visit(stop)
        theme.apply(True)
        self._shot("dark")
        theme.apply(dark)
        store.history.exports.write_report(self._folder / "report.html")
        self._wait(lambda: not store.writing.busy, "the report")
        leave(self.window, 0)
        for error in self._errors:
            self._say(f"Something went wrong: {error}")
        self._say(
            f"{self._count} pictures{'' if self._errors else ' and report.html'} are in"
            f" {self._folder}."
        )
        return int(bool(self._errors))

    def _visit(self, stop: Analysis) -> None:
        """Runs an analysis on what its demo names, as a user would."""
        store, demo = self.window.store, stop.demo
        assert demo is not None
        if not choose(store, demo):
            self._say(
                f"{stop.name}: {demo.model} or {demo.data} could not be loaded, so this stop is"
                " left out."
            )
            return
        self._wait(lambda: not store.busy, demo.model)
        self.window.show_panel(stop.name)
        store.params_offered.emit(stop.name, dict(demo.params))
        if obstacle := store.next_run.obstacle(stop.name):
            self._say(f"{stop.name} on {demo.model}: {obstacle}")
            return
        self.window.run_pane.run.click()
        self._wait(lambda: not store.runner.busy, f"{stop.name} on {demo.model}")
        self._settle()
        self._shot(f"{stop.name}-{demo.model}")
        panel = self.window.current_panel
        if panel is None:
            said = None
        else:
            said = panel.verdict.verdict
        if said is None:
            words = "no verdict"
        else:
            words = f"{said.status.words}. {said.text}"
        self._say(f"{stop.name} on {demo.model}: {words}")

    def _settle(self) -> None:
        """Waits for thumbnails, predictions and sample pictures."""
        store = self.window.store
        self._wait(lambda: not store.busy and not store.pictures.busy, "the pictures")
        # Timers that collect events for a moment have no receiver left.
        end = time.monotonic() + 0.5
        self._wait(lambda: time.monotonic() > end, "the last frame")

    def _shot(self, name: str) -> None:
        self._settle()
        self._count += 1
        save(self.window, self._folder / f"{self._count:02d}-{name}.png")

    def _wait(self, until: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not until():
            if time.monotonic() > end:
                raise RobguiError(f"The tour waited {duration(_PATIENCE)} for {what} and gave up.")
            # In slices: a loop that only waits for events would not notice its own deadline.
            QCoreApplication.processEvents(
                QEventLoop.ProcessEventsFlag.AllEvents, QDeadlineTimer(20)
            )
            time.sleep(0.005)

    def _heard(self, level: str, sentence: str, _details: str) -> None:
        if level == "error":
            self._errors.append(sentence)

    def _say(self, sentence: str) -> None:
        sys.stdout.write(sentence + "\n")
        sys.stdout.flush()


def save(widget: QWidget, path: Path) -> None:
    """Writes a screenshot of ``widget``."""
    if not widget.grab().save(str(path)):
        raise RobguiError(f"{path} cannot be written; choose a folder you may write to.")
