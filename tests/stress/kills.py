"""kill -9 at random moments: of the worker process, and of the window itself.

``python -m tests.stress.kills`` does it 200 times each, in about an hour, and prints a table: every
finished run must be there, every partial one at most two seconds old, and the workspace must open.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from tests.stress.seen import children

#: Seconds after its first picture within which the window is killed; sometimes it is killed while
#: it starts.
_SPAN, _START_SPAN, _START_SHARE = 6.0, 3.0, 0.15
#: A partial result may be this old, in seconds; a kill between a commit and the look at the clock
#: after it is no loss.
OLDEST = 2.0
_SLACK = 0.3


@dataclass
class Tally:
    """What became of all kills of one kind.

    Attributes:
        finished: Runs that the window had shown as done.
        missing: Those of them that the workspace does not have.
        partial: Runs that were at work, with a picture.
        ages: Seconds of work that each of these had lost.
        problems: Whatever else was not as it must be.
    """

    what: str
    kills: int = 0
    finished: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    partial: int = 0
    ages: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """As a row of the table."""
        late = sum(age > OLDEST + _SLACK for age in self.ages)
        oldest = f"{max(self.ages):.2f} s" if self.ages else "-"
        cells = [self.what, f"{self.kills} kills", f"{len(self.finished)} finished runs"]
        cells += [f"{len(self.missing)} of them missing", f"{self.partial} partial results"]
        cells += [f"oldest {oldest}", f"{late} too old", f"{len(self.problems)} other problems"]
        return " | ".join([*cells, f"load {os.getloadavg()[0]:.1f}"])

    def complain(self, problem: str) -> None:
        """Something is not as it must be; said at once, as the rest takes long."""
        self.problems.append(problem)
        print(f"{self.what}, kill {self.kills}: {problem}", flush=True)

    @property
    def fine(self) -> bool:
        """Whether nothing was lost."""
        late = any(age > OLDEST + _SLACK for age in self.ages)
        return not (self.missing or self.problems or late)


# --- the window ---------------------------------------------------------------------------------


def kill_windows(folder: Path, count: int, seed: int) -> Tally:
    """Starts the window on one workspace and kills it, again and again."""
    tally, chance = Tally("the window"), random.Random(seed)
    workspace = folder / "kills.robgui"
    for number in range(count):
        log = folder / f"log-{number}.txt"
        log.touch()
        _one_window(workspace, log, chance, tally)
        if number % 5 == 4 or number == count - 1:
            print(tally.line, flush=True)
    return tally


def _one_window(workspace: Path, log: Path, chance: random.Random, tally: Tally) -> None:
    words = [sys.executable, "-m", "tests.stress.busy_window", workspace, log, chance.randrange(99)]
    environment = {name: value for name, value in os.environ.items() if name != "ROBGUI_INLINE"}
    window = subprocess.Popen([*map(str, words)], env=environment, stderr=subprocess.PIPE)
    if chance.random() < _START_SHARE:
        time.sleep(chance.uniform(0, _START_SPAN))
    else:
        _wait_for_picture(window, log)
        time.sleep(chance.uniform(0, _SPAN))
    workers = children(window.pid)
    ended_before = window.poll()
    killed = time.time()
    window.kill()
    _, errors = window.communicate()
    tally.kills += 1
    if ended_before is not None:
        tally.complain(f"the window ended by itself: {errors.decode()[-300:]}")
    _check_workers(workers, tally)
    _check_workspace(workspace, list(_told(log)), killed, tally)


def _wait_for_picture(window: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 300
    while window.poll() is None and time.monotonic() < until:
        if any(word == "step" for _, word, _, _ in _told(log)):
            return
        time.sleep(0.05)


def _check_workers(workers: list[int], tally: Tally) -> None:
    """They end with the window, whatever they do."""
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}/exe").exists() for pid in workers):
        time.sleep(0.02)
        if time.monotonic() > until:
            tally.complain("a worker outlived its window")
            return


def _told(log: Path) -> Iterator[tuple[float, str, str, int]]:
    """Moment, word, run and units of work, as the window saw them."""
    for line in log.read_text().splitlines():
        words = line.split()
        if len(words) == 4:  # the last line may be cut
            yield float(words[0]), words[1], words[2], int(words[3])


def _check_workspace(
    path: Path, told: list[tuple[float, str, str, int]], killed: float, tally: Tally
) -> None:
    try:
        with Workspace.open(path) as workspace:
            stored = {run.id: run for run in workspace.runs()}
            if workspace.read_only:
                tally.complain(f"read-only: {workspace.reason}")
            tally.finished |= {run for _, word, run, _ in told if word == "done"}
            tally.missing = {run for run in tally.finished if not _whole(workspace, stored, run)}
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        tally.complain(f"the workspace does not open: {error}")
        return
    last = next((run for _, word, run, _ in reversed(told) if word == "step"), None)
    if last is None or last in tally.finished:
        return
    tally.partial += 1
    kept = stored[last].done if last in stored and stored[last].has_result else -1
    newer = [t for t, word, run, done in told if word == "step" and run == last and done > kept]
    tally.ages.append(max(0.0, killed - newer[0]) if newer else 0.0)
    if tally.ages[-1] > OLDEST + _SLACK:
        print(f"kill {tally.kills}: {tally.ages[-1]:.2f} s lost, {len(newer)} Steps", flush=True)


def _whole(workspace: Workspace, stored: dict, run: str) -> bool:
    found = stored.get(run)
    return (
        found is not None
        and found.state is RunState.DONE
        and found.has_result
        and workspace.result(run) is not None
    )


# --- the worker ---------------------------------------------------------------------------------


def kill_workers(folder: Path, count: int, seed: int) -> Tally:
    """Kills the worker of one window, again and again, while it computes."""
    from tests.stress.busy_window import LONG, SHORT, ready, submit, wait

    tally, chance = Tally("the worker"), random.Random(seed)
    os.environ.pop("ROBGUI_INLINE", None)
    window = ready(folder / "workers.robgui")
    store = window.store
    for number in range(count):
        good = submit(window, SHORT, chance.randrange(10**6))
        wait(lambda: good.state.ended and not store.runner.busy)  # noqa: B023
        if good.state is RunState.DONE:
            tally.finished.add(str(good.run_id))
        else:
            tally.complain(f"the run after a kill: {good.error}")
        victim = submit(window, LONG, chance.randrange(10**6))
        _let_go_for(chance.uniform(0, 1.5), wait)
        for pid in store.runner.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        tally.kills += 1
        wait(lambda: victim.state.ended and not store.runner.busy)  # noqa: B023
        _check_victim(victim, store.history.workspace, tally)
        if number % 5 == 4 or number == count - 1:
            print(tally.line, flush=True)
    _leave(window, tally)
    return tally


def _let_go_for(seconds: float, wait) -> None:
    until = time.monotonic() + seconds
    wait(lambda: time.monotonic() >= until)


def _check_victim(victim, workspace: Workspace, tally: Tally) -> None:
    stored = workspace.run(victim.run_id)
    words = "was ended by signal 9 (SIGKILL)"
    if victim.state is RunState.DONE:  # it was over before the kill
        tally.finished.add(victim.run_id)
    elif victim.state is not RunState.FAILED or words not in stored.error:
        tally.complain(f"{victim.state}: {stored.error}")
    elif victim.newest is not None:
        tally.partial += 1
        tally.ages.append(0.0 if stored.done == victim.newest.done else OLDEST + 1)


def _leave(window, tally: Tally) -> None:
    from robgui.gui.app.app import leave

    workspace = window.store.history.workspace
    stored = {run.id: run for run in workspace.runs()}
    tally.missing = {run for run in tally.finished if not _whole(workspace, stored, run)}
    window.close()
    if leave(window, 0):
        tally.complain("the window did not close")


def main() -> int:
    """Prints the table; the exit code says whether anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=200, help="kills of the worker")
    parser.add_argument("--windows", type=int, default=200, help="kills of the window")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="robgui-stress-") as place:
        for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            os.environ[variable] = str(Path(place) / variable.lower())
        tallies = []
        if given.windows:
            tallies.append(kill_windows(Path(place), given.windows, given.seed))
        if given.workers:
            tallies.append(kill_workers(Path(place), given.workers, given.seed))
    for tally in tallies:
        print(tally.line, *dict.fromkeys(tally.problems), sep="\n  ", flush=True)
    return int(not all(tally.fine for tally in tallies))


if __name__ == "__main__":
    raise SystemExit(main())
