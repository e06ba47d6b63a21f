"""Claims about regions: which starts lead to the same one, and which are smaller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from robgui.analyses.semantic.regions.params import PAPER_WORDS, RegionsParams
from robgui.analyses.semantic.result import RegionsResult
from robgui.core.errors import DataError
from robgui.core.text.words import percent
from robgui.reproduce.claim import Claim, Drawing, attempt

METHOD = "semantic"
#: The ink of regions grown as published.
_GROWN = RegionsParams(mode="robust", span="whole")
#: Section 4.3: starts in one region "converge to the same boundary". The paper gives no tolerance;
#: here two regions are the same when they share this much of what they cover together.
SAME = 0.8
#: Section 4.4: the holes "are shared among DNNs". The paper gives no measure; here the maps have to
#: be correlated by at least this.
SHARED = 0.5


def region_claims(results: Sequence[RegionsResult], subject: str, name: str) -> Iterator[Claim]:
    """What the paper says of regions, checked on these results."""
    same = f"{subject}: starts inside one region grow to the same bounds"
    smaller = f"{subject}: naive regions are smaller than those of OIR_B and OIR_W"
    yield attempt(METHOD, same, "the same boundary (Figure 3)", lambda: _same(results, same, name))
    yield attempt(METHOD, smaller, "usually smaller (Figure 3)", lambda: _smaller(results, smaller))


def _same(results: Sequence[RegionsResult], statement: str, name: str) -> Claim:
    """Section 4.3: regions of one method coincide when the start of one lies in the other."""
    shared = [overlap for result in results for overlap in overlaps(result)]
    if not shared:
        raise DataError(
            "No start lies inside the region of another one, so there is nothing to compare."
        )
    note = (
        f"Share of common volume (intersection over union) of {len(shared)} pairs of regions at"
        f" rest, the start of one inside the other; holds when the median is at least {SAME:g}."
    )
    figures = tuple(
        Drawing(f"{name}-{i + 1}", "semantic_regions", result, statement, _GROWN)
        for i, result in enumerate(results)
    )
    median = float(np.median(shared))
    detail = {"overlaps": shared}
    return Claim(
        METHOD,
        statement,
        "the same boundary (Figure 3)",
        f"median overlap {median:.2f}",
        median >= SAME,
        note,
        detail,
        figures,
    )


def _smaller(results: Sequence[RegionsResult], statement: str) -> Claim:
    """Section 4.3: the naive method finds smaller regions."""
    grown = [
        (result, start)
        for result in results
        # A start counts if any method grew there; the others then stand with the size they reached.
        for start in np.unique(result.start_number[result.grown])
    ]
    if not grown:
        raise DataError("No region grew, so there is nothing to compare.")
    volumes = {
        method: np.array([_volume(result, start, method) for result, start in grown])
        for method in PAPER_WORDS
    }
    below = volumes["naive"] < np.minimum(volumes["oir_b"], volumes["oir_w"])
    means = ", ".join(
        f"{PAPER_WORDS[method]} {percent(float(values.mean()))}"
        for method, values in volumes.items()
    )
    note = (
        f"Mean share of the range: {means}. Holds when the naive region is the smallest from more"
        " than half of the starts (“usually”). The preset default replaces the naive method's"
        " penalty on size by the same stop level that the others have; with the paper's penalty a"
        " naive side never grows beyond the score divided by λ."
    )
    ours = f"smallest from {int(below.sum())} of {len(below)} starts"
    detail = {"volumes": volumes, "smallest": int(below.sum()), "starts": len(below)}
    return Claim(
        METHOD,
        statement,
        "usually smaller (Figure 3)",
        ours,
        bool(2 * below.sum() > len(below)),
        note,
        detail,
    )


def _volume(result: RegionsResult, start: int, method: str) -> float:
    """Share of the range that a method's region from a start fills."""
    return next(
        float(v)
        for v, s, m in zip(result.volume, result.start_number, result.method, strict=True)
        if (s, m) == (start, method)
    )


def overlaps(result: RegionsResult) -> Iterator[float]:
    """Intersection over union of one method's regions at rest, where one holds the other's start.

    One is enough: asking for both would leave out exactly those pairs that do not coincide.
    """
    # A region still moving has no boundary to compare.
    settled = result.grown & result.converged
    for i, j in combinations(range(len(result.method)), 2):
        if result.method[i] != result.method[j] or not (settled[i] and settled[j]):
            continue
        shift = _turns(result, i, j)
        low, high = result.low[j] + shift, result.high[j] + shift
        start = result.start[j] + shift

        def inside(u: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
            return bool(((u >= a) & (u <= b)).all())

        if inside(start, result.low[i], result.high[i]) or inside(result.start[i], low, high):
            common = np.clip(
                np.minimum(high, result.high[i]) - np.maximum(low, result.low[i]), 0, None
            ).prod()
            yield float(
                common / ((high - low).prod() + (result.high[i] - result.low[i]).prod() - common)
            )


def _turns(result: RegionsResult, i: int, j: int) -> np.ndarray:
    """Whole turns to add to the region ``j`` to bring its middle nearest to that of ``i``."""
    # inf makes the quotient 0: no turns along an axis that does not wrap.
    periods = np.array([axis.high - axis.low if axis.periodic else np.inf for axis in result.axes])
    middles = [(result.low[k] + result.high[k]) / 2 for k in (i, j)]
    turns = np.round((middles[0] - middles[1]) / periods)
    return np.asarray(
        np.where(np.isfinite(periods), turns * np.where(np.isfinite(periods), periods, 0), 0)
    )
