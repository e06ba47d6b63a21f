"""A real window that runs one sweep after another until it is killed, and keeps a log of what it
has shown. Run as a module by ``tests.stress.kills``.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtTest import QTest

from robgui import resources
from robgui.core.execution.execution import Execution
from robgui.core.execution.run import RunState
from robgui.gui.app.app import application, open_window
from robgui.gui.app.main_window import MainWindow
from robgui.gui.state.library.opening import Opening

#: Samples of a run that is soon over, and of one that takes seconds.
SHORT, LONG = 64, 20_000


def main() -> None:
    """Opens the workspace and works until the end."""
    workspace, log, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    window, chance = ready(workspace), random.Random(seed)
    with log.open("ab", buffering=0) as file:
        tell = lambda *words: file.write(f"{time.time()} {' '.join(map(str, words))}\n".encode())  # noqa: E731
        store = window.store
        store.job_stepped.connect(lambda job: tell("step", job.run_id, job.newest.done))
        store.job_changed.connect(lambda job: tell(job.state.value, job.run_id, job.done))
        tell("ready", os.getpid(), 0)
        while True:
            job = submit(window, SHORT if chance.random() < 0.6 else LONG, chance.randrange(10**6))
            wait(lambda: job.state.ended)  # noqa: B023


def ready(workspace: Path, model: str = "fashion_mlp.pt2") -> MainWindow:
    """The window with a model and data of the demo."""
    application()
    window = open_window(workspace)
    window.show()
    store = window.store
    wait(lambda: bool(store.analyses) and store.history.workspace is not None)
    wait(lambda: bool(store.library.devices))
    store.library.load_dataset(resources.path("demo", "fashion.npz"), quiet=True)
    store.library.load_model(Opening(resources.path("demo", model), quiet=True))
    wait(lambda: store.library.model is not None and not store.busy)
    window.show_panel("zonnscan")
    wait(lambda: store.next_run.request("zonnscan") is not None)
    return window


def submit(window: MainWindow, samples: int, seed: int) -> Execution:
    """Runs a sweep on the first input."""
    store = window.store
    known = store.analyses["zonnscan"]
    values = {"samples": samples, "target_half_width": 0.0, "radii": (0.0, 0.1, 0.2), "seed": seed}
    return store.submit(store.next_run.build(known, known.params.parse(values), [0]))


def ended(job: Execution) -> bool:
    """Whether a run is over, and well."""
    assert job.state is not RunState.FAILED, job.error
    return job.state.ended


def wait(condition: Callable[[], object], seconds: float = 600.0) -> None:
    """Lets the window work until ``condition`` holds."""
    until = time.monotonic() + seconds
    while not condition():
        QTest.qWait(5)
        assert time.monotonic() < until, "waited in vain"


if __name__ == "__main__":
    main()
