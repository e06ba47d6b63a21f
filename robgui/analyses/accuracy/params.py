"""Settings of the accuracy analysis."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from robgui.core.execution.params.params import Params


class AccuracyParams(Params):
    """Which inputs are counted, what counts as sure, and how often each class must be right."""

    most: int = Field(
        10_000,
        ge=0,
        le=10_000_000,
        title="Most inputs",
        description="Most labelled inputs that are counted, chosen at random; 0 counts all.",
        json_schema_extra={"zero": "all"},
    )
    sure: float = Field(
        0.9,
        gt=0,
        lt=1,
        title="Sure from",
        description="A wrong answer with at least this probability is a confident mistake.",
        json_schema_extra={"judges": "probability"},
    )
    # The same limit as DeepInspect's ``most_wrong``.
    least: float = Field(
        0.9,
        gt=0,
        lt=1,
        title="Recognised at least",
        description=(
            "A class fails when, 95 % sure, less than this share of its inputs is recognised."
        ),
        json_schema_extra={"judges": "share of a class"},
    )
    compared: int = Field(
        4000,
        ge=0,
        le=50_000,
        title="Inputs compared",
        description=(
            "Most inputs whose features are compared with each other, for the map, for labels to"
            " check and for near-duplicates; 0 compares none."
        ),
        json_schema_extra={"rare": True, "zero": "none"},
    )
    layout: Literal["pca", "tsne"] = Field(
        "pca",
        title="Map",
        description=(
            "How the map of the inputs is made: pca keeps distances as far as two axes can, tsne"
            " keeps neighbours together (slower; needs scikit-learn)."
        ),
        json_schema_extra={
            "rare": True,
            "means": {"pca": "principal components", "tsne": "neighbour map (t-SNE)"},
        },
    )
