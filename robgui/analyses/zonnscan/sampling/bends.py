"""Where a sweep needs more radii: beside the bends of its curves.

A plot draws straight lines between radii. The distance of a known point from the line through its
two neighbours shows how much the curve bends there, and so how wrong the lines beside it may be.
"""

from __future__ import annotations

import numpy as np

from robgui.analyses.zonnscan.sampling.tally import Counts

#: A point further than this from the line through its neighbours is a bend.
BEND = 0.03
#: A gap whose bend hides less than this area, see ``next_radius``, is not split: the curves then
#: deviate from the lines by less than half of the requested interval width.
HIDDEN = 0.01
#: Gaps narrower than this share of the largest radius are not split.
NARROWEST = 1 / 256


def bends(radii: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """How far ``(R - 1,)`` the curves may deviate from the line drawn across each gap.

    Args:
        radii: ``(R,)`` rising.
        curves: ``(R, Q)`` their values there.
    """
    off = np.zeros(curves.shape)
    before, after = radii[1:-1] - radii[:-2], radii[2:] - radii[:-2]
    straight = curves[:-2] + (curves[2:] - curves[:-2]) * (before / after)[:, None]
    off[1:-1] = np.abs(curves[1:-1] - straight)
    # A gap is as uncertain as the sharper of the bends at its two ends.
    return np.asarray(np.maximum(off[:-1], off[1:]).max(1, initial=0.0))


def next_radius(radii: np.ndarray, curves: np.ndarray) -> float | None:
    """The most informative next radius; None if the curves are straight enough.

    It lies in the middle of the gap in which a bend hides the largest area. The width of a gap is
    the geometric mean of its widths on a linear and on a logarithmic axis: what happens near the
    input matters more than its share of the axis.
    """
    # A bend needs a point between two neighbours.
    if len(radii) < 3:
        return None
    gaps, off = np.diff(radii), bends(radii, curves)
    # The gap's width as the geometric mean of its linear and logarithmic widths, gap/r_max and
    # gap/r.
    hidden = off * gaps / np.sqrt(radii[1:] * radii[-1])
    hidden[(off <= BEND) | (gaps < NARROWEST * radii[-1])] = 0
    place = int(hidden.argmax())
    if hidden[place] <= HIDDEN:
        return None
    # Three digits: what a person would type, and what axis and table show.
    between = float(f"{(radii[place] + radii[place + 1]) / 2:.3g}")
    if radii[place] < between < radii[place + 1]:
        return between
    return None


def curves_of(counts: Counts, own: np.ndarray, klass: int) -> np.ndarray:
    """The curves of the plot ``(1 + Z, 3)``.

    Uncertainty, share of changes, confidence in the input's class.

    ``own (3,)`` at radius 0, then at every zone.
    """
    sampled = np.stack([counts.index, counts.crossing, counts.confidence[:, klass]], 1)
    return np.concatenate([own[None], sampled])
