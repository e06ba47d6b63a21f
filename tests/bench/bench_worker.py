"""What a process of its own costs: throughput of an engine, sending a Step, the first picture, a
stop.

Run it alone on a quiet machine: ``python -m tests.bench.bench_worker``. It prints figures and
    asserts none.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from robgui import resources
from robgui.core.execution.analysis import analysis
from robgui.core.execution.execution import Execution
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.params.params import Params
from robgui.core.execution.registry import register
from robgui.core.execution.request import Request, build_request
from robgui.core.execution.step import Step
from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Workers
from robgui.core.verdict import Status, Verdict

#: What a worker gives up, and the same work before and after it.
_CONFINED = """
import os, time
import torch
from robgui.core.execution.worker.confinement import kernel, landlock, seccomp

torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Flatten())
x = torch.rand(64, 3, 28, 28)


def timed(act, times):
    took = []
    for _ in range(31):
        began = time.perf_counter()
        for _ in range(times):
            act()
        took.append((time.perf_counter() - began) / times)
    return sorted(took)[15]


def both():
    with torch.inference_mode():
        return timed(lambda: net(x), 10), timed(lambda: os.stat("/"), 1000)


both()
before = both()
began = time.perf_counter()
kernel.give_up_privileges()
held = landlock.restrict([], []), seccomp.refuse_calls(local_sockets=False)
cost = time.perf_counter() - began
after = both()
print(f"confinement (Landlock {held[0]}, seccomp {held[1]}): {1000 * cost:.2f} ms of a start;", end=" ")
print(f"a batch of torch {1000 * before[0]:.2f} ms before, {1000 * after[0]:.2f} ms after;", end=" ")
print(f"a system call {1e6 * before[1]:.2f} us before, {1e6 * after[1]:.2f} us after", flush=True)
"""
#: This module registers an analysis, so a worker imports it.
HERE = "tests.bench.bench_worker"
SIZES = {"small (8 KB)": 1_000, "1,000 classes (8 MB)": 1_000_000, "100 MB": 12_500_000}


@dataclass(frozen=True)
class Sized:
    """A result of some size."""

    values: np.ndarray


class SizedParams(Params):
    """How large, how long, and how much work between two Steps."""

    numbers: int = Field(1000, title="Numbers", description="Numbers in a result.")
    seconds: float = Field(3.0, title="Seconds", description="How long it goes on.")
    work: float = Field(0.02, title="Work", description="Seconds of work between two Steps.")


def _says(result: Sized, params: SizedParams) -> Verdict:
    return Verdict(Status.UNKNOWN, "A result of some size.")


@register
@analysis(
    title="Sized",
    question="What does a Step cost?",
    verdict=_says,
    views=lambda result, params: (),
    inputs="none",
)
def sized(classifier: object, dataset: object, params: SizedParams) -> Iterator[Step[Sized]]:
    """Works with the processor, then yields a Step, until the time is over.

    ``done`` counts pieces of work.
    """
    result = Sized(np.random.default_rng(0).random(params.numbers))
    rows, until, done = (
        np.random.default_rng(1).random((200, 200)),
        time.monotonic() + params.seconds,
        0,
    )
    while time.monotonic() < until:
        due = time.monotonic() + params.work
        while time.monotonic() < due:
            rows @ rows
            done += 1
        yield Step(done, None, result)


def main() -> None:
    """Prints everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7, help="turns of each side")
    parser.add_argument(
        "--samples", type=int, default=2_000, help="samples for each radius of a turn"
    )
    given = parser.parse_args()
    began = time.perf_counter()
    workers = Workers([Place("cpu", 1)], Terms(pace=0.0, keep=True, imports=(HERE,)))
    workers.start()
    while not workers.ready:
        workers.work(0.05)
    print(f"a worker is ready {time.perf_counter() - began:.2f} s after its start")
    try:
        throughput(workers, given.rounds, given.samples)
        first_picture(workers, given.rounds)
        stop(workers, given.rounds)
        sending(workers)
    finally:
        workers.close()
    if sys.platform == "linux":
        subprocess.run([sys.executable, "-c", _CONFINED], check=True)


def throughput(workers: Workers, rounds: int, samples: int) -> None:
    """The same request here and in the worker, in turns, so that both meet the same load of the
    machine.
    """
    import torch

    torch.set_num_threads(1)
    inline = Inline(LoadedCache("cpu"))
    request = _zonnscan("fashion_cnn.safetensors", samples)
    _run(inline, request), _run(workers, request)
    here, there = [], []
    for _ in range(rounds):
        here.append(_run(inline, request).seconds)
        there.append(_run(workers, request).seconds)
    ratio = np.median(np.array(there) / np.array(here))
    print(
        f"throughput: {np.median(here):.2f} s here, {np.median(there):.2f} s in a worker; worker /"
        f" here {ratio:.3f} (median of {rounds})"
    )


def first_picture(workers: Workers, rounds: int) -> None:
    """From pressing Run to the first Step, with the model loaded."""
    waits = []
    for turn in range(rounds):
        execution = Execution(_zonnscan("fashion_cnn.safetensors", 20_000 + turn))
        began = time.perf_counter()
        workers.submit(execution)
        while execution.newest is None and not execution.state.ended:
            workers.work(0.1)
        waits.append(time.perf_counter() - began)
        execution.stop()
        _wait(workers, execution)
    print(
        f"first picture after Run: median {1000 * np.median(waits):.0f} ms, worst"
        f" {1000 * max(waits):.0f} ms"
    )


def stop(workers: Workers, rounds: int) -> None:
    """From Stop to the end of a run that listens."""
    waits = []
    for turn in range(rounds):
        execution = Execution(_zonnscan("fashion_cnn.safetensors", 30_000 + turn))
        workers.submit(execution)
        while execution.newest is None:
            workers.work(0.1)
        began = time.perf_counter()
        execution.stop()
        _wait(workers, execution)
        waits.append(time.perf_counter() - began)
    print(f"Stop: median {1000 * np.median(waits):.0f} ms, worst {1000 * max(waits):.0f} ms")


def sending(workers: Workers) -> None:
    """Work done between Steps of several sizes, here and in the worker, and how many results
    arrive.
    """
    inline = Inline(LoadedCache("cpu"))
    for name, numbers in SIZES.items():
        request = _sized(numbers)
        here, there = Execution(request), Execution(request)
        _wait(inline, here, inline.submit(here))
        results, before = 0, None
        workers.submit(there)
        began = time.process_time()
        while not there.state.ended:
            workers.work(0.1)
            results += there.newest is not before
            before = there.newest
        spent = time.process_time() - began
        cost = 1000 * spent / max(1, results)
        share = there.done / max(1, here.done)
        print(
            f"sending {name}: {results} results in 3 s, {cost:.2f} ms of this process each; work"
            f" done there / here {share:.3f}"
        )


def _zonnscan(model: str, samples: int) -> Request:
    from robgui.core.dataset import open_dataset
    from robgui.core.loading import load

    classifier = load(resources.path("demo", model), device="cpu")
    settings = {
        "samples": samples,
        "target_half_width": 0.0,
        "radii": tuple(np.linspace(0, 0.5, 6)),
    }
    return build_request(
        "zonnscan",
        [classifier],
        open_dataset(resources.path("demo", "fashion.npz")),
        settings,
        indices=[0],
    )


def _sized(numbers: int) -> Request:
    from robgui.core.loading import load

    classifier = load(resources.path("demo", "fashion_mlp.pt2"), device="cpu")
    return build_request("sized", [classifier], None, {"numbers": numbers})


def _run(executor: Inline | Workers, request: Request) -> Execution:
    execution = Execution(request)
    executor.submit(execution)
    return _wait(executor, execution)


def _wait(executor: Inline | Workers, execution: Execution, begun: object = None) -> Execution:
    while not execution.state.ended:
        executor.work(0.1)
    assert not execution.error, execution.error
    return execution


if __name__ == "__main__":
    # as the module that a worker imports, so that both know the same analysis
    from tests.bench.bench_worker import main as whole

    assert Path(resources.path("demo")).exists()
    whole()
