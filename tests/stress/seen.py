"""What a person sees of a model that misbehaves, and the table of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.core.execution.worker.foreign import MARK, MISCHIEFS


@dataclass(frozen=True)
class Seen:
    """What became of one model at one place.

    Attributes:
        where: Window or command line.
        when: At loading, in a preview or in a run.
        model: What it does, see MISCHIEFS.
        said: The sentence, word for word.
        stopped: Seconds until Stop had worked; None for a model that ended by itself.
        kept: Whether the partial result is there; None where there can be none.
        gap: The longest time in milliseconds that the window was away; None without one.
        again: Whether the next run worked.
    """

    where: str
    when: str
    model: str
    said: str
    stopped: float | None
    kept: bool | None
    gap: float | None
    again: bool

    @property
    def line(self) -> str:
        """As a row of the table."""
        stopped = "by itself" if self.stopped is None else f"{self.stopped:.2f} s"
        kept = {None: "-", True: "kept", False: "LOST"}[self.kept]
        gap = "-" if self.gap is None else f"{self.gap:.0f} ms"
        cells = [self.where, self.when, MISCHIEFS[self.model], stopped, kept, gap]
        return " | ".join([*cells, "works" if self.again else "FAILS", self.said])


HEAD = "where | when | the model | stopped | result so far | window away | next run | what is said"


def misbehaves(processes: Iterable[int]) -> bool:
    """Whether a model in one of these processes has begun its mischief."""
    return any(_holds_mark(process) for process in processes)


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # gone
            continue
        if parent == process:
            found.append(int(stat.parent.name))
    return found


def _holds_mark(process: int) -> bool:
    try:
        links = [link.readlink().name for link in Path(f"/proc/{process}/fd").iterdir()]
    except OSError:  # gone, or just closing something
        return False
    return MARK in links
