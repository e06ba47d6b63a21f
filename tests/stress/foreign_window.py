"""A person with the real window and models that misbehave: at loading, in a preview, in a run."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from robgui.core.execution.execution import Execution
from robgui.core.execution.run import RunState
from robgui.core.trust.opening import code_of
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.state.library.opening import Opening
from tests.core.execution.worker import foreign
from tests.core.execution.worker.foreign import STUCK
from tests.patience import LONGEST, Stopwatch
from tests.stress.seen import Seen, misbehaves

#: Bytes that a model's process may take.
MEMORY = 1_500_000_000
#: A run is taken to be stuck when nothing new has come for this many seconds.
_QUIET_SECONDS = 1.0
#: A button that has not moved for this many seconds is where it stays.
_RESTING_SECONDS = 0.2
_SETTINGS = {"samples": 4096, "radii": "0:0.5:8", "target_half_width": 0.0, "batch": 256}


class Person:
    """Uses one window for all models, so that what one leaves behind shows in the next.

    Args:
        folder: Of the models (see ``foreign.write_files``) and the workspace.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._inline = os.environ.pop("ROBGUI_INLINE", None)
        application()
        self.window = open_window(folder / "w.robgui")
        self.store = self.window.store
        self.store.processes.memory = MEMORY
        self.heard: list[str] = []
        self.store.said.connect(lambda level, sentence, details: self.heard.append(sentence))
        self.window.show()
        self.wait(lambda: bool(self.store.library.devices), "the process for models")
        self.wait(lambda: self.store.history.workspace is not None, "the workspace")
        self.store.library.load_dataset(folder / "data.npz")
        self.wait(lambda: not self.store.busy, "the data")

    def leave(self) -> float:
        """Closes the window; gives the seconds that it took."""
        self.window.close()
        with Stopwatch() as watch:
            assert leave(self.window, 0) == 0
        if self._inline is not None:
            os.environ["ROBGUI_INLINE"] = self._inline
        return watch.seconds

    # --- the three places -------------------------------------------------------------------------

    def at_loading(self, model: str) -> Seen:
        """Opens a model that misbehaves at its first answer."""
        heart, stopped = Heart(), None
        self.open_model(f"{model}_at_once", quiet=False)
        if model in STUCK:
            self.wait(lambda: self.misbehaves or not self.store.busy, "the mischief")
            assert self.window.status.stop.isVisible(), self.heard
            assert self.window.status.working.text() == "Loading foreign.safetensors …"
            stopped = self._stopped(self.window.status.stop, lambda: not self.store.busy)
        else:
            self.wait(lambda: not self.store.busy, "the end")
        assert self.store.library.model is None
        return self._seen("loading", model, self.heard[-1], stopped, None, heart)

    def in_preview(self, model: str) -> Seen:
        """Opens a model and changes its settings in the dialog until it misbehaves."""
        heart, stopped = Heart(), None
        self.open_model(model, quiet=False)
        self.wait(lambda: not self.store.busy and self._dialog() is not None, "the dialog")
        dialog = self._dialog()
        for step in range(1, 3 * foreign.GOOD):
            self.wait(lambda: self.misbehaves or not self.store.pictures.busy, "a preview")
            if self.misbehaves or dialog.problem.text() or dialog.warnings.text():
                break
            dialog.form.show_values({"mean": (step / 100,)})
            dialog.recompute()
        if model in STUCK:
            words = "Waiting for foreign.safetensors to answer …"
            self.wait(lambda: self.window.status.working.text() == words, "these words")
            assert not dialog.use.isEnabled() or dialog.verdict.text().startswith("Measuring")
            said = f"{dialog.verdict.text()} {words}"
            stopped = self._stopped(dialog.cancel, lambda: not self.store.pictures.busy)
            assert self._dialog() is None
        else:
            self.wait(lambda: not self.store.pictures.busy, "the end of the preview")
            said = f"{dialog.problem.text()}{dialog.warnings.text()}"
            self._click(dialog.cancel)
        return self._seen("preview", model, said, stopped, None, heart)

    def in_run(self, model: str) -> Seen:
        """Runs a sweep with a model that misbehaves after some results."""
        execution = self._run(f"{model}_later", **_SETTINGS)
        heart, stopped = Heart(), None
        self.wait(lambda: execution.newest is not None or execution.state.ended, "a picture")
        if model in STUCK:
            self._wait_until_stuck(execution)
            stopped = self._stopped(self.window.run_pane.stop, lambda: execution.state.ended)
        self.wait(lambda: not self.store.runner.busy, "the end of the run")
        expected = RunState.CANCELLED if model in STUCK else RunState.FAILED
        assert execution.state is expected, execution.state
        assert self.store.history.workspace is not None and execution.run_id is not None
        stored = self.store.history.workspace.run(execution.run_id)
        assert (stored.state, stored.error) == (execution.state, execution.error)
        said = self.heard[-1] if self.heard else ""
        return self._seen("run", model, said, stopped, stored.has_result, heart)

    def works(self) -> bool:
        """Whether a good model can be opened and run."""
        good = self._run("good", **{**_SETTINGS, "samples": 256})
        self.wait(lambda: good.state.ended and not self.store.runner.busy, "a good run")
        return good.state is RunState.DONE

    # --- what they are made of --------------------------------------------------------------------

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Lets the window work until ``condition`` holds."""
        until = time.monotonic() + LONGEST
        while not condition():
            QTest.qWait(5)
            assert time.monotonic() < until, f"waited in vain for {what}; said: {self.heard[-3:]}"

    @property
    def misbehaves(self) -> bool:
        """Whether a model that was asked has begun its mischief."""
        return misbehaves(self.store.answers.pids)

    def _dialog(self) -> QWidget | None:
        dialog = self.window.commands.questions.dialog
        return dialog if dialog is not None and dialog.isVisible() else None

    def open_model(self, build: str, *, quiet: bool) -> None:
        library = self.store.library
        for model in list(library.models):
            library.remove_model(model)
        self.heard.clear()
        path = self.folder / "foreign.safetensors"
        settings = {"architecture": f"foreign.py:{build}", "shape": (3,)}
        self.store.answers.forgive(str(path))  # as when the user opens it
        digest = code_of(path, architecture=settings["architecture"])
        library.load_model(Opening(path, settings=settings, trusted=digest, quiet=quiet))

    def _run(self, build: str, **values: object) -> Execution:
        """Opens a model, fills the form and presses Run."""
        store, pane = self.store, self.window.run_pane
        self.open_model(build, quiet=True)
        self.wait(lambda: not store.busy and store.library.model is not None, "the model")
        self.window.show_panel("zonnscan")
        self.wait(lambda: pane.form() is not None, "the form")
        pane.form().set_values(values)
        self.wait(pane.run.isEnabled, "the button Run")
        self._click(pane.run)
        self.wait(lambda: bool(store.runner.executions), "the run")
        return store.runner.executions[-1]

    def _wait_until_stuck(self, execution: Execution) -> None:
        seen, since = execution.newest, time.monotonic()
        while time.monotonic() - since < _QUIET_SECONDS or not misbehaves(self.store.runner.pids):
            QTest.qWait(20)
            if execution.newest is not seen:
                seen, since = execution.newest, time.monotonic()
            assert not execution.state.ended, execution.error

    def _stopped(self, button: QWidget, over: Callable[[], bool]) -> float:
        with Stopwatch() as watch:
            self._click(button)
            self.wait(over, "the stop")
        return watch.seconds

    def _click(self, widget: QWidget) -> None:
        assert widget.isEnabled() and widget.isVisible()
        if QApplication.platformName() != "xcb" or shutil.which("xdotool") is None:
            QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
            return
        clicked: list[bool] = []
        widget.clicked.connect(lambda *_: clicked.append(True))
        place = self._resting_place(widget)
        words = ["mousemove", "--sync", str(place.x()), str(place.y()), "click", "1"]
        mouse = subprocess.Popen(["xdotool", *words])
        self.wait(lambda: clicked, f"a click on {widget.text()}")
        mouse.wait()

    def _resting_place(self, widget: QWidget) -> QPoint:
        """The middle of ``widget`` on the screen, once its page has been laid out."""
        place, since = QPoint(), time.monotonic()
        while time.monotonic() - since < _RESTING_SECONDS:
            QTest.qWait(20)
            now = widget.mapToGlobal(widget.rect().center())
            if now != place:
                place, since = now, time.monotonic()
        return place

    def _seen(
        self,
        when: str,
        model: str,
        said: str,
        stopped: float | None,
        kept: bool | None,
        heart: Heart,
    ) -> Seen:
        gap = heart.stop()
        assert self.window.isVisible()
        return Seen("window", when, model, said, stopped, kept, 1000 * gap, self.works())


class Heart:
    """How long the event loop was away at most, by the time that this thread computed."""

    def __init__(self) -> None:
        self._beats: list[float] = []
        self._timer = QTimer(interval=10)
        self._timer.timeout.connect(lambda: self._beats.append(time.thread_time()))
        self._timer.start()

    def stop(self) -> float:
        """Seconds."""
        self._timer.stop()
        return max((b - a for a, b in itertools.pairwise(self._beats)), default=0.0)
