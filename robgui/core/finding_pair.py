"""Pair: a finding's input before and after the change, with what the model says of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.text.words import percent

if TYPE_CHECKING:
    from robgui.core.finding import Finding

#: A picture of two has the input on the left and the failing one on the right; this is the width in
#: pixels of the white gap between them.
_GAP = 8
#: Axes of an input that is an image.
_IMAGE = 3
#: Mid grey: stands for "no change", and is added to every difference.
_GREY = 128
#: Least width of a close-up of a change, and the margin around the change, in pixels.
_CLOSE, _AROUND = 9, 2
#: A change over more than this share of the width needs no close-up.
_WIDE = 0.6


@dataclass(frozen=True, slots=True)
class PixelSquare:
    """A square of pixels: its left and upper edge, and its side."""

    left: int
    top: int
    side: int


@dataclass(frozen=True, slots=True)
class Pair:
    """An input and its changed version.

    Attributes:
        before: uint8 ``(h, w, 3)``.
        after: The same size.
        taken: The class of the input; empty if the finding names none.
        given: What the changed input is taken for.
        sure_before: How sure the model is of the input; nan if the finding does not say.
        sure_after: How sure it is of the changed one.
        drawn: Whether both are drawings on white, of rows or sequences.
    """

    before: np.ndarray
    after: np.ndarray
    taken: str = ""
    given: str = ""
    sure_before: float = math.nan
    sure_after: float = math.nan
    drawn: bool = False

    def on(self, ground: Sequence[int]) -> Pair:
        """The same where it is shown on this ground: a drawing has no white around it."""
        if not self.drawn:
            return self
        from robgui.core.dataset.drawing import on_ground  # OpenCV: late

        before, after = (on_ground(side, ground) for side in (self.before, self.after))
        return replace(self, before=before, after=after)

    @property
    def words_before(self) -> str:
        """What the model says of the input."""
        return _answer(self.taken, self.sure_before)

    @property
    def words_after(self) -> str:
        """What the model says of the changed input."""
        return _answer(self.given, self.sure_after)

    @property
    def changed(self) -> np.ndarray:
        """``(h, w)`` bool: the pixels that differ."""
        return np.asarray((self.before != self.after).any(axis=-1))

    @property
    def gain(self) -> int:
        """Factor that enlarges the difference until its largest value is visible."""
        most = int(np.abs(self.after.astype(int) - self.before).max(initial=0))
        if most:
            return max(1, (_GREY - 1) // most)
        return 1

    def difference(self) -> np.ndarray:
        """The changed input minus the input, scaled by ``gain``; grey is no change."""
        change = self.after.astype(int) - self.before
        return np.asarray(np.clip(_GREY + self.gain * change, 0, 255), dtype=np.uint8)

    def close(self) -> PixelSquare | None:
        """The square around the changed pixels; None if nothing, or nearly everything, differs."""
        rows, columns = np.nonzero(self.changed)
        height, width = self.before.shape[:2]
        most = min(height, width)
        if not rows.size:
            return None
        side = max(int(np.ptp(rows)), int(np.ptp(columns))) + 1 + 2 * _AROUND
        side = min(max(side, _CLOSE), most)
        if side > max(_CLOSE, _WIDE * most):
            return None
        left, top = (int(line.min() + line.max()) // 2 - side // 2 for line in (columns, rows))
        return PixelSquare(_within(left, width - side), _within(top, height - side), side)


def picture_of_two(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The picture of a before-and-after finding: both images with a white gap.

    ``pair_of`` finds the gap and splits them again.
    """
    gap = np.full((before.shape[0], _GAP, 3), 255, dtype=np.uint8)
    return np.concatenate([before, gap, after], axis=1)


def with_gap(picture: np.ndarray, colour: Sequence[int]) -> np.ndarray:
    """A picture of two with this colour in the gap; any other picture unchanged."""
    halves = _halves(picture)
    if halves is None:
        return picture
    gap = np.full((picture.shape[0], _GAP, 3), colour, dtype=np.uint8)
    return np.concatenate([halves[0], gap, halves[1]], axis=1)


def pair_of(finding: Finding) -> Pair | None:
    """Both sides of a finding; None without a picture, or if it shows only one thing."""
    # Two inputs of two classes also stand side by side, and are no pair.
    if finding.detail.get("inputs"):
        picture = None
    else:
        picture = finding.picture
    if picture is None:
        halves = None
    else:
        halves = _halves(picture)
    if halves is None:
        return None
    before, after = _exact(finding, *halves)
    detail = finding.detail
    return Pair(
        before,
        after,
        str(detail.get("class") or ""),
        str(detail.get("other_class") or detail.get("seen_as") or ""),
        _share(detail.get("confidence_before")),
        _share(detail.get("confidence_after")),
        is_drawn(finding),
    )


def is_drawn(finding: Finding) -> bool:
    """Whether the picture of a finding is a drawing on white, as of a row or a sequence."""
    return finding.input is not None and finding.input.ndim < _IMAGE


def _halves(picture: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Both halves of a picture; None if there is no white gap in the middle."""
    width = (picture.shape[1] - _GAP) // 2
    if (
        width < 1
        or 2 * width + _GAP != picture.shape[1]
        or not (picture[:, width : width + _GAP] == 255).all()
    ):
        return None
    return picture[:, :width], picture[:, width + _GAP :]


def _exact(
    finding: Finding, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The exact pixels, in place of an enlargement that may have frames drawn in."""
    x = finding.input
    if x is None or x.ndim != 3:
        return first, second
    from robgui.core.dataset.picture import picture_of  # Late: the window shows first.

    factor = max(1, first.shape[0] // x.shape[1])
    before, after = first[::factor, ::factor], picture_of(x, "image")
    if before.shape == after.shape:
        return (before, after)
    return (first, second)


def _answer(name: str, sure: float) -> str:
    if name:
        words = f"“{name}”"
    else:
        words = "another class"
    if math.isnan(sure):
        return words
    return f"{words}, {percent(sure)} sure"


def _share(value: Any) -> float:
    if isinstance(value, float):
        return float(value)
    return math.nan


def _within(value: int, most: int) -> int:
    return min(max(0, value), most)
