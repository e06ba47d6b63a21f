"""What several workers gain on a suite that computes, and what a request costs beside its
computation.

Run it alone on a quiet machine: ``python -m tests.bench.bench_batch``. It takes about five minutes,
prints figures, and fails only when the same request gives different results on one worker, on
several and on Ray.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from robgui.batch import Batch, Place, Plan, Planned, expand, local_workers, read_suite
from robgui.core.execution.analysis import analysis
from robgui.core.execution.execution import Execution
from robgui.core.execution.executor import Executor
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.params.params import Params
from robgui.core.execution.registry import register
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.verdict import Status, Verdict
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
index = "0:{inputs}"
params = {{ samples = {samples}, radii = "0:0.5:6", target_half_width = 0.0 }}
"""

#: The suite is made so large that one worker with one thread computes about so long; a start of
#: some seconds is then in proportion.
BUSY_SECONDS = 70.0
INPUTS = 20
_TRIED_SAMPLES = 512
#: Workers get so long to start before empty requests are counted.
_START_SECONDS = 12.0

Results = dict[str, tuple[Any, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Nothing:
    """No result at all."""

    seed: int


class NothingParams(Params):
    """The first requests may wait for the other workers to be there."""

    until: float = Field(
        0.0, title="Until", description="Ends not before this moment, in seconds since 1970."
    )


def nothing(classifier: Any, dataset: Any, params: NothingParams) -> Iterator[Step[Nothing]]:
    """One Step, at once."""
    time.sleep(max(0.0, params.until - time.time()))
    yield Step(1, 1, Nothing(params.seed))


def _verdict(result: Nothing, params: NothingParams) -> Verdict:
    return Verdict(Status.UNKNOWN, "Nothing.")


register(
    analysis(
        title="Nothing",
        question="What does a request cost?",
        verdict=_verdict,
        views=lambda result, params: (),
        inputs="none",
    )(nothing)
)


@dataclass(frozen=True, slots=True)
class Timing:
    """What a run of a suite took; all in seconds.

    Attributes:
        whole: From before the workers are started until the last result is in the workspace and
            they have ended.
        steady: Per request, once every worker has ended one.
        driver: Processor time of this process, which does not suffer from what else the machine
            does.
        workers: Processor time of the workers that have ended, with their start; Ray's are not
            among them.
        computing: What the analyses themselves took, added up.
        results: Every result by the fingerprint of its request.
    """

    whole: float
    steady: float
    driver: float
    workers: float
    computing: float
    results: Results


class Watched:
    """An executor, and the moments when its Executions ended."""

    def __init__(self, inner: Executor) -> None:
        self.attempts = inner.attempts
        self.ends: list[float] = []
        self._inner = inner
        self._going: list[Execution] = []
        self.close = inner.close

    @property
    def room(self) -> int:
        return self._inner.room

    def submit(self, execution: Execution) -> None:
        self._going.append(execution)
        self._inner.submit(execution)

    def work(self, seconds: float) -> None:
        self._inner.work(seconds)
        self.ends += [time.perf_counter() for each in self._going if each.state.ended]
        self._going = [each for each in self._going if not each.state.ended]

    def steady(self, workers: int) -> float:
        """Seconds for each request after the first ``workers``."""
        first = self.ends[workers - 1]
        later = [end for end in self.ends if end > first]
        return (later[-1] - first) / len(later) if later else 0.0


def timed(plan: Plan, make: Callable[[], Executor], folder: Path, workers: int) -> Timing:
    """Runs a plan in a fresh workspace, with workers that are started now."""
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        Workspace.open(Path(place) / "w.robgui") as workspace,
    ):
        began, used = time.perf_counter(), _used()
        watched = Watched(make())
        for picture in Batch(plan, workspace, watched):
            progress = picture
        whole = time.perf_counter() - began
        assert progress.count(RunState.DONE) == len(plan.requests), [
            entry.error for entry in progress.entries if entry.error
        ][:1]
        driver, children = (after - then for after, then in zip(_used(), used, strict=True))
        computing = sum(entry.seconds for entry in progress.entries)
        return Timing(
            whole, watched.steady(workers), driver, children, computing, small.results(workspace)
        )


def _used() -> tuple[float, float]:
    """Processor time of this process and of its children that have ended."""
    return tuple(
        sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )  # type: ignore[return-value]


def busy_plan(folder: Path, inputs: int, samples: int) -> Plan:
    """Three models times the inputs, each scanned with the given samples."""
    path = folder / "busy.toml"
    path.write_text(BUSY.format(inputs=inputs, samples=samples))
    return expand(read_suite(path), "cpu", trust=True)


def samples_for(folder: Path, seconds: float) -> int:
    """Samples with which the suite takes one worker with one thread about this long."""
    tried = busy_plan(folder, 2, _TRIED_SAMPLES)
    one = timed(tried, lambda: local_workers([Place("cpu", 1)]), folder, 1).computing / len(
        tried.requests
    )
    return 64 * max(1, round(_TRIED_SAMPLES * seconds / (one * 3 * INPUTS) / 64))


def speed_up(folder: Path, workers: int, seconds: float, *, cluster: bool) -> None:
    """The same suite on one worker with one core, on one with all, on several with one each, and
    on Ray.
    """
    samples = samples_for(folder, seconds)
    plan = busy_plan(folder, INPUTS, samples)
    cores = os.cpu_count() or 1
    print(
        f"{len(plan.requests)} requests over 3 models, {samples:,} samples for each of 6 radii,"
        f" {cores} cores",
        flush=True,
    )
    places: list[tuple[str, list[Place]]] = [
        ("1 worker, 1 thread", [Place("cpu", 1)]),
        (f"{workers} workers, 1 thread", [Place("cpu", 1)] * workers),
        (f"1 worker, {cores} threads", [Place("cpu", cores)]),
    ]
    one, many, wide = (
        _told(name, timed(plan, lambda each=each: local_workers(each), folder, len(each)), plan)
        for name, each in places
    )
    print(
        f"  speed-up of {workers} workers over one: {one.whole / many.whole:.2f} with their start,"
        f" {one.steady / many.steady:.2f} without;"
    )
    print(
        f"  over one worker with all cores: {wide.whole / many.whole:.2f} with the start,"
        f" {wide.steady / many.steady:.2f} without"
    )
    small.assert_same(one.results, many.results)
    print(
        f"  the {len(one.results)} results of {workers} workers are those of one, bit for bit",
        flush=True,
    )
    if cluster:
        from robgui.batch.cluster import Cluster

        ray = _told(
            "Ray on this machine",
            timed(plan, lambda: Cluster("local", "cpu"), folder, cores),
            plan,
            counted=False,
        )
        print(
            f"  speed-up of Ray over one worker: {one.whole / ray.whole:.2f} with its start,"
            f" {one.steady / ray.steady:.2f} without"
        )
        small.assert_same(one.results, ray.results)
        print(
            f"  the {len(one.results)} results of Ray are those of one worker, bit for bit",
            flush=True,
        )


def _told(name: str, found: Timing, plan: Plan, *, counted: bool = True) -> Timing:
    """Prints a line, with how many cores the workers kept busy on average where their processor
    time is ``counted``.
    """
    wall = f"{found.whole:6.1f} s with the start, {1000 * found.steady:7.1f} ms a request without"
    cores = f"; {found.workers / found.whole:.2f} cores busy in workers" if counted else ""
    print(
        f"  {name:<22} {wall}{cores}; {1000 * found.driver / len(plan.requests):.1f} ms a request"
        " in the driver",
        flush=True,
    )
    return found


def overhead(folder: Path, count: int, *, cluster: bool) -> None:
    """What an empty request costs: planning it, sending it, and three commits to the workspace."""
    small.write_files(folder)
    small_plan = small.plan(folder, '[[analyses]]\nname = "nothing"\nmodels = ["net_0*"]\n')
    seed_zero = small_plan.requests[0].request

    def plan(workers: int) -> Plan:
        """The requests, and before them one for each worker that ends when all have started."""
        until = [time.time() + _START_SECONDS if workers > 1 else 0.0] * workers + [0.0] * count
        requests = [
            seed_zero.model_copy(update={"params": {"seed": seed, "until": end}})
            for seed, end in enumerate(until)
        ]
        return Plan(
            tuple(Planned(request, f"nothing {number}") for number, request in enumerate(requests)),
            trusted=small_plan.trusted,
        )

    executors: list[tuple[str, Callable[[], Executor], int]] = [
        ("in this process", lambda: Inline(LoadedCache("cpu")), 1),
        ("1 worker process", lambda: local_workers([Place("cpu", 1)], [HERE]), 1),
        ("2 worker processes", lambda: local_workers([Place("cpu", 1)] * 2, [HERE]), 2),
    ]
    if cluster:
        from robgui.batch.cluster import Cluster

        executors.append(
            (
                "Ray on this machine",
                lambda: Cluster("local", "cpu", imports=[HERE]),
                os.cpu_count() or 1,
            )
        )
    print(f"{count} empty requests")
    for name, make, workers in executors:
        found = timed(plan(workers), make, folder, workers)
        print(
            f"  {name:<22} {1000 * found.steady:8.2f} ms a request, once all have started",
            flush=True,
        )


def main() -> None:
    """Prints everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--seconds", type=float, default=BUSY_SECONDS, help="so long one worker computes"
    )
    parser.add_argument("--empty", type=int, default=300, help="how many empty requests")
    parser.add_argument("--no-cluster", action="store_true", help="leave Ray out")
    parser.add_argument(
        "--no-speed-up", action="store_true", help="measure the empty requests only"
    )
    parser.add_argument("--no-overhead", action="store_true", help="measure the speed-up only")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not given.no_overhead:
            overhead(Path(folder), given.empty, cluster=not given.no_cluster)
        if not given.no_speed_up:
            speed_up(Path(folder), given.workers, given.seconds, cluster=not given.no_cluster)


if __name__ == "__main__":
    main()
