"""The window: time until it is visible, worst gap of the event loop while an engine runs, time
to cancel.

Run it with ``python3 packaging/dev.py bench`` or by itself. It prints figures and asserts none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

_START = """
import time, sys
began = time.perf_counter()
import PySide6.QtWidgets
qt = time.perf_counter()
from robgui.gui.app.app import application, open_window
app = application()
window = open_window()
window.show()
while not window.painted:
    app.processEvents()
print(f"{qt - began:.3f} {window.painted - qt:.3f} {'torch' in sys.modules}")
from robgui.gui.app.app import leave
leave(window, 0)
"""


def main() -> None:
    """Prints every figure."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROBGUI_CONFIG"] = str(Path(folder) / "settings.json")
        os.environ["XDG_DATA_HOME"] = folder
        bench_start()
        bench_loop(Path(folder))


def bench_start(rounds: int = 3) -> None:
    """How long after Qt is imported the window is on screen; torch must not be imported by then."""
    for _ in range(rounds):
        answer = subprocess.run(
            [sys.executable, "-c", _START], capture_output=True, text=True, check=True
        ).stdout.split()
        print(
            f"window: Qt imported in {answer[0]} s, visible {answer[1]} s after; torch imported by"
            f" then: {answer[2]}"
        )


def bench_loop(folder: Path) -> None:
    """Heartbeat of the event loop and cancel latency during a real zoNNscan run on the demo
    network.
    """
    from PySide6.QtCore import QCoreApplication, QTimer

    from robgui.core.execution.run import RunState
    from robgui.gui.app.app import application, leave, open_window

    application()
    window = open_window(folder / "bench.robgui")
    window.resize(1366, 768)
    window.show()
    store = window.store

    def wait(until: Callable[[], bool]) -> None:
        while not until():
            QCoreApplication.processEvents()
            time.sleep(0.001)

    wait(lambda: bool(store.analyses) and store.history.workspace is not None)
    window.commands.start_demo()
    wait(lambda: not store.busy)
    for name in ("fashion_cnn.safetensors", "fashion_mlp.pt2"):
        model = next(m for m in store.library.models if m.name == name)
        store.library.use_model(model)
        wait(lambda: not store.busy and not store.pictures.busy)
        form = window.run_pane.form()
        assert form is not None
        form.set_values({"samples": 100_000, "target_half_width": 0.0})
        beats: list[float] = []
        clock = QTimer()
        clock.setInterval(2)
        clock.timeout.connect(lambda beats=beats: beats.append(time.perf_counter()))
        window.run_pane.run.click()
        wait(lambda: store.runner.active is not None and store.runner.active.newest is not None)
        clock.start()
        end = time.perf_counter() + 5
        wait(lambda end=end: time.perf_counter() > end)
        clock.stop()
        gaps = 1000 * np.diff(beats)
        job = store.runner.active
        assert job is not None and job.newest is not None
        pressed = time.perf_counter()
        window.run_pane.stop.click()
        wait(lambda job=job: job.state is RunState.CANCELLED)
        cancel = 1000 * (time.perf_counter() - pressed)
        p99 = np.quantile(gaps, 0.99)
        print(
            f"{name}: event loop gap median {np.median(gaps):.1f} ms, p99 {p99:.1f} ms, worst"
            f" {gaps.max():.1f} ms; cancel {cancel:.0f} ms"
        )
    leave(window, 0)


if __name__ == "__main__":
    main()
