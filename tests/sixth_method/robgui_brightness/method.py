"""The record, the settings, what a result says and what it looks like.

The engine is imported when it runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from robgui.core.execution.analysis import Analysis, Params, deferred
from robgui.core.execution.method import Method
from robgui.core.finding import Finding
from robgui.core.text.words import number
from robgui.core.verdict import Quantity, Status, Verdict
from robgui.core.view import Axis, Curves, Ink, Line, Mark, View


class BrightnessParams(Params):
    """Settings."""

    reach: float = Field(
        0.5, gt=0, le=1, title="Largest shift", description="How far every value is moved at most."
    )
    steps: int = Field(
        41,
        ge=3,
        le=10_001,
        title="Steps",
        description="Shifts that are tried, evenly from darkest to brightest.",
    )
    near: float = Field(
        0.1,
        gt=0,
        le=1,
        title="Near",
        description="A change of class within this shift is a failure, a larger one a risk.",
        json_schema_extra={"judges": "shift"},
    )


@dataclass(frozen=True, slots=True)
class BrightnessResult:
    """Shifts ``(n,)``, and for those tried so far the class and the confidence in the class of
    the input; else -1 and nan.
    """

    shift: np.ndarray
    seen: np.ndarray
    confidence: np.ndarray
    input: np.ndarray
    predicted: int
    labels: tuple[str, ...]
    model_calls: int


def nearest(result: BrightnessResult) -> float:
    """The smallest shift that changes the class; nan without any."""
    changed = np.abs(result.shift[(result.seen >= 0) & (result.seen != result.predicted)])
    return float(changed.min()) if len(changed) else float("nan")


def verdict(result: BrightnessResult, params: BrightnessParams) -> Verdict:
    """How far the class holds."""
    near, tried = nearest(result), int((result.seen >= 0).sum())
    name = result.labels[result.predicted]
    scope = f"{tried} of {len(result.shift)} shifts tried, {result.model_calls} model calls."
    if np.isnan(near):
        sentence = f"“{name}” survives every shift tried, up to {number(params.reach)}."
        status = Status.HOLDS if tried == len(result.shift) else Status.UNKNOWN
        return Verdict(
            status,
            sentence,
            Quantity("Smallest shift", near, better="high", text="none found"),
            scope,
        )
    status = Status.FAILS if near <= params.near else Status.AT_RISK
    sentence = f"“{name}” changes class at a shift of {number(near)}."
    because = (f"A change within {number(params.near)} counts as a failure.",)
    return Verdict(
        status, sentence, Quantity("Smallest shift", near, better="high"), scope, because
    )


def views(result: BrightnessResult, params: BrightnessParams) -> Sequence[View]:
    """Confidence over the shift."""
    name = result.labels[result.predicted]
    line = Line(f"confidence in {name}", result.confidence, Ink("class", name=name), strong=True)
    near = nearest(result)
    marks = (
        ()
        if np.isnan(near)
        else (Mark(near, "class changes", Ink("fails")), Mark(-near, "", Ink("fails")))
    )
    x, y = (
        Axis("shift of every value"),
        Axis("confidence", kind="share", low=0, high=1, better="high"),
    )
    return (Curves("Confidence under brightness", x, y, result.shift, (line,), marks),)


def findings(result: BrightnessResult, params: BrightnessParams) -> list[Finding]:
    """The input, when its class changes near by."""
    near = nearest(result)
    if np.isnan(near) or near > params.near:
        return []
    at = int(np.flatnonzero((result.seen != result.predicted) & (np.abs(result.shift) == near))[0])
    own, other = result.labels[result.predicted], result.labels[int(result.seen[at])]
    title = f"“{own}” becomes “{other}” at a shift of {number(near)}"
    detail = {"class": own, "other_class": other, "shift": near}
    severity = 1 - near / params.near / 2
    return [Finding("brightness", title, severity, detail, None, result.input)]


METHOD = Method(
    name="brightness",
    title="Brightness",
    question="How much light can it take?",
    folder=Path(__file__).parent,
    analyses=(
        Analysis(
            name="brightness",
            title="Brightness",
            question="How much brighter or darker may the input become before its class changes?",
            engine=deferred("robgui_brightness.engine:brightness"),
            params=BrightnessParams,
            result=BrightnessResult,
            verdict=verdict,
            views=views,
            findings=findings,
            severity_means="1 for no shift at all, a half at the shift that counts as near.",
            first_look={"steps": 11},
            invitation="How much light can this input take? Choose an input and press Run.",
            explanation=(
                "The curve is the model's confidence while every value of the input is moved up or"
                " down."
            ),
        ),
    ),
)
