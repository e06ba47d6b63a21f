"""What a zoNNscan result says in words: verdict and findings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from robgui.analyses.zonnscan.clouds import largest_radius
from robgui.core.dataset.picture import picture_of
from robgui.core.finding import Finding
from robgui.core.headline import Headline, Status
from robgui.core.text.words import number, percent

if TYPE_CHECKING:
    from robgui.analyses.zonnscan.sweep import ZonnscanResult

#: A change within this share of the largest radius a zone can have is near the input (.1 of the grey range for linf).
NEAR = 0.1
#: The index jumps when it rises by so much from radius 0 to the last near radius.
JUMP = 0.2


def sweep_verdict(result: ZonnscanResult) -> str:
    """One sentence or three: how far the class holds, how sure that is, and what it cost."""
    return f"{_reach(result)} {_surety(result)} {result.model_calls:,} model calls."


def _reach(result: ZonnscanResult) -> str:
    subject = f"{result.input_name}, predicted “{result.labels[result.predicted]}”"
    if result.crossing_radius > 0:
        other = f", to “{result.labels[result.witness_class]}”," if result.witness_class >= 0 else ""
        return f"{subject}: the nearest change of class found{other} is at radius {number(result.crossing_radius)}."
    sampled = result.samples[1:] if result.radii[0] == 0 else result.samples
    if not sampled.any():
        return f"{subject}: nothing was sampled around it."
    return f"{subject}: no sample up to radius {number(float(result.radii[-1]))} changes class."


def _surety(result: ZonnscanResult) -> str:
    known = np.flatnonzero(result.samples > 1)
    if not len(known):
        return f"Index {number(float(result.index[0]))} at the input itself."
    i = known[0]
    half = float(result.ci_high[i] - result.ci_low[i]) / 2
    share, most = float(result.crossing[i]), float(result.crossing_high[i])
    change = "no sample changes" if share == 0 else f"{percent(share)} of the samples change"
    return (
        f"At radius {number(float(result.radii[i]))} the index is {number(float(result.index[i]))} ± {number(half)} and "
        f"{change} class (at most {percent(most)} do, 95 % sure)."
    )


def sweep_headline(result: ZonnscanResult) -> Headline:
    """How far the nearest change of class is; near by means a failure."""
    title = "Nearest change of class"
    near = NEAR * largest_radius(result.zone, result.input.size)
    if result.crossing_radius > 0:
        status: Status = "bad" if result.crossing_radius <= near else "doubtful" if result.crossing_radius <= 3 * near else "good"
        return Headline(title, result.crossing_radius, f"at radius {number(result.crossing_radius)}", "high", status)
    reach = float(result.radii[-1])
    sampled = bool((result.samples[result.radii > 0] > 0).any())
    return Headline(title, math.nan, f"none up to radius {number(reach)}", "high", "good" if sampled and reach > near else "unknown")


def sweep_findings(result: ZonnscanResult) -> list[Finding]:
    """The input, when its class or its index changes near it."""
    near = NEAR * largest_radius(result.zone, result.input.size)
    crosses = result.crossing_radius <= near
    jump = index_jump(result, near)
    if not crosses and jump < JUMP:
        return []
    name = result.labels[result.predicted]
    other = result.labels[result.witness_class] if result.witness_class >= 0 else ""
    title = (
        f"{result.input_name}: “{name}” becomes {f'“{other}”' if other else 'another class'} at radius {number(result.crossing_radius)}"
        if crosses
        else f"{result.input_name}: the index rises by {number(jump)} up to radius {number(near)}"
    )
    severity = max(1 - result.crossing_radius / near if crosses else 0.0, min(1.0, jump))
    detail = {
        "class": name,
        "other_class": other,
        "radius": None if math.isnan(result.crossing_radius) else result.crossing_radius,
        "zone": result.zone,
        "index_at_input": float(result.index[0]) if result.radii[0] == 0 else None,
        "index_rise": jump,
    }
    failing = result.witness[0] if crosses and len(result.witness) else result.input
    return [Finding("near boundary", title, float(severity), detail, _picture(result), failing)]


def index_jump(result: ZonnscanResult, near: float) -> float:
    """How far the index rises from the smallest radius within the near ones."""
    values = result.index[result.radii <= near]
    values = values[np.isfinite(values)]
    return float(values.max() - values[0]) if len(values) > 1 else 0.0


def _picture(result: ZonnscanResult) -> np.ndarray:
    """The input and, beside it, the sample that changed class."""
    return side_by_side([enlarged(picture_of(x, result.kind)) for x in (result.input, *result.witness)])


def enlarged(picture: np.ndarray, smallest: int = 112) -> np.ndarray:
    """A picture whose longer side has at least ``smallest`` pixels, every pixel repeated so many times."""
    factor = max(1, -(-smallest // max(picture.shape[:2])))
    return np.ascontiguousarray(picture.repeat(factor, 0).repeat(factor, 1))


def side_by_side(pictures: list[np.ndarray], gap: int = 8) -> np.ndarray:
    """Pictures of one height in a row with a white gap."""
    white = np.full((pictures[0].shape[0], gap, 3), 255, dtype=np.uint8)
    parts = [part for picture in pictures for part in (white, picture)][1:]
    return np.concatenate(parts, axis=1)
