"""What a comparison of two sets says in words: verdict and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robgui.analyses.zonnscan.words import enlarged
from robgui.core.dataset.picture import picture_of
from robgui.core.finding import Finding
from robgui.core.text.words import number, percent

if TYPE_CHECKING:
    from robgui.analyses.zonnscan.populations import PopulationsResult

#: Two distributions differ when chance alone would make them so different less often than this.
SURE = 1e-3


def populations_verdict(result: PopulationsResult) -> str:
    """Whether the index tells the sets apart, how sure that is, and what it cost."""
    return f"{told_apart(result)} {result.model_calls:,} model calls."


def told_apart(result: PopulationsResult) -> str:
    """Whether the index tells the sets apart, in one sentence."""
    first, second = result.names
    low, high = (number(float(mean)) for mean in result.means)
    where = f"at radius {number(result.radius)}"
    if result.ks_p >= SURE:
        found = f"The index does not tell {second} from {first} inputs {where}: means {high} and {low}"
    else:
        word = "higher" if result.means[1] > result.means[0] else "lower"
        found = f"The index is {word} around {second} than around {first} inputs {where}: mean {high} against {low}"
    sizes = f"{int(result.second.sum()):,} and {int((~result.second).sum()):,} inputs"
    return f"{found} ({sizes}, KS p = {number(result.ks_p)}, AUC {number(result.auc)})."


def populations_findings(result: PopulationsResult) -> list[Finding]:
    """The worst inputs of the first set: their class changes within the zone, or the model is unsure there."""
    return [_finding(result, int(place), x) for place, x in zip(result.notable, result.notable_inputs, strict=True)]


def _finding(result: PopulationsResult, place: int, x: np.ndarray) -> Finding:
    index, crossing = float(result.index[place]), float(result.crossing[place])
    name, where = result.labels[int(result.predicted[place])], f"within radius {number(result.radius)}"
    words = f"{percent(crossing)} of the samples leave {name}" if crossing > 0 else f"index {number(index)} around {name}"
    detail = {"class": name, "index": index, "crossing": crossing, "radius": result.radius, "place": int(result.numbers[place])}
    picture = enlarged(picture_of(x, result.kind))
    return Finding("unsure input", f"{result.keys[place]}: {words} {where}", min(1.0, max(index, crossing)), detail, picture, x)
