"""Settings of the safe share of the range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from robgui.analyses.semantic.params import SeveralScenesParams, SpaceParams
from robgui.analyses.semantic.regions.params import PAPER, GrowParams, Mode
from robgui.core.execution.params.params import Params

#: What the share is called, as an analysis and in its pictures.
TITLE = "Share of the range that is safe"


class _Grow(Params):
    mode: Mode = Field(
        "robust",
        title="Find",
        description="robust: regions that keep the class. adversarial: regions that lose it.",
    )


class SrvrParams(GrowParams, _Grow, SpaceParams, SeveralScenesParams):
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
