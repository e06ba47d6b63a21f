"""Random inputs of one zone, shown at the cursor of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.zonnscan.result import ZonnscanResult
from robgui.analyses.zonnscan.words.figures import uncertainty
from robgui.core.text.words import count, number, percent
from robgui.core.view import Images, Picture, class_inks

TITLE = "Random inputs at one radius"


def samples_view(result: ZonnscanResult, place: int, pixels: Sequence[np.ndarray]) -> Images:
    """Samples at radius number ``place`` with their classes.

    ✗ is another class than the input's.
    """
    pictures = []
    for picture, c in zip(pixels, result.shown_class[place].tolist(), strict=False):
        label = result.labels[c] if c >= 0 else ""
        if c >= 0:
            same = c == result.predicted
        else:
            same = None
        (ink,) = class_inks((label,), result.labels, ("class",))
        pictures.append(Picture(picture, chip=label, right=same, ink=ink))
    return Images(TITLE, tuple(pictures), note=radius_words(result, place))


def radius_words(result: ZonnscanResult, place: int) -> str:
    """What is known at one radius, in a sentence."""
    where = f"At radius {number(float(result.radii[place]))}"
    samples = int(result.samples[place])
    if not samples:
        return f"{where} nothing is sampled yet."
    value, low, high = (float(v[place]) for v in (result.index, result.ci_low, result.ci_high))
    if result.radii[place] == 0:
        return f"{where}, the input itself, the uncertainty is {number(value)}."
    # The share times its count is a whole number up to rounding.
    crossed = round(float(result.crossing[place]) * samples)
    most = percent(float(result.crossing_high[place]))
    return (
        f"{where} the uncertainty is {uncertainty(value, low, high, samples)}; {crossed:,} of "
        f"{count(samples, 'sample')} change class (at most {most} do, 95 % sure)."
    )
