"""Settings of regions: how they grow, how the largest box is found and how each is judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from robgui.analyses.semantic.params import OneSceneParams, Preset, SpaceParams
from robgui.core.execution.params.params import Params

GrowMethod = Literal["naive", "oir_b", "oir_w"]
Mode = Literal["robust", "adversarial"]
RegionMode = Literal["box", "robust", "adversarial"]
Gradient = Literal["auto", "differences", "autograd"]

METHODS: tuple[GrowMethod, ...] = ("naive", "oir_b", "oir_w")
#: Display names of the ways to grow; the paper's names are in the manual and its claims.
METHOD_WORDS: dict[str, str] = {
    "naive": "grow, naive",
    "oir_b": "grow, black-box",
    "oir_w": "grow, with gradients",
    "box": "largest box",
}
#: Short names for small spaces, for example beside the number of a start.
SHORT_WORDS: dict[str, str] = {
    "naive": "naive",
    "oir_b": "black-box",
    "oir_w": "with gradients",
    "box": "box",
}
PAPER_WORDS: dict[str, str] = {"naive": "naive", "oir_b": "OIR_B", "oir_w": "OIR_W"}
#: Section 4.3 of the paper; lengths in the units of the axes.
PAPER: dict[str, Any] = {
    "iterations": 800,
    "eta": 0.1,
    "alpha": 0.05,
    "beta": 0.0009,
    "lam": 0.1,
    "epsilon": 1e-5,
}
#: Number of starts chosen by default, for images with fewer pixels than the second: each start
#: takes thousands of model calls, and on more pixels one call takes a tenth of a second.
_STARTS, _LARGE = 4, 128 * 128


def _batch() -> Any:
    """The batch field of analyses whose bounds round differently in another batch."""
    return Field(
        0,
        ge=0,
        le=1_000_000,
        title="Batch",
        description=(
            "Inputs per model call; 0 lets the program choose. Another batch rounds "
            "differently, which may move a bound by a fraction of a step."
        ),
        json_schema_extra={"zero": "automatic"},
    )


class GrowParams(Params):
    """How regions grow; ``paper`` replaces every setting that is still at its default."""

    batch: int = _batch()
    preset: Preset = Field(
        "default",
        title="Preset",
        description=(
            "paper: the published steps and constants, in the units of the parameters, with corners"
            " only; your own settings win."
        ),
    )
    methods: tuple[GrowMethod, ...] = Field(
        METHODS,
        min_length=1,
        title="Methods",
        description=(
            "naive: the score on the faces. oir_b: grow, black-box, the inside against a frame"
            " around it. oir_w: grow, with gradients, along the slope of the score."
        ),
        json_schema_extra={"means": {**METHOD_WORDS}},
    )
    starts: tuple[tuple[float, ...], ...] = Field(
        (),
        title="Starts",
        description=(
            "Points to grow from, in the order of the varied parameters, such as 120, 30; 200, 45."
            " Empty: chosen by the program."
        ),
        json_schema_extra={"empty": "chosen by the program"},
    )
    start_count: int = Field(
        4, ge=1, le=64, title="Number of starts", description="How many starts the program chooses."
    )
    iterations: int = Field(
        200, ge=1, le=100_000, title="Iterations", description="Most steps; the paper takes 800."
    )
    eta: float = Field(
        0.01,
        gt=0,
        title="Step size (η)",
        description="Largest move of a bound in one step, as a share of its range.",
        json_schema_extra={"rare": True},
    )
    alpha: float = Field(
        0.05,
        gt=0,
        le=1,
        title="Outer margin (α)",
        description="oir_b: how much larger the outer region is.",
        json_schema_extra={"rare": True},
    )
    # Equation 18 needs γ = 2 - β(2n - 1) above 0; checked when n is known.
    beta: float = Field(
        0.05,
        ge=0,
        lt=2,
        title="Gradient weight (β)",
        description="oir_w: weight of the gradient; below 2/(2n − 1).",
        json_schema_extra={"rare": True},
    )
    lam: float = Field(
        0.1,
        ge=0,
        title="Size penalty (λ)",
        description="naive, preset paper only: the penalty on large regions.",
        json_schema_extra={"rare": True},
    )
    epsilon: float = Field(
        0.005,
        gt=0,
        title="First size (ε)",
        description="Regions start this far to each side of their start.",
        json_schema_extra={"rare": True},
    )
    clip: bool = Field(
        True,
        title="Stay in range",
        description=(
            "Regions end where the range of a parameter ends; the authors' own code does not do"
            " this."
        ),
        json_schema_extra={"rare": True},
    )
    gradient: Gradient = Field(
        "auto",
        title="Gradient",
        description=(
            "oir_w: differences of scores, or autograd through the model. auto: what is more"
            " accurate for the scene."
        ),
        json_schema_extra={"rare": True},
    )

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": PAPER}

    @field_validator("methods", mode="before")
    @classmethod
    def _one_method(cls, methods: Any) -> Any:
        if isinstance(methods, str):
            return (methods,)
        return methods

    @field_validator("methods")
    @classmethod
    def _once(cls, methods: tuple[GrowMethod, ...]) -> tuple[GrowMethod, ...]:
        return tuple(dict.fromkeys(methods))


class _BoxOrGrow(Params):
    mode: RegionMode = Field(
        "box",
        title="Find",
        description=(
            "box: the largest box in which, with 95 % confidence, at most the share below loses the"
            " class; methods, samples and step sizes play no part in it. robust: regions that"
            " should keep the class, grown as published. adversarial: regions that lose it."
        ),
        json_schema_extra={
            "means": {
                "box": "largest box",
                "robust": "keeps the class",
                "adversarial": "loses the class",
            }
        },
    )


class _InsideParams(Params):
    most_lost: float = Field(
        0.01,
        gt=0,
        le=1,
        title="Most lost",
        description=(
            "A region holds when, with 95 % confidence, at most this share of the poses inside"
            " loses the class."
        ),
        json_schema_extra={"judges": "share of the poses inside"},
    )
    enough: float = Field(
        0.1,
        ge=0,
        le=1,
        title="Enough",
        description="A region holds only when it fills at least this share of the range.",
        json_schema_extra={"judges": "share of the range"},
    )
    # 0.99^299 < 0.05: with 299 clean poses a share of 1 % is ruled out at 95 %.
    samples: int = Field(
        512,
        ge=256,
        le=1_000_000,
        title="Samples inside",
        description=(
            "Poses drawn in each grown region and looked at; 299 without a failure show a share"
            " below 1 %. A box draws as many as it takes."
        ),
        json_schema_extra={"rare": True},
    )
    eps_m: float = Field(
        0.3,
        ge=0,
        le=1,
        title="Mean allowance",
        description="The paper asks a region for a mean score of at least 1 less this (εm) …",
        json_schema_extra={"rare": True},
    )
    eps_v: float = Field(
        0.1,
        ge=0,
        le=1,
        title="Variance allowance",
        description="… and for a variance of its score of at most this (εv).",
        json_schema_extra={"rare": True},
    )


# The last base comes first in the form.
class RegionsParams(_InsideParams, GrowParams, _BoxOrGrow, SpaceParams, OneSceneParams):
    """Settings of finding regions; the paper's robust regions are its preset."""

    start_count: int = Field(
        0,
        ge=0,
        le=64,
        title="Number of starts",
        description=(
            "How many starts the program chooses; automatic: 4, or 1 on more than 128 × 128 pixels,"
            " where each may take minutes."
        ),
        json_schema_extra={"zero": "automatic"},
    )
    batch: int = _batch()  # Of several bases, the first would give its own.

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {**PAPER, "span": "whole", "mode": "robust", "samples": 256}
    }


def starts_on(params: RegionsParams, shape: tuple[int, ...]) -> int:
    """How many starts are chosen for a network that takes images of this shape."""
    return params.start_count or (1 if math.prod(shape[1:]) > _LARGE else _STARTS)
