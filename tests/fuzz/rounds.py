"""A round: hostile files of every kind, opened in child processes that are watched."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.files import hostile
from tests.fuzz.kinds.kind import Kind
from tests.fuzz.outcome import End, Outcome

ROOT = Path(__file__).parents[2]
#: The program that opens the files.
CHILD = str(Path(__file__).with_name("child.py"))
#: Seconds of computing for one file; a process that sleeps so long waits for something.
SECONDS = 20.0
#: Files that a child opens before a fresh one goes on.
PORTION = 1000
_LOOK = 0.5
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Tally:
    """How the files of one kind ended."""

    kind: str
    ends: Counter[End] = field(default_factory=Counter)
    slowest: float = 0.0
    faults: list[Path] = field(default_factory=list)

    def __str__(self) -> str:
        columns = "".join(f"{self.ends[end]:>9,}" for end in End)
        return f"{self.kind:<12}{sum(self.ends.values()):>8,}{columns}{self.slowest:>9.1f} s"

    @property
    def is_clean(self) -> bool:
        """Whether every file was refused by a sentence or loaded."""
        return not any(count for end, count in self.ends.items() if end.is_fault)


HEAD = (
    f"{'kind':<12}{'files':>8}"
    + "".join(f"{str(end).split()[-1]:>9}" for end in End)
    + "   slowest"
)


def fuzz(kind: Kind, seeds: Path, seed: int, numbers: range, faults: Path) -> Tally:
    """Opens the files with these numbers; those that end badly are kept in ``faults``."""
    tally = Tally(kind.name)
    for number, outcome in _outcomes(kind.name, seeds, seed, numbers):
        tally.ends[outcome.end] += 1
        tally.slowest = max(tally.slowest, outcome.seconds)
        if outcome.end.is_fault:
            tally.faults.append(_keep(kind, seeds, seed, number, outcome, faults))
    return tally


def _keep(kind: Kind, seeds: Path, seed: int, number: int, outcome: Outcome, faults: Path) -> Path:
    target = faults / f"{kind.name}-{seed}-{number}"
    shutil.rmtree(target, ignore_errors=True)
    faults.mkdir(parents=True, exist_ok=True)
    hostile(kind, seeds, seed, number, target)
    record = {
        "kind": kind.name,
        "seed": seed,
        "number": number,
        "end": outcome.end,
        "words": outcome.words,
        "again": f"fuzz --kind {kind.name} --seed {seed} --first {number} --files 1",
    }
    (target / "case.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    return target


def _outcomes(name: str, seeds: Path, seed: int, numbers: range) -> Iterator[tuple[int, Outcome]]:
    """The outcome of every number, in order, through as many processes as it takes."""
    first = numbers.start
    while first < numbers.stop:
        end = min(first + PORTION, numbers.stop)
        for number, outcome in _portion(name, seeds, seed, range(first, end)):
            yield number, outcome
            first = number + 1


def _portion(name: str, seeds: Path, seed: int, numbers: range) -> Iterator[tuple[int, Outcome]]:
    """Outcomes of one process; it may end early, and then the last one says why."""
    words = [name, str(seeds), str(seed), str(numbers.start), str(numbers.stop)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "agg",
        "PYTHONWARNINGS": "ignore",
        "XDG_DATA_HOME": str(seeds.parent / ".user"),
        "XDG_CONFIG_HOME": str(seeds.parent / ".user"),
    }
    with subprocess.Popen(
        [sys.executable, "-P", CHILD, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=ROOT,
    ) as process:
        yield from _Watch(process).outcomes()


class _Watch:
    """Reads what a child says, and ends it when a file takes too long."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._open: int | None = None
        self._computed = 0.0
        self._last = (0.0, 0.0)
        self._slept_since: float | None = None
        self._why = ""

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """The outcomes in order; without a word of a file there is none."""
        for record in self._records():
            if "begins" in record:
                self._open = int(record["begins"])
                self._computed, self._slept_since = self._used(), None
            else:
                self._open = None
                yield (
                    int(record["number"]),
                    Outcome(End(record["end"]), record["words"], record["seconds"]),
                )
        code = self._process.wait()
        complaint = (self._process.stderr.read() if self._process.stderr else b"")[-1500:]
        if self._open is not None:
            yield self._open, self._ended(code, complaint.decode("utf-8", "replace"))
        elif code:
            raise RuntimeError(f"the fuzzing itself failed: {complaint.decode('utf-8', 'replace')}")

    def _ended(self, code: int, complaint: str) -> Outcome:
        if self._why:
            return Outcome(End.TIME, self._why, SECONDS)
        if code < 0:
            return Outcome(End.SIGNAL, f"{signal.Signals(-code).name} {complaint}", 0.0)
        return Outcome(End.FOREIGN, f"exit code {code}: {complaint}", 0.0)

    def _records(self) -> Iterator[dict]:
        assert self._process.stdout is not None
        stream, rest = self._process.stdout.fileno(), b""
        while True:
            ready, _, _ = select.select([stream], [], [], _LOOK)
            if not ready:
                self._look()
                continue
            chunk = os.read(stream, 65536)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            yield from map(json.loads, lines)

    def _look(self) -> None:
        """Ends the child when its file has used its seconds of computing, or sleeps."""
        if self._open is None or self._why:
            return
        used = self._used()
        if used - self._computed > SECONDS:
            self._why = f"more than {SECONDS:.0f} s of computing"
        if self._state() == "R" or used > self._last[0]:
            self._slept_since = None
        elif self._slept_since is None:
            self._slept_since = time.monotonic()
        elif time.monotonic() - self._slept_since > SECONDS:
            self._why = f"waited for more than {SECONDS:.0f} s"
        self._last = (used, 0.0)
        if self._why:
            self._process.kill()

    def _stat(self) -> list[str]:
        try:
            return Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return ["Z", *["0"] * 30]

    def _state(self) -> str:
        return self._stat()[0]

    def _used(self) -> float:
        fields = self._stat()
        return (int(fields[11]) + int(fields[12])) / _TICKS
