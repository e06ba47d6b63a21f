"""Settings of the scans of many inputs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from robgui.analyses.presets import with_preset
from robgui.analyses.zonnscan.points import Sampler
from robgui.analyses.zonnscan.sweep import PAPER
from robgui.core.execution.analysis import Params

#: The paper looks at so many test inputs (Figures 3 and 4).
PAPER_INPUTS = 1000


class Published(Params):
    """The preset: ``paper`` replaces every setting that is still at its default."""

    preset: Literal["default", "paper"] = Field(
        "default",
        title="Preset",
        description="paper: plain sampling, 10,000 samples, 1,000 inputs, no early stop, as published; your own settings win.",
    )


class ScanParams(Params):
    """Settings of every scan of many inputs."""

    inputs: int = Field(
        200,
        ge=0,
        le=1_000_000,
        title="Inputs",
        description="At most so many inputs of each set, chosen at random by the seed; 0 takes all.",
        json_schema_extra={"zero": "all"},
    )
    radius: float = Field(0.025, gt=0, title="Radius", description="Size of the zone around every input.")
    samples: int = Field(256, ge=2, le=1_000_000, title="Samples", description="Most samples per input.")
    sampler: Sampler = Field("sobol", title="Sampler", description="How samples are spread in the zone.")
    target_half_width: float = Field(
        0.01,
        ge=0,
        le=0.5,
        title="Stop when the band is within ±",
        description="An input stops when its 95 % interval is this close to its index; 0 never stops early.",
        json_schema_extra={"zero": "never"},
    )

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, values: Any) -> Any:
        return with_preset(cls, values, {"paper": {**PAPER, "inputs": PAPER_INPUTS}})


class _SetsParams(Params):
    """Which two sets are compared."""

    against: Literal["adversarial", "rest"] = Field(
        "adversarial", title="Against", description="adversarial: the twins of the same inputs. rest: the inputs after the first so many."
    )
    first: int = Field(
        0,
        ge=0,
        le=1_000_000_000,
        title="First set",
        description="With rest: how many inputs belong to the first set; 0 means half of them.",
        json_schema_extra={"zero": "half"},
    )
    eps: float = Field(0.1, ge=0, le=1, title="Attack size", description="How far the attack moves every value, 0 to 1.")


# The last base comes first in the form.
class PopulationsParams(ScanParams, _SetsParams, Published):
    """Settings of a comparison."""
