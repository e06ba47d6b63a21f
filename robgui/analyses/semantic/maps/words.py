"""What a semantic map says in words: verdict and findings."""

from __future__ import annotations

import numpy as np

from robgui.analyses.semantic.result import MapResult
from robgui.analyses.semantic.words import axes_words, finding_picture, place_words
from robgui.core.finding import Finding
from robgui.core.headline import Headline, Status
from robgui.core.text.words import number, percent

#: A class that survives in so much of the map needs no closer look.
GOOD_SHARE = 0.8


def map_verdict(result: MapResult) -> str:
    """How often the class survives, the worst trap, and what it cost."""
    return f"{_survival(result)} {_trap_words(result)}{result.model_calls:,} model calls."


def map_headline(result: MapResult) -> Headline:
    """In how much of the map the first network sees the class; a trap is a failure."""
    title = f"Share of {axes_words(result.axes)} where the class survives"
    known = result.tops[0] >= 0
    if not known.any():
        return Headline(title, float("nan"), "not known yet", "high", "unknown")
    share = float((result.tops[0] == result.target[:, None, None])[known].mean())
    status: Status = "bad" if (result.traps.network == 0).any() else "good" if share >= GOOD_SHARE else "doubtful"
    return Headline(title, share, percent(share), "high", status)


def _survival(result: MapResult) -> str:
    if (result.target < 0).any():
        return f"Looking for the class of {_shapes(result)}."
    held = result.tops == result.target[None, :, None, None]
    shares = np.where(result.tops >= 0, held, np.nan).reshape(len(result.networks), -1)
    known = [float(np.nanmean(row)) if np.isfinite(row).any() else float("nan") for row in shares]
    what = f"{_classes(result)} over {axes_words(result.axes)} of {_shapes(result)}"
    mean = float(np.nanmean(result.scores)) if np.isfinite(result.scores).any() else float("nan")
    if len(known) == 1:
        return f"{what}: the top class in {percent(known[0])} of the map, mean score {number(mean)}."
    best, worst = int(np.nanargmax(known)), int(np.nanargmin(known))
    least = f", in {percent(known[worst])} for {result.networks[worst]}" if worst != best else " and for all others"
    return (
        f"{what}: the top class in {percent(known[best])} of the map for {result.networks[best]}{least}. "
        f"Mean score of all {len(known)} networks {number(mean)}."
    )


def _trap_words(result: MapResult) -> str:
    count = len(result.traps.score)
    if not result.computed.all():
        return f"{percent(float(result.computed.mean()))} of the cells are computed, the rest shows coarser ones. "
    if not count:
        return f"No trap: no spot below {number(result.trap_floor)} inside a region above {number(result.trap_wall)}. "
    where = place_words(result.axes, result.traps.at[0])
    score, wall = float(result.traps.score[0]), float(result.traps.wall[0])
    several = f"{count} traps, the worst" if count > 1 else "One trap"
    return f"{several} at {where}: score {number(score)} where the cells around have {number(wall)}. "


def map_findings(result: MapResult) -> list[Finding]:
    """Every trap, with the picture and the input at its lowest point."""
    traps = result.traps
    return [_finding(result, place) for place in range(len(traps.score))]


def _finding(result: MapResult, place: int) -> Finding:
    traps = result.traps
    network, shape, top = int(traps.network[place]), int(traps.shape[place]), int(traps.top1[place])
    score, wall = float(traps.score[place]), float(traps.wall[place])
    mean = network < 0
    name = result.labels[result.target[max(0, shape)]]
    where = place_words(result.axes, traps.at[place])
    subject = "mean of all networks and shapes" if mean else f"{result.shapes[shape]}, {result.networks[network]}"
    seen = f", seen as “{result.labels[top]}”" if top >= 0 and not mean else ""
    detail = {
        "class": name,
        "seen_as": result.labels[top] if top >= 0 else "",
        "score": score,
        "score_around": wall,
        "at": {axis.name: float(value) for axis, value in zip(result.axes, traps.at[place], strict=True)},
        "cells": int(traps.cells[place]),
        "network": "" if mean else result.networks[network],
        "shape": "" if mean else result.shapes[shape],
    }
    image = traps.images[place] if place < len(traps.images) else None
    picture = None if image is None else finding_picture(image)
    title = f"{subject}: “{name}” falls from {number(wall)} to {number(score)} at {where}{seen}"
    return Finding("trap", title, float(np.clip(wall - score, 0, 1)), detail, picture, image)


def _shapes(result: MapResult) -> str:
    return result.shapes[0] if len(result.shapes) == 1 else f"{len(result.shapes)} shapes"


def _classes(result: MapResult) -> str:
    names = list(dict.fromkeys(result.labels[c] for c in result.target))
    return f"“{names[0]}”" if len(names) == 1 else "The class of each shape"
