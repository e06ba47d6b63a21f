"""What several workers gain on a suite that computes, and what a request costs beside its computation.

Run it alone on a quiet machine: ``python -m tests.bench.bench_batch``. It prints figures and asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robgui.batch import Batch, Executor, InProcess, Place, Plan, Planned, Processes, expand, read_suite
from robgui.core.analysis import Params, Step, analysis
from robgui.core.run import RunState
from robgui.core.workspace import Workspace
from tests.batch import small

#: This module registers the empty analysis, so every worker imports it.
HERE = "tests.bench.bench_batch"

BUSY = """
[[models]]
path = "demo:fashion_*"

[[datasets]]
path = "demo:fashion.npz"

[[analyses]]
name = "zonnscan"
index = "0:20"
params = { samples = 512, radii = "0:0.5:6", target_half_width = 0.0 }
"""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No result at all."""

    seed: int


@analysis(title="Nothing", question="What does a request cost?", verdict=lambda result: "Nothing.", inputs="none")
def nothing(classifier: Any, dataset: Any, params: Params) -> Iterator[Step[Nothing]]:
    """One Step, at once."""
    yield Step(1, 1, Nothing(params.seed))


@dataclass(frozen=True, slots=True)
class Timing:
    """``whole`` from the first moment, ``steady`` once every worker has ended a request; seconds per request.

    Processor time does not suffer from what else the machine does: ``driver`` is that of this process per request,
    ``workers`` that of all workers, with their start.
    """

    whole: float
    steady: float
    driver: float
    workers: float


def timed(plan: Plan, executor: Executor, folder: Path, workers: int) -> Timing:
    """Runs a plan in a fresh workspace."""
    with tempfile.TemporaryDirectory(dir=folder) as place, Workspace.open(Path(place) / "w.robgui") as workspace:
        began = warm = time.perf_counter()
        used = _used()
        before = 0
        for progress in Batch(plan, workspace, executor):
            ended = progress.ended
            if before < workers <= ended:
                warm, before = time.perf_counter(), ended
        now, total = time.perf_counter(), len(plan.requests)
        assert progress.count(RunState.DONE) == total, [entry.error for entry in progress.entries if entry.error][:1]
        driver, children = ((after - then) / total for after, then in zip(_used(), used, strict=True))
        return Timing((now - began) / total, (now - warm) / (total - before), driver, children)


def _used() -> tuple[float, float]:
    """Processor time of this process and of its children that have ended."""
    return tuple(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))  # type: ignore[return-value]


def speed_up(folder: Path, workers: int) -> None:
    """The same suite on one worker (with one core, with all) and on several."""
    path = folder / "busy.toml"
    path.write_text(BUSY)
    plan = expand(read_suite(path), "cpu")
    cores = os.cpu_count() or 1
    print(f"{len(plan.requests)} requests over 3 models, {cores} cores")
    one = timed(plan, Processes([Place("cpu", 1)]), folder, 1)
    wide = timed(plan, Processes([Place("cpu", cores)]), folder, 1)
    many = timed(plan, Processes([Place("cpu", max(1, cores // workers))] * workers), folder, workers)
    for name, found in (("1 worker, 1 thread", one), (f"1 worker, {cores} threads", wide), (f"{workers} workers", many)):
        wall = f"{1000 * found.whole:8.1f} ms a request with the start, {1000 * found.steady:8.1f} ms without"
        print(f"  {name:<22} {wall}; processor time {1000 * found.workers:.1f} ms in workers, {1000 * found.driver:.2f} ms in the driver")
    print(f"  speed-up {one.whole / many.whole:.2f} with the start, {one.steady / many.steady:.2f} without;", end=" ")
    print(f"against one worker with all cores {wide.steady / many.steady:.2f}")


def overhead(folder: Path, count: int, *, cluster: bool) -> None:
    """What an empty request costs: planning it, sending it, and three commits to the workspace."""
    small.write_files(folder)
    seed_zero = small.plan(folder, '[[analyses]]\nname = "nothing"\nmodels = ["net_0*"]\n').requests[0].request
    requests = [seed_zero.model_copy(update={"params": {"seed": seed}}) for seed in range(count)]
    plan = Plan(tuple(Planned(request, f"nothing {number}") for number, request in enumerate(requests)))
    executors: list[tuple[str, Executor, int]] = [
        ("in this process", InProcess("cpu"), 1),
        ("1 worker process", Processes([Place("cpu", 1)], [HERE]), 1),
        ("2 worker processes", Processes([Place("cpu", 1)] * 2, [HERE]), 2),
    ]
    print(f"{count} empty requests")
    for name, executor, workers in executors:
        found = timed(plan, executor, folder, workers)
        print(
            f"  {name:<22} {1000 * found.steady:8.2f} ms a request, {1000 * found.driver:.2f} ms of it the driver's processor", flush=True
        )
    if cluster:
        from robgui.batch.cluster import Cluster

        began = time.perf_counter()
        executor = Cluster("local", "cpu", imports=[HERE])
        start = time.perf_counter() - began
        found = timed(plan, executor, folder, executor.slots)
        own = f"{1000 * found.driver:.2f} ms of it the driver's processor"
        print(f"  {'Ray on this machine':<22} {1000 * found.steady:8.2f} ms a request, {own}; its start takes {start:.1f} s")


def main() -> None:
    """Prints everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--empty", type=int, default=300, help="how many empty requests")
    parser.add_argument("--no-cluster", action="store_true", help="leave Ray out")
    parser.add_argument("--no-speed-up", action="store_true", help="measure the empty requests only")
    parser.add_argument("--no-overhead", action="store_true", help="measure the speed-up only")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not given.no_overhead:
            overhead(Path(folder), given.empty, cluster=not given.no_cluster)
        if not given.no_speed_up:
            speed_up(Path(folder), given.workers)


if __name__ == "__main__":
    main()
