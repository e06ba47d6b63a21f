"""Settings of the pipeline audit."""

from __future__ import annotations

from pydantic import Field, field_validator

from robgui.core.execution.params.params import Params


class PipelineParams(Params):
    """Which pictures are prepared, how, and how many answers may change."""

    pictures: int = Field(
        200,
        ge=1,
        le=1_000_000,
        title="Pictures",
        description="Most pictures that are prepared in every way, chosen at random.",
    )
    jpeg: tuple[int, ...] = Field(
        (95, 75, 50),
        title="JPEG quality",
        description="Qualities at which the prepared pictures are saved and read again.",
    )
    most_changes: float = Field(
        0.05,
        ge=0,
        lt=1,
        title="Most changes",
        description=(
            "The model holds when, 95 % sure, no way of preparing changes more than this share of"
            " its answers."
        ),
        json_schema_extra={"rare": True, "judges": "share of the pictures"},
    )

    @field_validator("jpeg")
    @classmethod
    def _qualities(cls, values: tuple[int, ...]) -> tuple[int, ...]:
        if any(not 1 <= value <= 100 for value in values):
            raise ValueError("a JPEG quality lies between 1 and 100")
        return tuple(dict.fromkeys(values))
