"""Settings of the attribution."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from robgui.core.execution.params.params import Params


class AttributionParams(Params):
    """For which class, with which cover, and how finely."""

    target: Literal["predicted", "label"] = Field(
        "predicted",
        title="Class",
        description=(
            "predicted: what speaks for the answer of the model to the first picture. label: what"
            " speaks for its label, where the data have one."
        ),
    )
    cover: Literal["grey", "black", "mean"] = Field(
        "grey",
        title="Cover",
        description=(
            "What a part of the picture is covered with, and what integrated gradients begin at:"
            " grey, black, or the mean colour of the picture."
        ),
    )
    patch: int = Field(
        0,
        ge=0,
        le=1000,
        title="Patch",
        description="Side of the square that covers a part, in pixels; 0 takes a seventh of it.",
        json_schema_extra={"zero": "a seventh of the picture"},
    )
    steps: int = Field(
        50,
        ge=5,
        le=1000,
        title="Steps of the gradients",
        description="Points on the way from the cover to the picture; more are more exact.",
        json_schema_extra={"rare": True},
    )


def square_side(shape: tuple[int, ...], patch: int) -> int:
    """Side of the square that covers a part: as given, or a seventh of the shorter side."""
    shorter = min(shape[1:])
    return min(shorter, patch or max(2, round(shorter / 7)))


def square_starts(size: int, side: int) -> list[int]:
    """Where squares begin along one side: they overlap by half, the last ends at the border."""
    step = max(1, side // 2)
    return sorted({*range(0, max(1, size - side), step), size - side})


def squares(shape: tuple[int, ...], side: int) -> int:
    """How many squares cover a picture ``(c, h, w)``."""
    return len(square_starts(shape[1], side)) * len(square_starts(shape[2], side))
