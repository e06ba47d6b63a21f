"""Where a sweep needs more radii: beside the bends of its curves.

A picture draws straight lines between radii. How far a known point lies from the straight line
through its two neighbours says how much the curve bends there, and so how wrong the lines beside
it may be.
"""

from __future__ import annotations

import numpy as np

from robgui.analyses.zonnscan.sampling.tally import Counts

#: A point that lies further than this from the line through its neighbours is a bend.
BEND = 0.03
#: A gap in which a bend hides less than this area, see ``next_radius``, is left as it is: the
#: curves then lie off the lines drawn by less than half of what their intervals are asked to be.
HIDDEN = 0.01
#: Gaps narrower than this share of the largest radius are left as they are.
NARROWEST = 1 / 256


def bends(radii: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """How far ``(R - 1,)`` the curves may lie off the line drawn across each gap.

    Args:
        radii: ``(R,)`` rising.
        curves: ``(R, Q)`` their values there.
    """
    off = np.zeros(curves.shape)
    before, after = radii[1:-1] - radii[:-2], radii[2:] - radii[:-2]
    straight = curves[:-2] + (curves[2:] - curves[:-2]) * (before / after)[:, None]
    off[1:-1] = np.abs(curves[1:-1] - straight)
    return np.asarray(np.maximum(off[:-1], off[1:]).max(1, initial=0.0))


def next_radius(radii: np.ndarray, curves: np.ndarray) -> float | None:
    """The radius that would tell most about the curves; None if they are straight enough.

    It lies in the middle of the gap in which a bend hides the largest area. The width of a gap is
    the geometric mean of its widths on a linear axis and on a logarithmic one: what happens near
    the input matters more than its share of the axis.
    """
    if len(radii) < 3:
        return None
    gaps, off = np.diff(radii), bends(radii, curves)
    hidden = off * gaps / np.sqrt(radii[1:] * radii[-1])
    hidden[(off <= BEND) | (gaps < NARROWEST * radii[-1])] = 0
    place = int(hidden.argmax())
    if hidden[place] <= HIDDEN:
        return None
    between = float(f"{(radii[place] + radii[place + 1]) / 2:.3g}")
    if radii[place] < between < radii[place + 1]:
        return between
    return None


def curves_of(counts: Counts, own: np.ndarray, klass: int) -> np.ndarray:
    """What a picture draws ``(1 + Z, 3)``: uncertainty, share of changes and the confidence in
    the input's class; ``own (3,)`` at radius 0, then at every zone.
    """
    sampled = np.stack([counts.index, counts.crossing, counts.confidence[:, klass]], 1)
    return np.concatenate([own[None], sampled])
