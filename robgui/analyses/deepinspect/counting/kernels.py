"""From activations to distances: rho, NAPVD (equation 2) and average bias (equations 3 and 4).

Every kernel takes numpy arrays or torch tensors and answers in kind. The ``*_rounds`` generators do
the same work in portions of a fraction of a second, so an engine can be stopped in between.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.deepinspect.params import Filter, Norm
from robgui.core.devices import to_device, to_host
from robgui.core.model.randomness import HOST

R = TypeVar("R")
Array = np.ndarray | Tensor

#: Most classes for which everything is computed in double precision.
#: Few classes cost little, and near-identical columns lose their digits in single precision.
EXACT_CLASSES = 200
#: A squared distance below this share of the two squared norms has lost digits in the Gram product
#: and is recomputed.
#: Single-precision products are good to about 1e-6 of the norms: at 1e-3 three digits are left.
_CLOSE = 1e-3
#: Most pairs recomputed; more are close only if nothing can be told apart anyway.
_MOST_CLOSE = 20_000
#: Numbers of rho processed at once.
#: 64 MB in double precision.
PORTION = 8_000_000
#: Entries of the bias triangle processed between two yields.
BIAS_PORTION = 40_000_000


def rho(act: Array, member: Array) -> Array:
    """Share of each class's members that activate each neuron: sum_i act[i, j] member[i, c] / n_c.

    Args:
        act: ``(n, neurons)`` 0 or 1.
        member: ``(n, classes)`` 0 or 1.

    Returns:
        ``(neurons, classes)`` float64, nan for a class without members.
    """
    # Section 3.1. One product of matrices counts all pairs of neuron and class at once.
    active, members = as_tensor(act).float(), as_tensor(member).float()
    # Counts are exact in single precision up to 16 million inputs; only the division needs doubles.
    return answer((active.T @ members).double() / members.double().sum(0), act)


def napvd(rho: Array, norm: Norm = "paper") -> Array:
    """Distance of two classes' activation probabilities, equation (2).

    Args:
        rho: ``(neurons, classes)``; a nan column is a class without members.
        norm: ``rms`` divides by the root of the number of neurons that a or b ever activates.

    Returns:
        ``(classes, classes)`` float64, symmetric, 0 on the diagonal, nan for a class without
        members.
    """
    return answer(finish(napvd_rounds(as_tensor(rho), norm)), rho)


def napvd_rounds(
    rho: Tensor,
    norm: Norm = "paper",
    members: Tensor | None = None,
    here: np.ndarray | None = None,
) -> Generator[None, None, Tensor]:
    """``napvd`` in portions.

    With ``members (classes,)``, ``rho`` holds counts that are divided on the fly; ``here`` says
    which classes have any, if the host knows.
    """
    if here is None:
        (here,) = to_host(torch.isfinite(rho.sum(0)) if members is None else members > 0)
    # Classes without members would turn whole rows into nan: they are left out and filled in at the
    # end.
    places = to_device(torch.from_numpy(np.flatnonzero(here)), rho.device)
    if here.all():
        chosen = rho
    else:
        chosen = rho[:, places]
    if members is None:
        divisor = None
    else:
        # Divided portion by portion: a second matrix of shares would double the memory.
        divisor = members[places].to(torch.float32)
    squares = yield from _squares_rounds(chosen, divisor)
    # Not in equation 2, but in the authors' code, and their tables need it.
    if norm == "rms":
        either = yield from _either_rounds(chosen)
        # Two classes that activate nothing are equal, hence 0 instead of 0/0.
        squares = torch.where(either > 0, squares / either.clamp_min(1), torch.zeros_like(squares))
    full = torch.full(
        (rho.shape[1], rho.shape[1]), math.nan, dtype=torch.float64, device=rho.device
    )
    full[places[:, None], places] = squares.sqrt()
    return full


def _squares_rounds(x: Tensor, divisor: Tensor | None) -> Generator[None, None, Tensor]:
    """Squared distances ``(m, m)`` float64 of the columns of ``x (k, m)``, by Gram products.

    Columns are centred first: that makes the norms small, so their differences keep more digits.
    """
    if x.shape[1] <= EXACT_CLASSES:
        dtype = torch.float64
    else:
        dtype = torch.float32
    # Portions are summed in double precision: single would lose digits over thousands of neurons.
    products = torch.zeros((x.shape[1], x.shape[1]), dtype=torch.float64, device=x.device)
    portions = _portions(x)
    # One buffer for all portions; the first is the longest.
    buffer = torch.empty(portions[0].shape, dtype=dtype, device=x.device)
    for rows in portions:
        centred = buffer[: len(rows)]
        # A copy, since the counts belong to the tally, which goes on adding to them.
        centred.copy_(rows)
        if divisor is not None:
            centred.div_(divisor)
        # Centred per neuron over the classes, which changes no difference of two columns.
        products += _gram(centred.sub_(centred.mean(1, keepdim=True)))
        yield
    norms = products.diagonal().clone()
    sums = norms[:, None] + norms
    # |a - b|² = |a|² + |b|² - 2 a·b; equal columns may come out below 0 by rounding.
    squares = torch.sub(sums, products, alpha=2).clamp_min_(0).fill_diagonal_(0)
    yield from _refine_rounds(x, divisor, squares, sums)
    return squares


def _refine_rounds(
    x: Tensor, divisor: Tensor | None, squares: Tensor, sums: Tensor
) -> Generator[None, None, None]:
    """Replaces the squared distances of nearly equal columns by exact ones."""
    # Where the distance is small beside the norms, the subtraction above has cancelled most digits.
    first, second = torch.triu(squares <= _CLOSE * sums, 1).nonzero(as_tuple=True)
    for start in range(0, min(len(first), _MOST_CLOSE), max(1, PORTION // max(1, len(x)))):
        stop = min(len(first), _MOST_CLOSE, start + max(1, PORTION // max(1, len(x))))
        a, b = first[start:stop], second[start:stop]
        left, right = x[:, a].double(), x[:, b].double()
        if divisor is not None:
            left, right = left / divisor[a], right / divisor[b]
        squares[a, b] = squares[b, a] = (left - right).square().sum(0)
        yield


def _either_rounds(x: Tensor) -> Generator[None, None, Tensor]:
    """Number of neurons ``(m, m)`` that a or b ever activates."""
    both = torch.zeros((x.shape[1], x.shape[1]), dtype=torch.float64, device=x.device)
    for rows in _portions(x):
        # Sums of zeros and ones stay exact in single precision up to 2^24 neurons.
        both += _gram((rows > 0).float())
        yield
    single = both.diagonal()
    # |A or B| = |A| + |B| - |A and B|.
    return single[:, None] + single - both


def _portions(x: Tensor) -> tuple[Tensor, ...]:
    return torch.split(x, max(1, PORTION // max(1, x.shape[1])))


def _gram(rows: Tensor) -> Tensor:
    """Products of all pairs of columns.

    Numpy computes only half of the symmetric matrix, but works on the host alone.
    """
    if rows.device == HOST:
        values = rows.numpy()
        return torch.from_numpy(values.T @ values)
    return rows.T @ rows


def bias(distance: Array, a: int, b: int) -> Array:
    """Bias between classes a and b over every third class ``(classes,)``, equation (3).

    Nan for a, b and unknown classes.
    """
    d = as_tensor(distance).double()
    # Equation 3. Where c is at distance 0 from both, the share is 0/0 and there is no bias.
    difference, total = (d[a] - d[b]).abs(), d[a] + d[b]
    value = torch.where(
        total > 0, difference / total.clamp_min(torch.finfo(torch.float64).tiny), difference * 0
    )
    # Equation 3 speaks of a third class only.
    value[[a, b]] = math.nan
    return answer(value, distance)


def bias_limit(distance: Array, filter: Filter) -> float:  # noqa: A002  (the public name of the setting)
    """A third class counts if it is nearer than this to a or b."""
    values = upper(as_tensor(distance).double())
    values = values[torch.isfinite(values)]
    if filter == "none" or not len(values):
        return math.inf
    # Section 4.3 drops third classes that are far from both. With mean + 1 std, as its text has it,
    # nearly all of them stay; mean - 1 std ranks true bias better on the authors' own data.
    # These are all pairs, not a sample of them, so ddof is 0.
    spread = float(values.std(correction=0))
    return float(values.mean()) + (spread if filter == "paper" else -spread)


def avg_bias(distance: Array, filter: Filter = "low") -> Array:  # noqa: A002
    """Average bias of every pair of classes over all third classes, equation (4).

    Args:
        distance: ``(classes, classes)``; rows and columns of nan are left out.
        filter: Which third classes count: ``low`` those with a distance to a or b below mean - 1
            std of all pairs, ``paper`` below mean + 1 std, ``none`` all. The sum is divided by the
            number of all third classes.

    Returns:
        ``(classes, classes)``, symmetric, 0 on the diagonal, nan where unknown and with fewer than
        three classes.
    """
    return answer(finish(avg_bias_rounds(as_tensor(distance), filter)), distance)


def avg_bias_rounds(distance: Tensor, filter: Filter = "low") -> Generator[None, None, Tensor]:  # noqa: A002
    """``avg_bias`` in portions."""
    classes = len(distance)
    known = known_classes(distance)
    places = known.nonzero()[:, 0]
    full = torch.full((classes, classes), math.nan, dtype=torch.float64, device=distance.device)
    if len(places) < 3:
        return full
    d = distance[places[:, None], places].to(
        torch.float64 if len(places) <= EXACT_CLASSES else torch.float32
    )
    total = yield from _bias_sums(d, bias_limit(distance, filter))
    # Equation 4 divides by |O| - 2, however few third classes the filter has left.
    full[places[:, None], places] = (total + total.T).double() / (len(places) - 2)
    return full.fill_diagonal_(0).masked_fill_(~(known[:, None] & known), math.nan)


def _bias_sums(d: Tensor, limit: float) -> Generator[None, None, Tensor]:
    """Half the sum over third classes.

    Entry (a, b) counts those near a, and those near both with half their weight. The matrix plus
    its transpose is then the sum over the classes near a or b, and only near ones are ever
    computed.
    """
    near = d < limit
    # A class is at distance 0 from itself and is never its own third class.
    near.fill_diagonal_(False)
    total = torch.zeros_like(d)
    tiny = torch.finfo(d.dtype).tiny
    worked = 0
    for c, near_c in enumerate(near):
        # Only rows of classes near c: a far third class contributes nothing, and most are far.
        rows = near_c.nonzero()[:, 0]
        # A third class near both a and b is met from either side: half its weight each time.
        weight = 1 - 0.5 * near_c.to(d.dtype)
        # With b = c the triplet (a, c, c) has no third class.
        weight[c] = 0
        own = d[c, rows][:, None]
        part = torch.sub(own, d[c]).abs_()
        part.div_(torch.add(own, d[c]).clamp_min_(tiny)).mul_(weight)
        total.index_add_(0, rows, part)
        worked += part.numel()
        if worked > BIAS_PORTION:
            worked = 0
            yield
    return total


def known_classes(matrix: Tensor) -> Tensor:
    """Which classes ``(m,)`` have a finite number in their row off the diagonal.

    A class alone counts if it has one on the diagonal.
    """
    finite = torch.isfinite(matrix)
    if len(matrix) > 1:
        # The diagonal is 0 for every class, also for one whose distances are all unknown.
        finite = finite.clone().fill_diagonal_(False)
    return finite.any(1)


def upper(matrix: Tensor) -> Tensor:
    """The entries ``(m (m - 1) / 2,)`` above the diagonal, row by row."""
    # Unordered pairs: each distance counts once in a mean or a spread.
    first, second = torch.triu_indices(len(matrix), len(matrix), 1, device=matrix.device)
    return matrix[first, second]


def finish(rounds: Generator[None, None, R]) -> R:
    """Runs a generator to its end; returns its value."""
    while True:
        try:
            next(rounds)
        except StopIteration as end:
            value: R = end.value
            return value


def as_tensor(values: Any) -> Tensor:
    """A tensor as it is, anything else as a tensor in memory."""
    if isinstance(values, Tensor):
        return values.detach()
    # torch refuses arrays with negative strides, such as a reversed view.
    return torch.from_numpy(np.ascontiguousarray(values))


def answer(value: Tensor, given: Any) -> Array:
    """The value as a tensor when a tensor was given, else as a numpy array."""
    if isinstance(given, Tensor):
        return value
    return value.cpu().numpy()


def worst_thirds(
    distance: np.ndarray, pairs: np.ndarray, which: Filter
) -> tuple[np.ndarray, np.ndarray]:
    """For every pair (a, b), the triplet ``(P, 3)`` of largest bias, and that bias ``(P,)``.

    Among third classes that count; if none does, among all.
    """
    if not len(pairs):
        return np.zeros((0, 3), dtype=np.int64), np.zeros(0)
    first, second = distance[pairs[:, 0]], distance[pairs[:, 1]]
    total = first + second
    value = np.abs(first - second) / np.where(total > 0, total, 1)
    value[np.arange(len(pairs))[:, None], pairs] = np.nan
    limit = bias_limit(distance, which)
    # A class that counts comes before all that do not, whatever their bias.
    # Every bias is at most 1, so 2 puts those that count before all others; -1 is below every bias.
    rank = np.nan_to_num(np.where((first < limit) | (second < limit), value + 2, value), nan=-1.0)
    third = rank.argmax(1)
    return np.column_stack([pairs, third]), value[np.arange(len(pairs)), third]
