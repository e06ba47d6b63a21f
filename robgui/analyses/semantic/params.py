"""Settings shared by semantic maps, regions, the safe share and the operating domain.

The scene, its axes and their ranges.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, field_validator

from robgui.core.execution.analysis import Requirements
from robgui.core.execution.params.params import Params

Preset = Literal["default", "paper"]

#: The scene that transforms the chosen input; every other name is a mesh.
IMAGE = "image"
#: Most axes: more would need over a thousand nodes for each region and step.
MOST_AXES = 6


class SpaceParams(Params):
    """Which scene, along which of its parameters, for which class."""

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
            "Name or number of the class whose score is looked at; empty: the class of the"
            " image's label, without one the class predicted for it; for a mesh the class of its"
            " name, or the one it is most often taken for."
        ),
        json_schema_extra={"empty": "class of the input"},
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
        if isinstance(target, int):
            return str(target)
        return target

    @field_validator("axes", mode="before")
    @classmethod
    def _one_axis(cls, axes: Any) -> Any:
        if isinstance(axes, str):
            return (axes,)
        return axes

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


class SeveralScenesParams(Params):
    """One scene or several."""

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
        if isinstance(scene, str):
            return (scene,)
        return scene

    @property
    def scenes(self) -> tuple[str, ...]:
        """Every scene."""
        return self.scene


def takes(params: OneSceneParams | SeveralScenesParams) -> Requirements:
    """An image scene takes inputs (one, if there is one scene); meshes take none."""
    if IMAGE not in params.scenes:
        return Requirements(fewest_inputs=0, most_inputs=0)
    return Requirements(
        fewest_inputs=1, most_inputs=1 if isinstance(params, OneSceneParams) else None
    )
