"""Settings of a semantic map."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from robgui.analyses.semantic.params import Preset, SeveralScenesParams, SpaceParams


class MapParams(SpaceParams, SeveralScenesParams):
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
    # From one half on no other class can be ahead:
    # the shore of a trap surely keeps the class.
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
