"""A small analysis with a view of every kind, for the tests of what shows any analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from robgui.core.execution.analysis import Analysis
from robgui.core.execution.params.params import Params
from robgui.core.execution.step import Step
from robgui.core.offer import Offer
from robgui.core.verdict import Quantity, Status, Verdict
from robgui.core.view import Images, Picture
from tests.gui import sample_views as samples


@dataclass(frozen=True)
class SampledResult:
    """How much of the work is done, and a picture."""

    share: float
    picture: np.ndarray


class SampledParams(Params):
    """Settings."""

    steps: int = Field(3, ge=1, title="Steps", description="How many Steps there are.")
    height: float = Field(
        1.0, title="Height", description="How high the curve of the last Step is."
    )


def engine(classifier, dataset, params: SampledParams) -> Iterator[Step[SampledResult]]:
    for done in range(1, params.steps + 1):
        share = params.height * done / params.steps
        yield Step(done, params.steps, SampledResult(share, np.full((8, 8, 3), 9, np.uint8)))


def verdict(result: SampledResult, params: SampledParams) -> Verdict:
    status = Status.HOLDS if result.share == 1 else Status.AT_RISK
    number = Quantity("Share", result.share, better="high")
    reasons = tuple(f"Reason {i} is as good as any other." for i in range(20))
    because = ("<b>Nothing</b> was found against it.", *reasons)
    return Verdict(
        status, f"All is <i>well</i> at {result.share:.2f}.", number, "On 2 inputs.", because
    )


def views(result: SampledResult, params: SampledParams):
    pictures = (Picture(result.picture, "the second"), Picture(result.picture, "another"))
    every = [view for name, view in samples.ALL.items() if name not in ("curves", "images")]
    return samples.curves(result.share), *every, Images("Inputs on offer", pictures)


def offers(result: SampledResult, params: SampledParams):
    return (Offer("Both", ("the first", "the second"), places=(0, 1)),)


SAMPLED = Analysis(
    name="sampled_views",
    title="Sampled <b>views</b>",
    question="Is all well?",
    engine=engine,
    params=SampledParams,
    result=SampledResult,
    verdict=verdict,
    views=views,
    offers=offers,
    inputs="many",
    invitation="Press Run & see.",
    explanation="A curve.",
    first_look={"steps": 2},
)
