"""The window: time until it is visible, its memory, the first picture after Run, the event loop
while an engine runs, and the time to cancel. The event loop is watched in the first run of each
page, which makes what the page shows, and in the last.

Run it with ``python3 packaging/dev.py bench window`` or by itself, offscreen or on a real display.
It prints figures and asserts none. Times of the processor are given beside those of the clock: on a
busy machine only they say something.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.gui.app.main_window import MainWindow

_START = """
import time, sys
began = time.perf_counter()
import PySide6.QtWidgets
qt, used = time.perf_counter(), time.thread_time()
from robgui.gui.app.app import application, open_window
app = application()
window = open_window()
window.show()
while not window.painted:
    app.processEvents()
used = time.thread_time() - used
print(f"{qt - began:.3f} {window.painted - qt:.3f} {used:.3f} {'torch' in sys.modules}")
from robgui.gui.app.app import leave
leave(window, 0)
"""
#: What is run on the demo, with settings that let it go on for a while.
RUNS: dict[str, dict[str, object]] = {
    "zonnscan": {"samples": 100_000, "target_half_width": 0.0},
    "semantic_map": {},
    "last_particle": {},
    "feature_game": {"target": ""},  # the demo asks for a class of another model
    "deepinspect": {},
}
#: Seconds for which the event loop is watched.
_WATCHED = 5.0


def main() -> None:
    """Prints every figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.pop("ROBGUI_INLINE", None)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROBGUI_CONFIG"] = str(Path(folder) / "settings.json")
        os.environ["XDG_DATA_HOME"] = folder
        # with bytecode, as installed programs have it
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        bench_start(rounds)
        bench_runs(Path(folder), rounds)


def bench_start(rounds: int) -> None:
    """How long after Qt is imported the window is on screen; torch must not be imported by then."""
    for number in range(rounds + 1):
        answer = subprocess.run(
            [sys.executable, "-c", _START], capture_output=True, text=True, check=True
        ).stdout.split()
        if number:  # the first one writes the bytecode
            print(
                f"window: Qt imported in {answer[0]} s, visible {answer[1]} s after (processor"
                f" {answer[2]} s; goal 0.7 s); torch imported by then: {answer[3]}; {_load()}",
                flush=True,
            )


def bench_runs(folder: Path, rounds: int) -> None:
    """What a person meets after pressing Run on the demo."""
    from robgui.core.execution.worker.terms import Terms
    from robgui.gui.app.app import leave

    telling = functools.partial(Terms, imports=("tests.bench.studies.told_batches",))
    mock.patch("robgui.gui.state.running.carrier.Terms", telling).start()
    window = _window(folder)
    store = window.store
    print(f"window: {_memory('self'):.0f} MB empty; {_load()}", flush=True)
    window.commands.start_demo()
    wait(lambda: len(store.library.models) == 6 and not store.busy)
    model = next(m for m in store.library.models if m.name == "fashion_cnn.safetensors")
    store.library.use_model(model)
    wait(lambda: not (store.busy or store.pictures.busy or store.keeping.busy))
    wait_seconds(8)  # the worker has its engines by then
    for analysis, settings in RUNS.items():
        window.show_panel(analysis)
        wait(lambda: store.next_run.request(analysis) is not None)  # noqa: B023
        form = window.run_pane.form()
        assert form is not None
        form.set_values(settings)
        for number in range(rounds):
            _one_run(window, f"{analysis} {number + 1}", watch=number in (0, rounds - 1))
    models = sum(_memory(str(pid)) for pid in store.processes.pids)
    print(f"window: {_memory('self'):.0f} MB after all runs, models {models:.0f} MB")
    window.close()
    leave(window, 0)


def _running_batch(window: MainWindow, moment: float) -> tuple[float, float]:
    """When the batch that ran at a moment began and ended; twice that moment where none did."""
    workers = window.store.runner.carrier.workers
    assert workers is not None
    for line in workers.words.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "batch":
            began, ended = float(words[1]), float(words[2])
            if began <= moment <= ended:
                return began, ended
    return moment, moment


def _one_run(window: MainWindow, name: str, *, watch: bool) -> None:
    """From pressing Run to the picture on the screen; then the event loop, then Stop."""
    store, pane = window.store, window.run_pane
    wait(pane.run.isEnabled)
    panel = window.current_panel
    assert panel is not None
    stepped: list[Execution] = []
    known = store.job_stepped.connect(stepped.append)  # after the panel's
    beats = Beats()
    pressed, used = time.perf_counter(), _used(store.processes.pids)
    pane.run.click()
    job: Execution = store.runner.executions[-1]
    wait(lambda: (bool(stepped) and panel.complete) or job.state.ended)
    first = time.perf_counter() - pressed
    store.job_stepped.disconnect(known)
    spent = _used(store.processes.pids) - used
    print(
        f"{name}: first picture {1000 * first:.0f} ms after Run (processor, all processes"
        f" {1000 * spent:.0f} ms; goal 400 ms); {_load()}",
        flush=True,
    )
    if watch:
        wait(lambda: job.state.ended or time.perf_counter() > pressed + _WATCHED)
    clock, processor = beats.stop()
    if len(clock) > 1 and watch:
        print(f"{name}: event loop {_words(clock)}; by its processor time {_words(processor)}")
    if job.error:
        print(f"{name}: {job.error}")
    was_over = job.state.ended
    pressed = time.monotonic()
    job.stop()
    wait(lambda: job.state.ended)
    ended = time.monotonic()
    wait(lambda: not store.runner.busy)
    if not was_over:
        began, over = _running_batch(window, pressed)
        print(
            f"{name}: cancel {1000 * (ended - pressed):.0f} ms, {1000 * (ended - over):.0f} ms after"
            f" the batch that ran, which took {1000 * (over - began):.0f} ms (goal 50 ms and a batch)"
        )


class Beats:
    """A heartbeat of the event loop: how far apart, by the clock and by the thread's own time."""

    def __init__(self) -> None:
        from PySide6.QtCore import QTimer

        self._beats: list[tuple[float, float]] = []
        self._timer = QTimer(interval=2)
        self._timer.timeout.connect(
            lambda: self._beats.append((time.perf_counter(), time.thread_time()))
        )
        self._timer.start()

    def stop(self) -> tuple[np.ndarray, np.ndarray]:
        """Milliseconds between beats, by either."""
        self._timer.stop()
        gaps = 1000 * np.diff(np.array(self._beats).reshape(-1, 2), axis=0)
        return gaps[:, 0], gaps[:, 1]


def wait(until: Callable[[], object]) -> None:
    """Lets the window work as its own event loop does, and looks again every few milliseconds."""
    from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

    looking = QTimer(interval=5)
    looking.start()
    while not until():
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def wait_seconds(seconds: float) -> None:
    """Lets the window work for a while."""
    end = time.monotonic() + seconds
    wait(lambda: time.monotonic() > end)


def _window(folder: Path) -> MainWindow:
    from robgui.gui.app.app import application, open_window
    from robgui.gui.app.garbage import Garbage

    Garbage(application())
    window = open_window(folder / "bench.robgui")
    window.resize(1366, 768)
    window.show()
    store = window.store
    wait(lambda: bool(store.analyses) and store.history.workspace is not None)
    wait(lambda: bool(store.library.devices))
    return window


def _words(gaps: np.ndarray) -> str:
    return f"p99 {np.quantile(gaps, 0.99):.1f} ms (goal 12), worst {gaps.max():.1f} ms (goal 33)"


def _used(processes: list[int]) -> float:
    """Processor time of this process and of those of the models, in seconds."""
    ticks = os.sysconf("SC_CLK_TCK")
    spent = 0.0
    for process in processes:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        spent += (int(words[11]) + int(words[12])) / ticks
    return spent + time.process_time()


def _memory(process: str) -> float:
    """Megabytes that a process holds."""
    pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    main()
