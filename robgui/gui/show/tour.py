"""The demo without a screen: every panel run on the bundled models, with screenshots and a report in a folder."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QDeadlineTimer, QEventLoop
from PySide6.QtWidgets import QWidget

from robgui import resources
from robgui.core.errors import RobguiError
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.app.main_window import MainWindow
from robgui.gui.app.theme import theme

SIZE = (1366, 768)
_PATIENCE = 120.0


@dataclass(frozen=True)
class Stop:
    """One stop of the tour: an analysis on a model and an input of the demo."""

    analysis: str
    model: str
    input: int


STOPS = (
    Stop("zonnscan", "fashion_cnn.safetensors", 6),
    Stop("zonnscan", "traffic_cnn.pt2", 0),
    Stop("zonnscan", "table_mlp.onnx", 0),
    Stop("zonnscan_populations", "fashion_mlp.pt2", 0),
    Stop("zonnscan_corner_cases", "fashion_mlp.pt2", 0),
    Stop("zonnscan_watermark", "fashion_mlp.pt2", 0),
    Stop("semantic_map", "fashion_cnn.safetensors", 6),
    Stop("semantic_regions", "fashion_cnn.safetensors", 6),
    Stop("srvr", "fashion_cnn.safetensors", 6),
    Stop("feature_game", "fashion_cnn.safetensors", 6),
    Stop("deepinspect", "fashion_cnn.safetensors", 0),
    Stop("deepinspect_thresholds", "fashion_cnn.safetensors", 0),
    Stop("deepinspect_coverage", "fashion_cnn.safetensors", 0),
    Stop("last_particle", "fashion_cnn.safetensors", 6),
    Stop("last_particle_table", "table_mlp.onnx", 0),
)


class Tour:
    """Drives a real window through the demo.

    Attributes:
        window: The window, of which the pictures are taken.
    """

    def __init__(self, folder: Path, stops: Sequence[Stop] = STOPS) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RobguiError(f"{folder} cannot be made ({error.strerror}); name another folder.") from error
        self._folder = folder
        self._stops = stops
        self._app = application()
        self._count = 0
        self._errors: list[str] = []
        workspace = folder / "demo.robgui"
        for old in (workspace, workspace.with_name(workspace.name + "-wal"), workspace.with_name(workspace.name + "-shm")):
            old.unlink(missing_ok=True)
        self.window: MainWindow = open_window(workspace)
        self.window.store.said.connect(self._heard)
        self.window.resize(*SIZE)
        self.window.show()

    def run(self) -> int:
        """Every stop, light and dark, then the report; returns 0, or 1 when the window had an error to show."""
        store = self.window.store
        dark = theme.dark
        self._wait(lambda: bool(store.analyses) and store.history.workspace is not None, "torch")
        theme.apply(False)
        self._shot("welcome")
        self.window.commands.start_demo()
        expected = sum(len(entry.models) for entry in resources.demo())
        self._wait(lambda: len(store.library.models) >= expected or not store.background.busy, "the demo models")
        for stop in self._stops:
            self._visit(stop)
        theme.apply(True)
        self._shot("dark")
        theme.apply(dark)
        store.history.write_report(self._folder / "report.html")
        self._wait(lambda: not store.writing.busy, "the report")
        leave(self.window, 0)
        for error in self._errors:
            self._say(f"Something went wrong: {error}")
        self._say(f"{self._count} pictures{'' if self._errors else ' and report.html'} are in {self._folder}.")
        return int(bool(self._errors))

    def _visit(self, stop: Stop) -> None:
        store = self.window.store
        model = next((m for m in store.library.models if m.name == stop.model), None)
        if model is None:
            self._say(f"{stop.analysis}: {stop.model} could not be loaded, so this stop is left out.")
            return
        store.library.use_model(model)
        self._wait(lambda: not store.background.busy, stop.model)
        store.select(store.selection.but(input=stop.input))
        self.window.show_panel(stop.analysis)
        if obstacle := store.obstacle(stop.analysis):
            self._say(f"{stop.analysis} on {stop.model}: {obstacle}")
            return
        self.window.run_pane.run.click()
        self._wait(lambda: not store.runner.busy, f"{stop.analysis} on {stop.model}")
        self._settle()
        self._shot(f"{stop.analysis}-{stop.model}")
        panel = self.window.current_panel
        self._say(f"{stop.analysis} on {stop.model}: {panel.verdict.text() if panel is not None else 'no panel'}")

    def _settle(self) -> None:
        """Waits for thumbnails, predictions and sample pictures."""
        store = self.window.store
        self._wait(lambda: not store.background.busy and not store.pictures.busy, "the pictures")
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
                raise RobguiError(f"The tour waited {_PATIENCE:.0f} s for {what} and gave up.")
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, QDeadlineTimer(20))
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
