"""Settings of the four analyses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, JsonValue, field_validator

from robgui.analyses.zonnscan.zone import EVEN, Sampler, Zone
from robgui.core.execution.params.params import Params

#: What the preset ``paper`` changes among settings left at their defaults (Section III: k =
#: 10,000).
PAPER: dict[str, Any] = {"samples": 10_000, "sampler": "plain", "target_half_width": 0.0}
#: Its sweeps go from 0 to 1 in even steps, whatever the input (Figure 2).
PAPER_SWEEP: dict[str, Any] = {**PAPER, "radii": EVEN}
#: Test inputs of Figure 4; Figure 3 has 500.
PAPER_INPUTS = 1000
#: Section III-D: keys of 100 inputs, 100 runs of 1,000 samples each.
PAPER_WATERMARK: dict[str, Any] = {"size": 100, "runs": 100, "samples": 1000}
_SAMPLERS: dict[str, JsonValue] = {"sobol": "even", "antithetic": "mirrored", "plain": "random"}
_SAMPLER_HELP = (
    "How samples are spread: sobol is even and surest for its cost, plain is the paper's,"
    " antithetic (mirrored pairs) stands between them."
)


class ZonnscanParams(Params):
    """Settings of a sweep; ``paper`` replaces every setting that is still at its default."""

    preset: Literal["default", "paper"] = Field(
        "default",
        title="Preset",
        description=(
            "paper: plain sampling, 10,000 samples, no early stop, as published; your own settings"
            " win."
        ),
    )
    radii: tuple[float, ...] = Field(
        (),
        title="Radii",
        description=(
            "Sizes of the zone around the input, values being from 0 to 1; 0 is the input itself, 1"
            " in linf the whole input space. Empty: a few from 0 to the largest that the zone can"
            " have, then others where the curve bends."
        ),
        json_schema_extra={"empty": "fitted to the curve"},
    )
    added: int = Field(
        12,
        ge=0,
        le=200,
        title="Radii added",
        description=(
            "Most radii that are added where the curve bends. Radii of your own stay as they are."
            " 0 adds none and takes about 20 in fixed steps."
        ),
        json_schema_extra={"zero": "none", "rare": True},
    )
    samples: int = Field(
        1024, ge=1, le=1_000_000, title="Samples", description="Most samples per radius."
    )
    sampler: Sampler = Field(
        "sobol",
        title="Sampler",
        description=_SAMPLER_HELP,
        json_schema_extra={"means": _SAMPLERS},
    )
    zone: Zone = Field(
        "linf",
        title="Zone",
        description=(
            "linf: each value changes by at most the radius. box: give two inputs, its corners; the"
            " radius shrinks it. l2, l1: balls of these norms within the cube (slower; radii up to"
            " the root of the number of values, or that number). clipped: the whole ball, then cut"
            " off at 0 and 1, which piles samples up there."
        ),
        json_schema_extra={
            "means": {"linf": "each value", "l2": "distance", "l1": "sum of changes"}
        },
    )
    hold_radius: float = Field(
        0.0,
        ge=0,
        title="Class should hold up to radius",
        description=(
            "A change of class within this radius is a failure; 0 takes a tenth of the "
            "largest radius the zone can have (0.1 where each value changes by itself)."
        ),
        json_schema_extra={"zero": "a tenth of the largest", "judges": "radius"},
    )
    risk_factor: float = Field(
        3.0,
        ge=1,
        le=1000,
        title="At risk up to",
        description="A change of class within this multiple of that radius is a risk.",
        json_schema_extra={"rare": True, "judges": "times that radius"},
    )
    target_half_width: float = Field(
        0.005,
        ge=0,
        le=0.5,
        title="Stop when the band is within ±",
        description=(
            "A radius stops when its 95 % interval is this close to the uncertainty; 0 never stops"
            " early."
        ),
        json_schema_extra={"zero": "never"},
    )
    target_share: float = Field(
        0.01,
        ge=0,
        le=0.5,
        title="… and the share of changes within ±",
        description=(
            "A radius stops only when the 95 % interval of the share of samples that change class"
            " is this narrow too (or a fifth of that share, if larger); 0 does not watch it."
        ),
        json_schema_extra={"zero": "not watched", "rare": True},
    )

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": PAPER_SWEEP}

    @field_validator("radii")
    @classmethod
    def _in_order(cls, radii: tuple[float, ...]) -> tuple[float, ...]:
        if len(radii) > 1000:
            raise ValueError("give at most 1,000 radii")
        if radii and min(radii) < 0:
            raise ValueError(f"a radius must not be negative, as {min(radii):g} is")
        return tuple(sorted(set(radii)))


class Published(Params):
    """The preset: ``paper`` replaces every setting that is still at its default."""

    preset: Literal["default", "paper"] = Field(
        "default",
        title="Preset",
        description=(
            "paper: plain sampling, 10,000 samples, 1,000 inputs, no early stop, as published; your"
            " own settings win."
        ),
    )


class ScanParams(Params):
    """Settings of every scan of many inputs."""

    formerly: ClassVar[Mapping[str, str]] = {"inputs": "most"}

    most: int = Field(
        200,
        ge=0,
        le=1_000_000,
        title="Inputs",
        description="Most inputs of each set, chosen at random by the seed; 0 takes all.",
        json_schema_extra={"zero": "all"},
    )
    # Sections III-B and III-C compare their sets at r = 0.025.
    radius: float = Field(
        0.025, gt=0, title="Radius", description="Size of the zone around every input."
    )
    samples: int = Field(
        256, ge=2, le=1_000_000, title="Samples", description="Most samples per input."
    )
    sampler: Sampler = Field(
        "sobol",
        title="Sampler",
        description="How samples are spread in the zone.",
        json_schema_extra={"means": _SAMPLERS},
    )
    target_half_width: float = Field(
        0.02,
        ge=0,
        le=0.5,
        title="Stop when the band is within ±",
        description=(
            "An input stops when its 95 % interval is this close to its uncertainty; 0 never stops"
            " early."
        ),
        json_schema_extra={"zero": "never"},
    )

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": {**PAPER, "most": PAPER_INPUTS}}


class _SetsParams(Params):
    """Which two sets are compared."""

    against: Literal["adversarial", "rest"] = Field(
        "adversarial",
        title="Against",
        description=(
            "adversarial: attacked copies of the same inputs. rest: the inputs after those of the"
            " first set."
        ),
    )
    first: int = Field(
        0,
        ge=0,
        le=1_000_000_000,
        title="First set",
        description="With rest: how many inputs belong to the first set; 0 means half of them.",
        json_schema_extra={"zero": "half"},
    )
    eps: float = Field(
        0.1,
        ge=0,
        le=1,
        title="Attack size",
        description="How far the attack moves every value, 0 to 1.",
    )


# The last base comes first in the form.
class PopulationsParams(ScanParams, _SetsParams, Published):
    """Settings of a comparison."""


class _LookParams(Params):
    look_at: int = Field(
        2000,
        ge=0,
        le=1_000_000_000,
        title="Look at",
        description="Most inputs to look at, chosen at random by the seed; 0 looks at all.",
        json_schema_extra={"zero": "all"},
    )


class CornerCasesParams(ScanParams, _LookParams, Published):
    """Settings of a search for corner cases."""

    most: int = Field(
        100,
        ge=0,
        le=1_000_000,
        title="Compared",
        description="Most corner cases whose uncertainty is measured; 0 measures all.",
        json_schema_extra={"zero": "all"},
    )


class WatermarkParams(Params):
    """Settings of a check; ``paper`` replaces every setting that is still at its default."""

    formerly: ClassVar[Mapping[str, str]] = {"inputs": "most"}

    preset: Literal["default", "paper"] = Field(
        "default",
        title="Preset",
        description=(
            "paper: 100 key inputs, 100 runs, 1,000 samples, as published; your own settings win."
        ),
    )
    mode: Literal["make", "compare"] = Field(
        "make",
        title="Mode",
        description=(
            "make: mark a copy of the model and compare the two. compare: compare the first two"
            " models, making nothing."
        ),
    )
    size: int = Field(
        40,
        ge=2,
        le=10_000,
        title="Key inputs",
        description="Size of the key; with compare, how many inputs are compared.",
    )
    most: int = Field(
        500,
        ge=0,
        le=1_000_000,
        title="Inputs",
        description="Most inputs the key is made from, chosen at random; 0 takes all.",
        json_schema_extra={"zero": "all"},
    )
    eps: float = Field(
        0.1,
        ge=0,
        le=1,
        title="Attack size",
        description="How far the key inputs are moved towards the boundary, 0 to 1.",
    )
    rounds: int = Field(
        200, ge=1, le=100_000, title="Rounds", description="Most steps of fine-tuning."
    )
    rate: float = Field(
        0.001, gt=0, le=1, title="Learning rate", description="Size of these steps."
    )
    runs: int = Field(
        5,
        ge=1,
        le=10_000,
        title="Runs",
        description="How often the uncertainty around each key input is measured.",
    )
    samples: int = Field(
        64, ge=2, le=1_000_000, title="Samples", description="Samples per run and input."
    )
    radius: float = Field(
        0.025, gt=0, title="Radius", description="Size of the zone around every key input."
    )

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": PAPER_WATERMARK}
