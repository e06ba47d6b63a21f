"""True confusion and disparity by the labels (Section 4.2), and how rankings find them (4.3)."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from robgui.analyses.deepinspect.counting.kernels import (
    Array,
    answer,
    as_tensor,
    finish,
    known_classes,
)
from robgui.analyses.deepinspect.pairs import beyond, pair_places, top_share
from robgui.analyses.deepinspect.result import Quality

#: Fewest images that say anything about a direction of type 2 confusion.
#: With fewer, one image moves the share by more than a tenth.
FEWEST = 10
#: Entries of a disparity sum processed between two yields.
PORTION = 100_000_000
#: Most points of a curve kept for drawing.
_POINTS = 501


def type1conf(y: Any, yhat: Any, m: int) -> np.ndarray:
    """True confusion of a single-label model: mean of P(pred b | true a) and P(pred a | true b).

    Args:
        y: ``(n,)`` true classes, -1 for unknown.
        yhat: ``(n,)`` predicted classes.
        m: Number of classes.

    Returns:
        ``(m, m)``, 0 on the diagonal. A class without images leaves the other direction alone; nan
        without either.
    """
    true, predicted = (np.asarray(as_tensor(values).cpu(), dtype=np.int64) for values in (y, yhat))
    known = (true >= 0) & (predicted >= 0)
    table = (
        # One number per cell of the confusion table, so one pass counts all of it.
        np.bincount(true[known] * m + predicted[known], minlength=m * m)
        .reshape(m, m)
        .astype(np.float64)
    )
    # Section 4.2.1: each row becomes P(predicted | true), and the two directions are averaged.
    images = table.sum(1, keepdims=True)
    return _both_directions(np.where(images > 0, table / np.maximum(images, 1), np.nan))


def type2conf(Y: Any, P: Any, fewest: int = FEWEST) -> np.ndarray:
    """True confusion of a multi-label model.

    Mean of P(a and b predicted | a true, b not) and the reverse.

    Args:
        Y: ``(n, m)`` 0 or 1, the true classes.
        P: ``(n, m)`` 0 or 1, the predicted classes.
        fewest: A direction with fewer images is not known and leaves the other alone.

    Returns:
        ``(m, m)``, 0 on the diagonal, nan where neither direction is known.
    """
    tally = Type2Tally(as_tensor(Y).shape[1], as_tensor(Y).device)
    tally.add(as_tensor(Y), as_tensor(P))
    return tally.conf(fewest)


class Type2Tally:
    """Counts for type 2 confusion, added up batch by batch; ``(m, m)`` each."""

    def __init__(self, classes: int, device: torch.device) -> None:
        self._wrong = torch.zeros((classes, classes), device=device)
        self._images = torch.zeros((classes, classes), device=device)

    def add(self, true: Tensor, predicted: Tensor) -> None:
        """Adds a batch of 0/1 rows ``(n, m)``."""
        is_true, is_predicted = true.bool(), predicted.bool()
        # Section 4.2.1, type 2: a is there and seen; b is not there and seen all the same.
        self._wrong += (is_true & is_predicted).float().T @ (~is_true & is_predicted).float()
        # How often the pair could be confused at all: a is there and b is not.
        self._images += is_true.float().T @ (~is_true).float()

    def counts(self) -> np.ndarray:
        """All counts so far ``(2, m, m)``, on the host."""
        return torch.stack([self._wrong, self._images]).cpu().numpy()

    def absorb(self, counts: np.ndarray) -> None:
        """Adds the counts of another tally."""
        wrong, images = torch.from_numpy(counts).to(self._wrong.device)
        self._wrong += wrong
        self._images += images

    def conf(self, fewest: int = FEWEST) -> np.ndarray:
        """True confusion of all batches so far."""
        wrong, images = (counts.double().cpu().numpy() for counts in (self._wrong, self._images))
        return _both_directions(
            np.where(images >= max(1, fewest), wrong / np.maximum(images, 1), np.nan)
        )


def _both_directions(directed: np.ndarray) -> np.ndarray:
    """Mean of a matrix and its transpose; where one of the two is nan, the other."""
    known = np.isfinite(directed)
    count = known.astype(np.float64) + known.T
    total = np.where(known, directed, 0)
    # A direction that is unknown leaves the other alone instead of halving it.
    conf = np.where(count > 0, (total + total.T) / np.maximum(count, 1), np.nan)
    np.fill_diagonal(conf, 0)
    return conf


def avg_cd(conf: Array) -> Array:
    """Average confusion disparity: mean of abs(conf(x, z) - conf(y, z)) over third classes z.

    Args:
        conf: ``(m, m)``, symmetric; a third class where conf is nan is left out of the mean.

    Returns:
        ``(m, m)`` float64, symmetric, 0 on the diagonal, nan where there is no third class.
    """
    return answer(finish(avg_cd_rounds(as_tensor(conf))), conf)


def avg_cd_rounds(conf: Tensor) -> Generator[None, None, Tensor]:
    """``avg_cd`` in portions."""
    known = known_classes(conf)
    places = known.nonzero()[:, 0]
    c = conf[places[:, None], places].double().fill_diagonal_(0)
    full = torch.full(conf.shape, math.nan, dtype=torch.float64, device=conf.device)
    # Single-label data have no gaps, and sums over all classes are far quicker.
    if bool(torch.isfinite(c).all()):
        average = yield from _disparity(c)
    else:
        average = yield from _disparity_with_gaps(c)
    full[places[:, None], places] = average.fill_diagonal_(0)
    return full


def _disparity(conf: Tensor) -> Generator[None, None, Tensor]:
    """Average disparity of all pairs, from sums over all classes z.

    z = x and z = y contribute conf(x, y) each and are subtracted again.
    """
    m = len(conf)
    total = torch.empty_like(conf)
    for rows in torch.split(torch.arange(m, device=conf.device), max(1, PORTION // max(1, m * m))):
        # The L1 distance of two rows is the sum of |conf(x, z) - conf(y, z)| over z; memory O(m²).
        total[rows] = torch.cdist(conf[rows], conf, p=1)
        yield
    # Section 4.2.2: avg_cd is a mean over the m - 2 third classes.
    if m > 2:
        # z = x and z = y each add conf(x, y), which is not a disparity.
        average = total.sub_(conf, alpha=2).clamp_min_(0) / (m - 2)
    else:
        average = torch.full_like(conf, math.nan)
    return average


def _disparity_with_gaps(conf: Tensor) -> Generator[None, None, Tensor]:
    """Means over the third classes known for both, class by class."""
    finite = torch.isfinite(conf).fill_diagonal_(False)
    total, count = torch.zeros_like(conf), torch.zeros_like(conf)
    for z, known in enumerate(finite):
        places = known.nonzero()[:, 0]
        # conf is symmetric, so row z is also its column.
        column = conf[z, places]
        total[places[:, None], places] += torch.sub(column[:, None], column).abs_()
        count[places[:, None], places] += 1
        if (z + 1) % max(1, PORTION // (len(conf) ** 2)) == 0:
            yield
    return torch.where(count > 0, total / count.clamp_min(1), torch.full_like(total, math.nan))


def cost_curve(scores: Any, truth: Any) -> tuple[np.ndarray, np.ndarray]:
    """True errors found against pairs inspected, highest score first, from (0, 0) to (1, 1).

    Pairs of equal score are inspected in random order: between them the curve is straight.
    """
    score, true = _vectors(scores, truth)
    if not true.any():
        return np.array([0.0, 1.0]), np.array([math.nan, math.nan])
    # Most suspicious first (Section 4.3, AUCEC).
    order = np.argsort(-score, kind="stable")
    # The curve has a point only at the end of each group of equal scores.
    ends = np.flatnonzero(np.r_[np.diff(score[order]) != 0, True]) + 1
    found = np.r_[0, np.cumsum(true[order])[ends - 1]] / true.sum()
    return np.r_[0, ends] / len(score), found


def aucec(scores: Any, truth: Any) -> float:
    """Area under the cost-effectiveness curve; a random order gives ½.

    Args:
        scores: ``(n,)``, higher is inspected earlier (so give -NAPVD); of a matrix the entries
            above the diagonal count.
        truth: The same shape, True for a true error.

    Returns:
        The area by trapezoids; nan when nothing is true.
    """
    cost, found = cost_curve(scores, truth)
    return float(np.trapezoid(found, cost))


def _vectors(scores: Any, truth: Any) -> tuple[np.ndarray, np.ndarray]:
    score, true = (np.asarray(as_tensor(values).cpu()) for values in (scores, truth))
    if score.ndim == 2:
        first, second = np.triu_indices(len(score), 1)
        score, true = score[first, second], true[first, second]
    known = np.isfinite(score)
    return score[known].astype(np.float64), true[known].astype(bool)


def quality(
    suspicion: np.ndarray,
    truth: np.ndarray,
    mode: np.ndarray | None,
    cutoff: float,
    top_percent: float,
) -> Quality:
    """Compares a ranking of pairs with the truth.

    Args:
        suspicion: ``(m, m)`` higher is more suspicious; nan for an unknown pair.
        truth: ``(m, m)`` true error, nan where unknown.
        mode: ``(m, m)`` suspicion by the MODE baseline, or None.
        cutoff: A pair beyond mean + ``cutoff`` * std is reported, and is true.
        top_percent: The second cut-off.
    """
    places = pair_places(np.isfinite(suspicion) & np.isfinite(truth))
    # Pairs above the diagonal only: each counts once.
    score, error = (
        matrix[places[:, 0], places[:, 1]].astype(np.float64) for matrix in (suspicion, truth)
    )
    # The same rule for both sides (Section 4.3): reported and true are beyond mean + k std.
    true, _ = beyond(error, cutoff)
    reported, top = beyond(score, cutoff)[0], top_share(score, top_percent)
    if len(score):
        grid = np.linspace(0, 1, min(_POINTS, len(score) + 1))
    else:
        grid = np.array([0.0, 1.0])
    area, found = _drawn(score, true, grid)
    # Ordered by the truth itself: the best any ranking could do.
    best_area, best_found = _drawn(true, true, grid)
    mode_area, mode_found = math.nan, np.full(len(grid), math.nan)
    if mode is not None:
        mode_area, mode_found = _drawn(mode[places[:, 0], places[:, 1]], true, grid)
    spearman, p = rank_correlation(score, error)
    worst = np.flatnonzero(true)
    return Quality(
        pairs=len(score),
        true_pairs=places[worst[np.argsort(-error[worst], kind="stable")]],
        reported=int(reported.sum()),
        hits=int((reported & true).sum()),
        precision=_share(reported & true, reported),
        recall=_share(reported & true, true),
        top_reported=int(top.sum()),
        top_hits=int((top & true).sum()),
        top_precision=_share(top & true, top),
        top_recall=_share(top & true, true),
        aucec=area,
        aucec_mode=mode_area,
        aucec_optimal=best_area,
        # A random order lies on the diagonal, area ½.
        gain_random=area / 0.5 - 1,
        gain_mode=area / mode_area - 1 if mode_area > 0 else math.nan,
        cost=grid,
        found=found,
        found_mode=mode_found,
        found_optimal=best_found,
        spearman=spearman,
        spearman_p=p,
    )


def _drawn(scores: np.ndarray, true: np.ndarray, grid: np.ndarray) -> tuple[float, np.ndarray]:
    """The area under a cost-effectiveness curve, and the curve at the points of a grid."""
    cost, found = cost_curve(scores, true)
    return float(np.trapezoid(found, cost)), np.interp(grid, cost, found)


def rank_correlation(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Spearman's coefficient and its p value.

    Nan when one side is constant or there are fewer than three values.
    """
    # Two points always lie on a line, and a constant has no rank.
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return math.nan, math.nan
    test = stats.spearmanr(first, second)
    return float(test.statistic), float(test.pvalue)


def _share(part: np.ndarray, whole: np.ndarray) -> float:
    if whole.any():
        return float(part.sum() / whole.sum())
    return math.nan
