"""Settings of semantic maps, regions and the safe share of the range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from robgui.core.execution.analysis import Params, Takes

GrowMethod = Literal["naive", "oir_b", "oir_w"]
Mode = Literal["robust", "adversarial"]
RegionMode = Literal["box", "robust", "adversarial"]
Gradient = Literal["auto", "differences", "autograd"]
Preset = Literal["default", "paper"]

METHODS: tuple[GrowMethod, ...] = ("naive", "oir_b", "oir_w")
#: What the program calls the ways to grow; the paper's names stand in the manual and its claims.
METHOD_WORDS: dict[str, str] = {
    "naive": "grow, naive",
    "oir_b": "grow, black-box",
    "oir_w": "grow, with gradients",
    "box": "largest box",
}
#: The same where there is little room, such as beside the number of a start.
SHORT_WORDS: dict[str, str] = {
    "naive": "naive",
    "oir_b": "black-box",
    "oir_w": "with gradients",
    "box": "box",
}
PAPER_WORDS: dict[str, str] = {"naive": "naive", "oir_b": "OIR_B", "oir_w": "OIR_W"}
#: The scene that transforms the chosen input; every other name is a mesh.
IMAGE = "image"
#: More axes would need more than a thousand nodes for each region and step.
MOST_AXES = 6
#: Section 4.3 of the paper; lengths in the units of the axes.
PAPER: dict[str, Any] = {
    "iterations": 800,
    "eta": 0.1,
    "alpha": 0.05,
    "beta": 0.0009,
    "lam": 0.1,
    "epsilon": 1e-5,
}


def _batch() -> Any:
    """The field of analyses whose bounds follow directions that another batch rounds otherwise."""
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


class SpaceParams(Params):
    """Which scene is looked at, along which of its parameters, for which class."""

    axes: tuple[str, ...] = Field(
        (),
        title="Vary",
        description=(
            "Names of the parameters that vary, the horizontal one first; empty: azimuth and"
            " elevation of a mesh, rotation and scale of an image."
        ),
        json_schema_extra={"empty": "the usual two"},
    )
    span: Literal["usual", "whole"] = Field(
        "usual",
        title="Range",
        description=(
            "usual: where a class has a chance, rotation from -45° to 45° and scale from 70 to"
            " 130 % for an image, the whole range of everything else. whole: whole ranges."
        ),
    )
    ranges: dict[str, tuple[float, float]] = Field(
        {},
        title="Ranges",
        description=(
            "From where to where a parameter varies, such as azimuth=0:180; others take the range"
            " above."
        ),
        json_schema_extra={"rare": True, "empty": "as above"},
    )
    fixed: dict[str, float] = Field(
        {},
        title="Fixed at",
        description=(
            "Where parameters stand that do not vary, such as elevation=35; others stand at their"
            " usual value."
        ),
        json_schema_extra={"empty": "usual values"},
    )
    target: str = Field(
        "",
        title="Class",
        description=(
            "Name or number of the class whose score is looked at; empty: the class predicted for"
            " the image; for a mesh the class of its name, or the one it is most often taken for."
        ),
        json_schema_extra={"empty": "predicted class"},
    )

    up: Literal["auto", "y", "z"] = Field(
        "auto",
        title="Up in the mesh",
        description=(
            "Which axis of a mesh file points up; auto: y in OBJ and glTF files, z in the others."
        ),
        json_schema_extra={"rare": True},
    )

    @field_validator("target", mode="before")
    @classmethod
    def _as_text(cls, target: Any) -> Any:
        if target is None:
            return ""
        return str(target) if isinstance(target, int) else target

    @field_validator("axes", mode="before")
    @classmethod
    def _one_axis(cls, axes: Any) -> Any:
        return (axes,) if isinstance(axes, str) else axes

    @field_validator("axes")
    @classmethod
    def _differ(cls, axes: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(axes)) < len(axes):
            raise ValueError("each parameter can be named once only")
        if len(axes) > MOST_AXES:
            raise ValueError(f"at most {MOST_AXES} parameters can vary at once")
        return axes

    @field_validator("ranges")
    @classmethod
    def _rising(cls, ranges: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
        for name, (low, high) in ranges.items():
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise ValueError(
                    f"the range of {name} must go from a smaller to a larger number, not from"
                    f" {low:g} to {high:g}"
                )
        return ranges


class OneSceneParams(Params):
    """The one scene that is looked at."""

    scene: str = Field(
        IMAGE,
        min_length=1,
        title="Scene",
        description=(
            "image: the chosen input, turned, scaled, shifted, … Otherwise the name of a bundled"
            " mesh or the path of a mesh file."
        ),
    )

    @property
    def scenes(self) -> tuple[str, ...]:
        """The one scene."""
        return (self.scene,)


class _SeveralScenes(Params):
    scene: tuple[str, ...] = Field(
        (IMAGE,),
        min_length=1,
        title="Scenes",
        description=(
            "image: each chosen input, turned, scaled, shifted, … Otherwise names of bundled meshes"
            " or paths of mesh files."
        ),
    )

    @field_validator("scene", mode="before")
    @classmethod
    def _one(cls, scene: Any) -> Any:
        return (scene,) if isinstance(scene, str) else scene

    @property
    def scenes(self) -> tuple[str, ...]:
        """Every scene."""
        return self.scene


class MapParams(SpaceParams, _SeveralScenes):
    """Settings of a semantic map."""

    preset: Preset = Field(
        "default",
        title="Preset",
        description=(
            "paper: whole ranges, a grid of 3 degrees whatever the range, as published; default:"
            " also finer on short ranges."
        ),
    )
    step: dict[str, float] = Field(
        {},
        title="Grid step",
        description=(
            "Distance of the cells, such as azimuth=3, elevation=3; otherwise 3 degrees, or a 32nd"
            " of the range if finer."
        ),
        json_schema_extra={"empty": "automatic"},
    )
    cells: Literal["all", "borders"] = Field(
        "all",
        title="Cells",
        description=(
            "all: every cell of the grid. borders: cells along the border of the class, about a"
            " quarter of them; the rest shows coarser ones, and what is smaller than four cells"
            " may be missed."
        ),
        json_schema_extra={"means": {"all": "every one", "borders": "along the border"}},
    )
    trap_floor: float = Field(
        0.2, ge=0, le=1, title="Trap below", description="A trap's lowest score is below this …"
    )
    trap_wall: float = Field(
        0.5,
        gt=0,
        le=1,
        title="Inside above",
        description="… and every cell around the trap has at least this score.",
    )
    enough: float = Field(
        0.8,
        ge=0,
        le=1,
        title="Enough",
        description=(
            "A map fails when the class survives at less than this share of its poses, or has a"
            " trap that loses it."
        ),
        json_schema_extra={"judges": "share of the poses"},
    )

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": {"span": "whole"}}

    @field_validator("axes")
    @classmethod
    def _drawable(cls, axes: tuple[str, ...]) -> tuple[str, ...]:
        if len(axes) > 2:
            raise ValueError("a map shows one or two parameters; semantic regions take more")
        return axes

    @field_validator("step")
    @classmethod
    def _positive(cls, step: dict[str, float]) -> dict[str, float]:
        for name, width in step.items():
            if not (math.isfinite(width) and width > 0):
                raise ValueError(f"the step of {name} must be larger than 0, not {width:g}")
        return step

    @model_validator(mode="after")
    def _wall_above_floor(self) -> MapParams:
        if self.trap_wall <= self.trap_floor:
            raise ValueError(
                f"trap_wall = {self.trap_wall:g} must be above trap_floor = {self.trap_floor:g}"
            )
        return self


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
        return (methods,) if isinstance(methods, str) else methods

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
#: Starts of regions that the program chooses; each takes thousands of model calls, and a network on
#: so many pixels takes a tenth of a second for one.
_STARTS, _LARGE = 4, 128 * 128


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
    batch: int = _batch()  # of several bases the first would give its own

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {**PAPER, "span": "whole", "mode": "robust", "samples": 256}
    }


class _Grow(Params):
    mode: Mode = Field(
        "robust",
        title="Find",
        description="robust: regions that keep the class. adversarial: regions that lose it.",
    )


class SrvrParams(GrowParams, _Grow, SpaceParams, _SeveralScenes):
    """Settings of the safe share of the range (the paper's semantic robustness volume ratio)."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {**PAPER, "span": "whole", "begin": "range"}
    }
    begin: Literal["class", "range"] = Field(
        "class",
        title="Starts",
        description=(
            "Where the starts lie that the program chooses. class: where every network sees the"
            " class, for each shape. range: spread over the range whatever is seen there, as"
            " published."
        ),
    )

    enough: float = Field(
        0.1,
        ge=0,
        le=1,
        title="Enough",
        description="The safe share of the range that a network must reach on average.",
        json_schema_extra={"judges": "share of the range"},
    )


def starts_on(params: RegionsParams, shape: tuple[int, ...]) -> int:
    """How many starts are chosen for a network that takes images of this shape."""
    return params.start_count or (1 if math.prod(shape[1:]) > _LARGE else _STARTS)


def takes(params: OneSceneParams | MapParams | SrvrParams) -> Takes:
    """An image scene takes inputs, one where there is one scene; meshes take none."""
    if IMAGE not in params.scenes:
        return Takes(fewest_inputs=0, most_inputs=0)
    return Takes(fewest_inputs=1, most_inputs=1 if isinstance(params, OneSceneParams) else None)
