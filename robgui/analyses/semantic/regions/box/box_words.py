"""What boxes that were tested say in words: how large they are and what may be lost inside."""

from __future__ import annotations

import numpy as np

from robgui.analyses.semantic.regions.lost import (
    CONFIDENCE,
    grew,
    lost_in,
    passed,
    shown_region,
    size_of,
)
from robgui.analyses.semantic.regions.params import RegionsParams
from robgui.analyses.semantic.result import RegionsResult
from robgui.analyses.semantic.words import axes_words, setting_words
from robgui.core.text.words import count, percent
from robgui.core.verdict import Quantity


def box_sentence(result: RegionsResult, params: RegionsParams) -> str:
    """The largest box that has passed, what was lost inside, and how much may be."""
    region, name = shown_region(result, params), class_words(result)
    inside, size = lost_in(result, region), percent(size_of(result, region))
    if not passed(result, params)[region]:
        if all_tried(result):
            known = "none of the boxes"
        else:
            known = "no box so far"
        allowed = setting_words(params.most_lost)
        return (
            f"{result.network}: {known} around {name} is shown to lose it at {allowed} of its"
            " poses or less."
        )
    so_far = "" if all_tried(result) else "So far, "
    if result.volume[region] < params.enough:
        only = "only "
    else:
        only = ""
    fills = f"a box that fills {only}{size} of {axes_words(result.axes)}"
    sure = (
        f"with {setting_words(CONFIDENCE)} confidence it is lost at {percent(inside.most)} or less"
    )
    drawn = f"all {count(inside.total, 'pose')} drawn from"
    if inside.lost:
        drawn = f"{inside.total - inside.lost:,} of {count(inside.total, 'pose')} drawn from"
    return f"{so_far}{result.network} keeps {name} at {drawn} {fills}; {sure}."


def box_number(result: RegionsResult, params: RegionsParams, region: int) -> Quantity:
    """How much of the range the largest box that has passed fills."""
    title = f"Largest box that loses at most {setting_words(params.most_lost)}"
    if region >= 0 and passed(result, params)[region]:
        volume = size_of(result, region)
        return Quantity(title, volume, better="high", text=f"{percent(volume)} of the range")
    known = bool(result.method) and all_tried(result)
    if known:
        value, text = (0.0, "none")
    else:
        value, text = (float("nan"), "not known yet")
    return Quantity(title, value, better="high", text=text)


def all_tried(result: RegionsResult) -> bool:
    """Whether every box that grew has ended."""
    return bool(result.converged[grew(result)].all()) and bool(
        np.isfinite(result.inside_mean).all()
    )


def class_words(result: RegionsResult) -> str:
    """The class that is looked for, by name."""
    if result.target >= 0:
        return f"“{result.labels[result.target]}”"
    return "the class"
