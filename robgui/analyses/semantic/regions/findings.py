"""Failures found by grown regions, and inputs they offer to other analyses."""

from __future__ import annotations

import numpy as np

from robgui.analyses.semantic.regions.lost import lost_in
from robgui.analyses.semantic.regions.params import METHOD_WORDS, RegionsParams
from robgui.analyses.semantic.result import RegionsResult, image_place
from robgui.analyses.semantic.words import finding_picture, place_words, region_place
from robgui.core.finding import Finding
from robgui.core.offer import Offer


def regions_findings(result: RegionsResult, params: RegionsParams) -> list[Finding]:
    """Spots inside a region that lose the class; in adversarial mode every region found."""
    return [_finding(result, params, place) for place in range(len(result.worst_scores))]


def regions_offers(result: RegionsResult, params: RegionsParams) -> list[Offer]:
    """Pictures from inside the regions where the class fails."""
    if not len(result.worst_images):
        return []
    names = tuple(f"{result.shape}, {place_words(result.axes, at)}" for at in result.worst_points)
    place = image_place((params.scene,), 0)
    one = Offer(f"The worst: {names[0]}", names[:1], result.worst_images[:1], places=(place,))
    if len(names) == 1:
        return [one]
    title = f"{len(names)} pictures where the class fails"
    return [one, Offer(title, names, result.worst_images, places=(place,) * len(names))]


def _finding(result: RegionsResult, params: RegionsParams, place: int) -> Finding:
    region = int(result.worst_region[place])
    mean, score = float(result.inside_mean[region]), float(result.worst_scores[place])
    image = result.worst_images[place]
    picture, detail = finding_picture(image), _detail(result, place, region)
    name, seen = detail["class"], detail["seen_as"]
    if params.mode == "adversarial":
        where = region_place(result.axes, result.low[region], result.high[region])
        title = f"{result.shape}: “{name}” fails in {where}, seen as “{seen}”"
        return Finding("adversarial region", title, min(1.0, 1 - mean), detail, picture, image)
    where = place_words(result.axes, result.worst_points[place])
    method = METHOD_WORDS[result.method[region]]
    title = f"{result.shape}: inside a region ({method}) “{name}” becomes “{seen}” at {where}"
    # A hole is as severe as it is unexpected where it lies.
    severity = float(np.clip(mean - score, 0, 1))
    return Finding("hole", title, severity, detail, picture, image)


def _detail(result: RegionsResult, place: int, region: int) -> dict[str, object]:
    bounds = zip(result.axes, result.low[region], result.high[region], strict=True)
    at = zip(result.axes, result.worst_points[place], strict=True)
    inside = lost_in(result, region)
    return {
        "class": result.labels[result.target],
        "seen_as": result.labels[result.worst_top1[place]],
        "score": float(result.worst_scores[place]),
        "at": {axis.name: float(value) for axis, value in at},
        "region": {axis.name: [float(a), float(b)] for axis, a, b in bounds},
        "method": result.method[region],
        "share_of_range": float(result.volume[region]),
        "mean_inside": float(result.inside_mean[region]),
        "lost_inside": inside.lost,
        "looked_at_inside": inside.total,
        "network": result.network,
    }
