"""Every analysis whole on the pretended device, measured: what the tests check and the table of
docs/cuda.md shows.

``python -m tests.devices.whole`` prints the table, or the rows of the analyses that it is given.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from robgui.cli import main, running
from robgui.core.execution.choice import INLINE
from robgui.core.execution.command import command_line
from robgui.core.execution.execution import Execution
from robgui.core.execution.inline import Inline
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Pace
from robgui.core.model.classifier import Classifier
from robgui.selftest.differences import difference
from robgui.selftest.jobs import JOBS, Job
from robgui.selftest.proof import DemoBench
from tests.devices.pretend.device import CARDS, pretending

PLACE = torch.device("pretend:0")
#: Share of the bytes that a run takes beyond its model which the cap leaves.
_LEFT = 0.6


#: Reads for each call of the model, on the same jobs, when it was first counted.
BEFORE = {
    "zonnscan": 10.9,
    "zonnscan_populations": 3.0,
    "zonnscan_corner_cases": 4.8,
    "zonnscan_watermark": 1.5,
    "semantic_map": 4.8,
    "semantic_regions": 9.8,
    "srvr": 3.5,
    "feature_game": 2.1,
    "feature_game_batch": 2.1,
    "deepinspect": 439.0,
    "deepinspect_thresholds": 66.0,
    "deepinspect_coverage": 14.5,
    "last_particle": 1.5,
    "last_particle_table": 2.0,
    "pipeline_audit": 2.3,
    "operating_domain": 1.0,
    "accuracy": 5.0,
    "tolerance": 1.0,
    "corruptions": 1.9,
    "attribution": 1.0,
}


#: Of the table.
HEAD = (
    "Analysis",
    "Runs whole",
    "Difference to the CPU",
    "Reads per call at first",
    "now",
    "Reads per Step",
    "Memory runs out",
)


@dataclass(frozen=True)
class Whole:
    """What one run of an analysis on the device took.

    Attributes:
        execution: The run.
        steps: Steps it yielded.
        batches: Calls of the model.
        reads: How often the host waited.
        sites: Which lines read, and how often.
        base: Bytes in use before it began.
        peak: The most bytes in use.
    """

    execution: Execution
    steps: int
    batches: int
    reads: int
    sites: dict[str, int]
    base: int
    peak: int


@contextmanager
def counted_batches() -> Iterator[list[int]]:
    """Counts calls of models while it lasts."""
    called = [0]
    usual = Classifier.raw_input  # made once for every call

    def raw_input(self: Classifier, x: Any) -> Any:
        called[0] += 1
        return usual(self, x)

    with mock.patch.object(Classifier, "raw_input", raw_input):
        yield called


@contextmanager
def every_step() -> Iterator[None]:
    """While it lasts a Step is due whenever an engine asks, however fast the machine is."""
    with mock.patch.object(Pace, "due", return_value=True):
        yield


@cache
def bench(place: str) -> DemoBench:
    """The demo on a device, loaded once for all tests."""
    return DemoBench(torch.device(place))


@cache
def on_cpu(number: int) -> Execution:
    """A job on the processor."""
    return bench("cpu").run(JOBS[number])


def whole(job: Job) -> Whole:
    """A job on the device, inline, counted, with every Step that it can give."""
    execution, shelf = bench(str(PLACE)).execution(job)
    card = CARDS[0]
    card.forget_counts()
    base, steps, before = card.live, 0, execution.newest
    executor = Inline(shelf)
    with counted_batches() as called, every_step():
        executor.submit(execution)
        while not execution.state.ended:
            executor.work(0.0)
            steps += execution.newest is not before
            before = execution.newest
    return Whole(execution, steps, called[0], card.reads, dict(card.sites), base, card.peak)


def capped(job: Job, seen: Whole) -> Execution:
    """The same with less memory than it took, from the first Step on."""
    execution, shelf = bench(str(PLACE)).execution(job)
    executor = Inline(shelf)
    CARDS[0].forget_counts()
    executor.submit(execution)
    try:
        CARDS[0].cap = seen.base + int(_LEFT * (seen.peak - seen.base))
        while not execution.state.ended:
            executor.work(0.0)
    finally:
        CARDS[0].cap = None
    for model in bench(str(PLACE)).models.values():  # a halved batch is for this run only
        model.to(PLACE)
    return execution


def by_command(job: Job) -> Execution:
    """The job as the command line carries it out, in this process."""
    execution, _ = bench("cpu").execution(job)
    asked = execution.request.model_copy(update={"device": str(PLACE)})
    words = shlex.split(command_line(asked))[1:]
    taken: list[Execution] = []

    def taking(*args: Any, **options: Any) -> Execution:
        taken.append(Execution(*args, **options))
        return taken[0]

    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(running, "Execution", taking),
        mock.patch.dict(os.environ, {INLINE: "1"}),
    ):
        code = main([*words, "--out", str(Path(folder) / "result.json")])
    assert code == 0
    return taken[0]


def survived(execution: Execution) -> str:
    """How a run with too little memory ended."""
    if execution.state is RunState.DONE:
        return "halves its batch"
    kept = "what was computed is kept" if execution.newest is not None else "nothing computed yet"
    return f"one sentence, {kept}"


def table(jobs: Sequence[Job] = JOBS) -> str:
    """A row for each analysis, in Markdown."""
    rows = [f"| {' | '.join(HEAD)} |", "|" + " --- |" * len(HEAD)]
    for job in jobs:
        seen = whole(job)
        execution = seen.execution
        assert execution.newest is not None
        apart = difference(on_cpu(JOBS.index(job)).newest.result, execution.newest.result)  # type: ignore[union-attr]
        before = BEFORE[job.analysis]
        rows.append(
            f"| {execution.analysis.title} | {execution.state.value} | {apart:.1e} |"
            f" {before:.1f} | {seen.reads / max(1, seen.batches):.1f} |"
            f" {seen.reads / max(1, seen.steps):.1f} | {survived(capped(job, seen))} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    with pretending():
        print(table([job for job in JOBS if job.analysis in sys.argv[1:]] or JOBS))
