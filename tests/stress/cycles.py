"""Runs that are started and stopped again and again in one window.

``python -m tests.stress.cycles`` does it 1,000 times and prints what the window and its worker
processes hold meanwhile: processes, threads, open files, memory. All must come back to the base.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.stress.seen import children

#: The base is taken after these: caches are filled by then.
WARM_UP = 50
#: Megabytes that the window may hold above the base for each thousand runs in its history, and a
#: worker at all.
PER_THOUSAND_RUNS, WORKER_SLACK = 60.0, 40.0


@dataclass(frozen=True)
class Held:
    """What a window and its processes hold.

    Attributes:
        processes: The window and those it has started.
        threads: Of the window.
        files: Open files of the window.
        memory: Megabytes of the window.
        worker_threads: Of all workers together; so are ``worker_files`` and ``worker_memory``.
    """

    processes: int
    threads: int
    files: int
    memory: float
    worker_threads: int
    worker_files: int
    worker_memory: float

    @property
    def line(self) -> str:
        """In words."""
        return (
            f"{self.processes} processes; window: {self.threads} threads, {self.files} files,"
            f" {self.memory:.0f} MB; workers: {self.worker_threads} threads,"
            f" {self.worker_files} files, {self.worker_memory:.0f} MB"
        )


def held() -> Held:
    """What there is now."""
    gc.collect()
    workers = children(os.getpid())
    return Held(
        1 + len(workers),
        _threads(os.getpid()),
        _files(os.getpid()),
        _memory(os.getpid()),
        sum(map(_threads, workers)),
        sum(map(_files, workers)),
        sum(map(_memory, workers)),
    )


def problems(base: Held, end: Held, runs: int) -> list[str]:
    """What has not come back to the base."""
    found = []
    for name in ("processes", "threads", "files", "worker_threads", "worker_files"):
        before, after = getattr(base, name), getattr(end, name)
        if after > before:
            found.append(f"{name}: {before} before, {after} after")
    if end.memory - base.memory > 10 + PER_THOUSAND_RUNS * runs / 1000:
        found.append(f"memory of the window: {base.memory:.0f} MB before, {end.memory:.0f} after")
    if end.worker_memory - base.worker_memory > WORKER_SLACK:
        found.append(
            f"memory of workers: {base.worker_memory:.0f} MB before, {end.worker_memory:.0f} after"
        )
    return found


def cycle(folder: Path, count: int, seed: int, warm_up: int = WARM_UP) -> list[str]:
    """Starts and stops ``count`` runs; gives what did not come back."""
    from robgui.core.execution.run import RunState
    from robgui.gui.app.app import leave
    from tests.stress.busy_window import LONG, ready, submit, wait

    window, chance = ready(folder / "cycles.robgui"), random.Random(seed)
    store, base, ended = window.store, None, 0
    for number in range(count + warm_up):
        job = submit(window, LONG, chance.randrange(10**6))
        until = time.monotonic() + chance.choice([0.0, 0.0, chance.uniform(0, 0.3)])
        wait(lambda: time.monotonic() >= until or job.state.ended)  # noqa: B023
        job.stop()
        wait(lambda: job.state.ended and not store.runner.busy)  # noqa: B023
        assert job.state in (RunState.CANCELLED, RunState.DONE), job.error
        ended += bool(job.error)
        done = number + 1 - warm_up
        if done >= 0 and done % 100 == 0:
            _settle(store, wait)
            now = held()
            base = base or now
            late = f"{ended} processes ended because they were late"
            print(f"{done:5}: {now.line}; {late}; load {os.getloadavg()[0]:.1f}", flush=True)
    _settle(store, wait)
    end = held()
    window.close()
    assert leave(window, 0) == 0
    assert base is not None
    left = [] if len(children(os.getpid())) == 0 else ["a process outlived the window"]
    return problems(base, end, count) + left


def _settle(store, wait) -> None:
    """Waits until nothing is under way any more."""
    wait(lambda: not (store.busy or store.pictures.busy or store.keeping.busy))
    until = time.monotonic() + 1.0
    wait(lambda: time.monotonic() >= until)


def _threads(process: int) -> int:
    return len(list(Path(f"/proc/{process}/task").iterdir()))


def _files(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def _memory(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> int:
    """Prints the table; the exit code says whether all came back to the base."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="cycles before the base")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.pop("ROBGUI_INLINE", None)
    with tempfile.TemporaryDirectory(prefix="robgui-stress-") as place:
        for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            os.environ[variable] = str(Path(place) / variable.lower())
        began = time.monotonic()
        found = cycle(Path(place), given.count, given.seed, given.warm_up)
        print(f"{given.count} cycles in {time.monotonic() - began:.0f} s", *found, sep="\n  ")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
