"""How many poses inside a region lose the class, and what that shows about all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robgui.analyses.semantic.regions.params import RegionMode, RegionsParams
from robgui.analyses.semantic.result import RegionsResult
from robgui.analyses.semantic.words import WHOLE, setting_words
from robgui.core.intervals import clopper_pearson
from robgui.core.text.words import percent

#: Confidence of the upper end of a share.
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Lost:
    """Poses drawn inside a region after it had grown: ``lost`` of ``total`` are not the class.

    ``bound`` is what the test of a box does not rule out; nan if the number of poses was fixed.
    """

    lost: int
    total: int
    bound: float = math.nan

    @property
    def known(self) -> bool:
        """Whether the region has been sampled."""
        return self.total > 0

    @property
    def share(self) -> float:
        """The share found; nan if nothing was sampled."""
        if self.total:
            return self.lost / self.total
        return math.nan

    @property
    def most(self) -> float:
        """Upper end of the share of all poses inside, 95 % to one side.

        Clopper and Pearson's for a fixed number of poses.
        """
        if not self.known:
            return 1.0
        if math.isfinite(self.bound):
            return self.bound
        # One-sided: a two-sided interval of 90 % has 5 % above its upper end.
        _, high = clopper_pearson(self.lost, self.total, 2 * CONFIDENCE - 1)
        return float(high)

    @property
    def words(self) -> str:
        """``8.2 % (21 of 256), at most 11.6 % with 95 % confidence``."""
        sure = f"at most {percent(self.most)} with {setting_words(CONFIDENCE)} confidence"
        return f"{percent(self.share)} ({self.lost:,} of {self.total:,}), {sure}"


def lost_in(result: RegionsResult, region: int) -> Lost:
    """What is known about the inside of a region; unknown in results of the first edition."""
    if region >= len(result.inside_lost) or result.inside_lost[region] < 0:
        return Lost(0, 0)
    if len(result.inside_most):
        bound = float(result.inside_most[region])
    else:
        bound = math.nan
    return Lost(int(result.inside_lost[region]), int(result.inside_total[region]), bound)


def size_of(result: RegionsResult, region: int) -> float:
    """The share of the range that a region fills."""
    volume = float(result.volume[region])
    if volume >= 1 - WHOLE:
        return 1.0
    return volume


def grew(result: RegionsResult) -> np.ndarray:
    """Which regions ``(S,)`` are larger than they were at their start."""
    return np.asarray(result.grown & ~result.never_grew)


def failing(result: RegionsResult) -> np.ndarray:
    """Which regions ``(S,)`` are known to contain a pose that loses the class."""
    found = np.isin(np.arange(len(result.method)), result.worst_region)
    if len(result.inside_lost):
        counted = result.inside_lost
    else:
        counted = np.zeros(len(found), dtype=int)
    return np.asarray(found | (counted > 0))


def mode_of(result: RegionsResult, params: RegionsParams) -> RegionMode:
    """What was searched for; settings of the first edition omit what is now called "box"."""
    grown = bool(result.method) and "box" not in result.method
    if grown and params.mode == "box":
        return "robust"
    return params.mode


def passed(result: RegionsResult, params: RegionsParams) -> np.ndarray:
    """Which regions ``(S,)`` are shown to lose the class at no more poses than allowed."""
    most = [lost_in(result, region).most for region in range(len(result.method))]
    return np.asarray(most, dtype=float) <= params.most_lost


def shown_region(result: RegionsResult, params: RegionsParams) -> int:
    """The region that words and pictures refer to; -1 before any has grown.

    The largest box that passed its test, or the largest region without a failure, else the largest;
    always the largest in adversarial mode.
    """
    able = grew(result)
    if not able.any():
        return -1
    looked = np.array([lost_in(result, region).known for region in range(len(able))])
    mode = mode_of(result, params)
    good = looked & ~failing(result) & (mode == "robust")
    if mode == "box":
        good = passed(result, params)
    # A volume is at most 1, so any good region outranks all others.
    return int(np.argmax(np.where(able, np.nan_to_num(result.volume) + good, -1)))
