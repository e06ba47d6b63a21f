"""Settings of the three DeepInspect analyses; each has its default from the paper."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from robgui.core.execution.params.params import Params

Norm = Literal["paper", "rms"]
Filter = Literal["low", "paper", "none"]


class InspectParams(Params):
    """What all DeepInspect analyses share: which neurons are looked at, and what is reported."""

    last_layer: bool = Field(
        False,
        title="Last layer too",
        description=(
            "Whether the outputs of the last layer count as neurons; the paper leaves them out."
        ),
    )
    norm: Norm = Field(
        "paper",
        title="Distance",
        description=(
            "paper: Euclidean distance of two classes' activation probabilities. "
            "rms: divided by the root of the number of neurons that either class ever activates."
        ),
    )
    bias_filter: Filter = Field(
        "low",
        title="Third classes",
        description=(
            "Which third classes count for bias. low: those nearer to one of the two than mean - 1"
            " std; paper: than mean + 1 std; none: all."
        ),
    )
    # One standard deviation and the top 1 %, the two cut-offs of the paper's Tables 3 and 4.
    cutoff: float = Field(
        1.0,
        ge=0,
        le=10,
        title="Cut-off",
        description="Standard deviations beyond the mean from which a pair is reported.",
    )
    top_percent: float = Field(
        1.0,
        gt=0,
        le=100,
        title="Top per cent",
        description="The second list: this share of all pairs, at least one.",
    )


class DeepInspectParams(InspectParams):
    """Settings of ``deepinspect``."""

    # Th = 0.5 in all of the paper's experiments (end of Section 3.3); Section 7 finds
    # accuracy stable from 0.4 to 0.75.
    threshold: float = Field(
        0.5,
        ge=0,
        lt=1,
        title="Activation threshold",
        description=(
            "A neuron is active when its output, scaled to 0 … 1 within its layer, is above this;"
            " stable from 0.4 to 0.75."
        ),
    )
    confirm: int = Field(
        0,
        ge=0,
        le=100,
        title="Pairs to confirm",
        description=(
            "Reported pairs that the feature game puts to the test: how few pixels"
            " turn an input of one class into the other; 0: none. Two games of 1,000 calls a pair."
        ),
        json_schema_extra={"zero": "none"},
    )
    # The same limit as Accuracy's ``least``: a class that holds there must not fail here.
    most_wrong: float = Field(
        0.1,
        ge=0,
        lt=1,
        title="Most wrong",
        description=(
            "A class fails when, 95 % sure, more than this share of its labelled inputs is wrong."
        ),
        json_schema_extra={"judges": "share of the inputs of a class"},
    )


class ThresholdsParams(InspectParams):
    """Settings of ``deepinspect_thresholds``."""

    # The five thresholds of the paper's Tables 5 and 6.
    thresholds: tuple[float, ...] = Field(
        (0.25, 0.4, 0.5, 0.6, 0.75),
        title="Activation thresholds",
        description="All are tried in one pass; at least 0 and below 1.",
    )
    stable: float = Field(
        0.5,
        ge=0,
        le=1,
        title="Stable",
        description="The pairs are stable where at least this share of them stays the same.",
        json_schema_extra={"rare": True, "judges": "share of the pairs"},
    )

    @field_validator("thresholds")
    @classmethod
    def _in_order(cls, thresholds: tuple[float, ...]) -> tuple[float, ...]:
        if not 0 < len(thresholds) <= 50:
            raise ValueError("give between 1 and 50 thresholds")
        if min(thresholds) < 0 or max(thresholds) >= 1:
            raise ValueError("every threshold must be at least 0 and below 1")
        return tuple(sorted(set(thresholds)))


class CoverageParams(Params):
    """Settings of ``deepinspect_coverage``."""

    threshold: float = Field(
        0.5,
        ge=0,
        lt=1,
        title="Activation threshold",
        description="A neuron is covered by an input when its scaled output is above this.",
    )
    # Section 5, setting 3: k = 100, since k = 1000 as in DeepGauge showed the same; top k = 1.
    sections: int = Field(
        100,
        ge=1,
        le=1000,
        title="Sections",
        description="Parts into which the range of each neuron is cut (k-multisection coverage).",
    )
    top: int = Field(
        1,
        ge=1,
        le=100,
        title="Top neurons",
        description="Most active neurons of each layer that count (top-k coverage).",
    )
    profile_percent: float = Field(
        50.0,
        gt=0,
        lt=100,
        title="Profile",
        description=(
            "Per cent of all inputs that tell a neuron's usual range; the others are held against"
            " it."
        ),
    )
    last_layer: bool = Field(
        False,
        title="Last layer too",
        description="Whether the outputs of the last layer count as neurons.",
    )
