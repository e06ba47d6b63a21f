"""Runs the jobs on a device and on the processor, as an execution would, and compares."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from robgui.core.dataset import Dataset, open_dataset
from robgui.core.devices import hardware_of
from robgui.core.errors import sentence
from robgui.core.execution.execution import Execution
from robgui.core.execution.inline import Steps
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.registry import find
from robgui.core.execution.request import build_request
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.core.model.guessing import random_inputs
from robgui.core.verdict import Quantity
from robgui.resources import path
from robgui.selftest.differences import difference
from robgui.selftest.jobs import JOBS, Job

#: Numbers this close are equal up to rounding.
SAME = 1e-3
#: Largest relative difference between two runs with other random numbers.
_NEAR = 0.25
#: Seconds for which the bare model is timed.
_BARE_SECONDS = 0.1

Outcome = Literal["same numbers", "same verdict", "DIFFERS", "FAILED"]


@dataclass(frozen=True, slots=True)
class Proof:
    """One analysis on the device beside the processor.

    Attributes:
        title: Which analysis.
        outcome: Whether the numbers, or at least the verdict, are the same.
        difference: The largest between two numbers of the results.
        seconds: Time on the device.
        host_seconds: Time on the processor.
        forward: Time on the device in times of what the bare model needs for as many inputs.
        calls: Inputs that the model has seen.
        peak: Most bytes of the device that were in use; None if that is not known.
        error: What went wrong.
    """

    title: str
    outcome: Outcome
    difference: float = math.nan
    seconds: float = math.nan
    host_seconds: float = math.nan
    forward: float = math.nan
    calls: int = 0
    peak: int | None = None
    error: str = ""


class DemoBench:
    """The models and data of the demo on one device, each loaded once."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.models: dict[str, Classifier] = {}
        self._data: dict[str, Dataset] = {}
        self._bare: dict[str, float] = {}

    def execution(self, job: Job) -> tuple[Execution, LoadedCache]:
        """The job as the command line would ask for it, and where its models are."""
        models = [self.model(name) for name in job.models]
        if job.data not in self._data:
            self._data[job.data] = open_dataset(path("demo", job.data))
        data = self._data[job.data]
        request = build_request(
            job.analysis,
            models,
            data,
            dict(job.params),
            indices=list(job.indices),
            device=str(self.device),
        )
        return Execution(request), LoadedCache(models=models, datasets=[data])

    def run(self, job: Job) -> Execution:
        """The job from start to end; raises what goes wrong."""
        execution, shelf = self.execution(job)
        for _ in Steps(execution, shelf):
            continue
        hardware_of(self.device).finish(self.device)
        return execution

    def bare(self, job: Job) -> float:
        """Seconds that the first model of a job needs for one input, many at a time."""
        name = job.models[0]
        if name not in self._bare:
            self._bare[name] = _bare(self.model(name))
        return self._bare[name]

    def model(self, name: str) -> Classifier:
        """A model of the demo by its file name."""
        if name not in self.models:
            self.models[name] = load(path("demo", name), device=self.device)
        return self.models[name]


def prove(device: torch.device, jobs: Sequence[Job] = JOBS) -> Iterator[Proof]:
    """One proof for each job as soon as it is there."""
    there, here = DemoBench(device), DemoBench(torch.device("cpu"))
    for job in jobs:
        yield _proof(job, there, here)


def _proof(job: Job, there: DemoBench, here: DemoBench) -> Proof:
    title = find(job.analysis).title
    hardware = hardware_of(there.device)
    try:
        theirs = here.run(job)
        bare = there.bare(job)
        hardware.peak(there.device, anew=True)
        ours = there.run(job)
    except Exception as error:  # noqa: BLE001 - what fails on this device is what is asked for
        return Proof(title, "FAILED", error=sentence(error))
    assert ours.newest is not None and theirs.newest is not None
    apart = difference(theirs.newest.result, ours.newest.result)
    return Proof(
        title,
        _outcome(apart, ours, theirs),
        apart,
        ours.seconds,
        theirs.seconds,
        ours.seconds / max(1e-9, bare * ours.calls),
        ours.calls,
        hardware.peak(there.device),
    )


def _outcome(apart: float, ours: Execution, theirs: Execution) -> Outcome:
    if apart <= SAME:
        return "same numbers"
    one, other = ours.verdict, theirs.verdict
    if one is None or other is None or one.status is not other.status:
        return "DIFFERS"
    if _agree(one.number, other.number):
        return "same verdict"
    return "DIFFERS"


def _agree(one: Quantity | None, other: Quantity | None) -> bool:
    """Whether two numbers may be one: their intervals meet, or they are near to each other."""
    if one is None or other is None or math.isnan(one.value) or math.isnan(other.value):
        return (one is None or math.isnan(one.value)) == (other is None or math.isnan(other.value))
    if one.low <= other.high and other.low <= one.high:
        return True
    return abs(one.value - other.value) <= _NEAR * max(abs(one.value), abs(other.value))


def _bare(classifier: Classifier) -> float:
    x: Any = classifier.tensor(random_inputs(classifier.shape))
    x = x.repeat(-(-64 // len(x)), *[1] * (x.ndim - 1))
    hardware = hardware_of(classifier.device)
    classifier.infer(x)  # The first call of a model is slower than the others.
    hardware.finish(classifier.device)
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < _BARE_SECONDS:
        classifier.infer(x)
        done += len(x)
    hardware.finish(classifier.device)
    return (time.perf_counter() - began) / done
