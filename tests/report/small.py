"""An analysis small enough for tests of the report: it says what its settings tell it to say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field

from robgui.core.dataset import Dataset, from_arrays
from robgui.core.errors import ModelError
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.params.params import Params
from robgui.core.execution.request import build_request
from robgui.core.execution.run import Run
from robgui.core.execution.step import Step
from robgui.core.finding import Finding
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Quantity, Status, Verdict
from robgui.core.view import Axis, Curves, Ink, Line, Table, View
from robgui.core.view.parts import Column
from robgui.core.workspace import Workspace
from tests.inline import steps

EVIL = "<script>alert('1')</script>&\""


class SmallParams(Params):
    """What the result is to say."""

    says: Literal["fails", "at risk", "unknown", "holds"] = Field(
        "holds", title="Says", description="The status of the verdict."
    )
    broken: Literal["", "views", "engine"] = Field("", title="Broken", description="What raises.")


@dataclass(frozen=True, slots=True)
class SmallResult:
    """Mean confidence of each model."""

    confidence: np.ndarray
    labels: tuple[str, ...]


def verdict(result: SmallResult, params: SmallParams) -> Verdict:
    each = tuple(
        _says(params, f"Model {place} is sure.", float(value))
        for place, value in enumerate(result.confidence)
    )
    whole = _says(
        params, f"It is {params.says}, says “{result.labels[0]}”.", float(result.confidence.mean())
    )
    return Verdict(whole.status, whole.sentence, whole.number, whole.scope, whole.because, each)


def _says(params: SmallParams, sentence: str, value: float) -> Verdict:
    number = Quantity("Confidence", value, better="high")
    return Verdict(
        Status(params.says),
        sentence,
        number,
        "Every input.",
        ("It was told so.", "It cost nothing."),
    )


def views(result: SmallResult, params: SmallParams) -> list[View]:
    if params.broken == "views":
        raise ZeroDivisionError("no picture")
    at = np.arange(len(result.confidence), dtype=float)
    y = Axis("confidence", kind="share", low=0, high=1)
    curve = Curves(
        "Confidence",
        Axis("model"),
        y,
        at,
        (Line(result.labels[0], result.confidence, Ink("class")),),
    )
    return [curve, Table("Classes", (Column("Class", result.labels),))]


def findings(result: SmallResult, params: SmallParams) -> list[Finding]:
    if params.says != "fails":
        return []
    picture = np.full((8, 8, 3), 90, np.uint8)
    return [
        Finding(
            "unsure", f"{result.labels[0]} is unsure", 0.8, {}, picture, np.zeros(4, np.float32)
        )
    ]


def engine(
    classifiers: tuple[Classifier, ...], dataset: Any, params: SmallParams
) -> Iterator[Step[SmallResult]]:
    if params.broken == "engine":
        raise MemoryError("out of memory")
    x = dataset.array(None, classifiers[0].shape)
    sure = np.array([float(one.probs(x).amax(1).mean()) for one in classifiers])
    yield Step(1, 1, SmallResult(sure, tuple(classifiers[0].labels)))


SMALL = Analysis(
    name="small_report",
    title="Small check",
    question="What is it told to say?",
    engine=engine,
    params=SmallParams,
    result=SmallResult,
    verdict=verdict,
    views=views,
    findings=findings,
    several_models=True,
    inputs="many",
)


def model(
    name: str = "net", seed: int = 0, labels: tuple[str, ...] = ("cat", "dog", "cow")
) -> Classifier:
    torch.manual_seed(seed)
    return Classifier.from_module(torch.nn.Linear(4, len(labels)), (4,), labels=labels, name=name)


def data(name: str = "numbers") -> Dataset:
    return from_arrays(np.random.default_rng(0).random((3, 4), np.float32), name=name, kind="table")


def run(
    workspace: Workspace,
    models: list[Classifier] | None = None,
    dataset: Dataset | None = None,
    **params: Any,
) -> Run:
    """Runs the small check and returns its record; one that raises is a failed run."""
    models, dataset = models or [model()], dataset or data()
    going = steps(
        build_request("small_report", models, dataset, params), workspace, models, dataset
    )
    try:
        for _ in going:
            pass
    except ModelError:  # the sentence for memory that runs out
        pass
    return workspace.run(str(going.execution.run_id))
