"""Class pairs: which are reported, and what a click on one of them shows."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from robgui.analyses.deepinspect.labels import FEWEST, errors_of

if TYPE_CHECKING:
    from robgui.analyses.deepinspect.result import DeepInspectResult

#: Matrices with more classes are sorted by their first principal direction; a cluster tree would be
#: too slow.
_MOST_CLUSTERED = 2000


def pair_places(known: np.ndarray) -> np.ndarray:
    """Unordered pairs ``(P, 2)``, a < b, where ``known (m, m)`` is True, row by row."""
    return np.argwhere(np.triu(known, 1))


def beyond(scores: np.ndarray, cutoff: float) -> tuple[np.ndarray, float]:
    """Which scores ``(n,)`` are above mean + cutoff std (ddof 0, strictly), and that limit.

    Nan without scores.
    """
    if not len(scores):
        return np.zeros(0, dtype=bool), math.nan
    # Section 4.3 reports what lies more than one standard deviation from the mean of all pairs.
    limit = float(scores.mean() + cutoff * scores.std())
    # Equal scores have a std of rounding alone, which must report none of them.
    if np.ptp(scores) > 0:
        above = scores > limit
    else:
        above = np.zeros(len(scores), dtype=bool)
    return above, limit


def top_share(scores: np.ndarray, percent: float) -> np.ndarray:
    """Which scores ``(n,)`` are among the highest ``percent``.

    Rounded up, at least one, ties in order.
    """
    chosen = np.zeros(len(scores), dtype=bool)
    # Rounded to nine digits first: 100 · 0.01 must not become 2 by rounding error.
    count = math.ceil(round(len(scores) * percent / 100, 9))
    chosen[np.argsort(-scores, kind="stable")[: max(1, count)]] = True
    return chosen


@dataclass(frozen=True, slots=True)
class Reported:
    """Pairs by suspicion.

    Attributes:
        pairs: ``(P, 2)`` beyond the limit, most suspicious first.
        top: ``(Q, 2)`` the top per cent, most suspicious first.
        limit: mean + cut-off std of the suspicion.
    """

    pairs: np.ndarray
    top: np.ndarray
    limit: float


def report(suspicion: np.ndarray, cutoff: float, top_percent: float) -> Reported:
    """The pairs to report of a matrix ``(m, m)`` of suspicion; nan is unknown.

    Higher is more suspicious, so give -NAPVD.
    """
    places = pair_places(np.isfinite(suspicion))
    scores = suspicion[places[:, 0], places[:, 1]].astype(np.float64)
    above, limit = beyond(scores, cutoff)
    order = np.argsort(-scores, kind="stable")
    top = top_share(scores, top_percent)
    return Reported(places[order[above[order]]], places[order[top[order]]], limit)


@dataclass(frozen=True, slots=True)
class PairInputs:
    """Inputs that belong to a pair, the wrong ones first.

    Attributes:
        places: ``(k,)`` places among the inputs given.
        wrong: ``(k,)`` whether the model mixes the two classes up in it; all False when labels are
            missing.
    """

    places: np.ndarray
    wrong: np.ndarray


def pair_inputs(result: DeepInspectResult, a: int, b: int) -> PairInputs:
    """Inputs of classes a and b: those that mix the two up first, then other members."""
    if result.multi_label:
        wrong, member = _multi_label_pair(result, a, b)
    else:
        member = (result.predicted == a) | (result.predicted == b)
        wrong = np.zeros_like(member)
        if len(result.true):
            # An input of a taken for something else than b still belongs to the pair.
            member |= ((result.true == a) | (result.true == b)) & (result.predicted >= 0)
            wrong = ((result.true == a) & (result.predicted == b)) | (
                (result.true == b) & (result.predicted == a)
            )
    places = np.flatnonzero(member)
    # Errors first, because they are what a person wants to see of a pair.
    places = places[np.argsort(~wrong[places], kind="stable")]
    return PairInputs(places, wrong[places])


def members_of(result: DeepInspectResult, c: int) -> np.ndarray:
    """Places of the inputs that the model gives class ``c``, correct ones first."""
    places = np.flatnonzero(result.predicted == c)
    if not len(result.true):
        return places
    # Stable, so among equals the order of the dataset decides and a
    # repeated run picks the same input.
    return np.asarray(places[np.argsort(result.true[places] != c, kind="stable")])


def pixels_apart(result: DeepInspectResult, a: int, b: int) -> float | None:
    """Fewest pixels that turned an input of one class into the other; nan if none were found.

    None if no game was played.
    """
    games = [one.pixels for one in result.confirmations if {one.first, one.second} == {a, b}]
    if not games:
        return None
    found = [pixels for pixels in games if math.isfinite(pixels)]
    if found:
        return min(found)
    return math.nan


#: Whether a pair lies below the limit for sure: beyond noise, within it, or too few inputs to say.
Surety = Literal["yes", "no", "unknown"]


def beyond_noise(result: DeepInspectResult, a: int, b: int) -> Surety:
    """Whether the whole interval of a pair's distance lies below the limit."""
    if min(int(result.counts[a]), int(result.counts[b])) < FEWEST or not result.napvd_high.size:
        return "unknown"
    # The whole interval below the limit; a distance just below it may be noise.
    if result.napvd_high[a, b] < result.confusion_limit:
        return "yes"
    return "no"


def _multi_label_pair(result: DeepInspectResult, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    predicted_a, predicted_b = (_bit(result.predicted_bits, c) for c in (a, b))
    member = predicted_a | predicted_b
    if not len(result.true_bits):
        return np.zeros_like(member), member
    true_a, true_b = (_bit(result.true_bits, c) for c in (a, b))
    seen = result.predicted >= 0
    # Type 2 confusion (Section 4.2.1): both predicted, exactly one present.
    return predicted_a & predicted_b & (true_a ^ true_b) & seen, (member | true_a | true_b) & seen


def _bit(bits: np.ndarray, c: int) -> np.ndarray:
    """Column c of a packed 0/1 matrix."""
    # ``packbits`` puts the first class into the highest bit.
    return np.asarray((bits[:, c // 8] >> (7 - c % 8)) & 1, dtype=bool)


@dataclass(frozen=True, slots=True)
class PairNeurons:
    """Neurons by how far apart their activation probabilities are for the two classes.

    Attributes:
        least: ``(k,)`` neurons that one of the two activates in at least a tenth of its inputs,
            least separating first.
        most: ``(k,)`` neurons that separate the two most, most separating first.
        names: Neuron -> what to call it, for both lists: layer and number within it.
    """

    least: np.ndarray
    most: np.ndarray
    names: dict[int, str]


def pair_neurons(result: DeepInspectResult, a: int, b: int, count: int = 10) -> PairNeurons:
    """The neurons that separate classes a and b least and most; empty while ``rho`` is not kept."""
    first, second = (result.rho[:, c].astype(np.float32) for c in (a, b))
    difference = np.nan_to_num(np.abs(first - second), nan=0.0)
    order = np.argsort(-difference, kind="stable")
    # A neuron that is silent for both separates nothing and says nothing.
    active = np.flatnonzero(np.maximum(first, second) >= 0.1)
    least, most = active[np.argsort(difference[active], kind="stable")][:count], order[:count]
    return PairNeurons(least, most, {int(j): neuron_name(result, int(j)) for j in (*least, *most)})


def neuron_name(result: DeepInspectResult, neuron: int) -> str:
    """``features.3 #12``: the layer of a neuron and its number in it."""
    ends = np.cumsum(result.layer_sizes)
    layer = int(np.searchsorted(ends, neuron, side="right"))
    return f"{result.layers[layer]} #{neuron - (int(ends[layer - 1]) if layer else 0)}"


#: How the classes of a matrix are ordered: near ones side by side, by name, or the worst first.
Order = Literal["likeness", "name", "worst"]


def class_order(result: DeepInspectResult, order: Order) -> np.ndarray:
    """An order ``(m,)`` of the classes.

    Near classes come side by side only after all inputs are counted, since rows would jump. The
    worst are those with the surest errors; without labels, those with the nearest other class.
    """
    names = [name.casefold() for name in result.classes]
    if order == "name":
        return np.array(sorted(range(len(names)), key=names.__getitem__))
    if order == "likeness":
        if result.complete:
            return clustered(result.napvd)
        return np.arange(len(names))
    errors = errors_of(result)
    if errors is not None:
        return errors.order
    distance = np.where(np.eye(len(names), dtype=bool), np.nan, result.napvd)
    # Without labels the worst is the class with the nearest neighbour.
    nearest = np.where(np.isfinite(distance), distance, np.inf).min(1)
    return np.argsort(nearest, kind="stable")


def with_limit(result: DeepInspectResult, limit: float) -> DeepInspectResult:
    """The result with another limit for the distance, and the pairs below it."""
    places = pair_places(np.isfinite(result.napvd))
    distance = result.napvd[places[:, 0], places[:, 1]]
    order = np.argsort(distance, kind="stable")
    below = places[order[distance[order] < limit]]
    return dataclasses.replace(result, confusion_limit=limit, confusion_pairs=below)


def clustered(distance: np.ndarray) -> np.ndarray:
    """An order ``(m,)`` of the classes that puts near ones side by side; unknown classes come last.

    Average linkage with optimal leaf order up to 500 classes, without it up to 2,000, else by the
    first principal axis.
    """
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    off = np.isfinite(distance)
    np.fill_diagonal(off, False)
    known, rest = np.flatnonzero(off.any(1)), np.flatnonzero(~off.any(1))
    # Two classes have one order only.
    if len(known) < 3:
        return np.concatenate([known, rest])
    d = distance[np.ix_(known, known)].astype(np.float64)
    if len(known) > _MOST_CLUSTERED:
        return np.concatenate([known[_principal_order(d)], rest])
    # Symmetric with zeros on the diagonal by construction, so scipy need not check it.
    condensed = squareform(d, checks=False)
    # Ordering the leaves takes far longer than the tree; beyond 500
    # classes the plain order must do.
    tree = hierarchy.linkage(condensed, "average", optimal_ordering=len(known) <= 500)
    return np.concatenate([known[hierarchy.leaves_list(tree)], rest])


def _principal_order(d: np.ndarray) -> np.ndarray:
    # Classical scaling: the doubly centred squared distances are -2 times the Gram matrix of the
    # points, so both have the same principal axis, up to its sign.
    squares = d**2
    centred = squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()
    # Power iteration from a fixed start; an order for the eye needs no converged eigenvector.
    axis = np.random.default_rng(0).standard_normal(len(d))
    for _ in range(50):
        axis = centred @ axis
        axis /= max(float(np.linalg.norm(axis)), 1e-300)
    return np.argsort(axis, kind="stable")
