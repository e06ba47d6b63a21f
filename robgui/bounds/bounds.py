"""CROWN bounds (the same as DeepPoly's): linear lower bounds of the scores over a box of inputs.

Zhang et al., "Efficient neural network robustness certification with general activation functions"
(2018), and Singh et al., "An abstract domain for certifying neural networks" (2019). Interval
arithmetic comes first and is never dropped: every bound is the better of the two, and only numbers
whose sign intervals leave open are bounded again.

The model rounds after every operation. Its results differ from the exact ones by an unknown error
of known size (``rounding``), which is bounded like one more input. The bounds therefore hold for
what the model computes in single precision, whatever the order of its sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.bounds.network import (
    Affine,
    Network,
    Operation,
    Relu,
    Steps,
    WindowMaximum,
    doubled,
)
from robgui.bounds.relaxation import (
    Owners,
    Relaxation,
    backsubstitute,
    backsubstitute_affine,
    interval,
    relax,
    undecided,
)
from robgui.bounds.rounding import LARGEST, roundings
from robgui.core.devices import to_device, to_host

#: Numbers held at once for the bounds of a chunk of inputs (128 MB in double precision).
HELD = 16_000_000
#: Numbers in the rows of coefficients pulled back together: few enough to stay near the processor
#: (of 120,000 to a million, the fastest on a small CNN) and to let a run be stopped soon.
HELD_ROWS = 250_000
#: Work on the bounds of one layer, in coefficients pulled back per input (about a second); beyond
#: it the least sure numbers are bounded by lines and intervals have to do for the rest.
MOST_WORK = 60_000_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """What holds for n boxes of inputs.

    Attributes:
        lower: ``(n, m)`` lower bounds of the weighted scores.
        scores_low: ``(n, scores)`` lower bounds of the scores.
        scores_high: Upper bounds.
    """

    lower: Tensor
    scores_low: Tensor
    scores_high: Tensor


def bounds_of(
    network: Network,
    low: Tensor,
    high: Tensor,
    weights: Tensor,
    *,
    refine: bool = True,
) -> Steps[Bounds]:
    """Lower bounds ``(n, m)`` of ``weights``·scores over boxes of inputs; yields between pieces.

    Args:
        network: What computes the scores.
        low: Lower corners ``(n, *shape)``.
        high: Upper corners.
        weights: Coefficients of the scores ``(n, m, scores)``.
        refine: Bounds by lines what intervals leave open in between; points do not need it.
    """
    numbers = sum(math.prod(shape) for shape in network.shapes)
    # Five arrays per value stay alive: both ends, the rounding error, and the two slopes of a
    # relaxation.
    size = max(1, HELD // (5 * numbers))
    given = (torch.split(doubled(each, network.device), size) for each in (low, high, weights))
    parts = []
    for a, b, w in zip(*given, strict=True):
        parts.append((yield from Chunk(network, a, b, refine=refine).bounds(w)))
    fields = (torch.cat(each) for each in zip(*parts, strict=True))
    return Bounds(*fields)


class Chunk:
    """Bounds of every value of the network for a few inputs at once."""

    def __init__(self, network: Network, low: Tensor, high: Tensor, *, refine: bool) -> None:
        self._network = network
        self._refines = refine
        self._low: list[Tensor] = [low]
        self._high: list[Tensor] = [high]
        self._rounding: list[Tensor | None] = [None]
        self._centre, self._radius = (
            (self._low[0] + self._high[0]) / 2,
            (self._high[0] - self._low[0]) / 2,
        )
        self._relaxed: dict[int, Relaxation] = {}
        # How exact the intervals are at each place, which decides whether lines can improve them.
        # 2: some input reaches any corner of the box; 1: each number's own interval is exact, but
        # not all ends at once; 0: neither. The box of inputs itself is 2, and a map that mixes
        # numbers costs one level.
        self._exact = [2]

    def bounds(self, weights: Tensor) -> Steps[tuple[Tensor, Tensor, Tensor]]:
        """Bounds of weights ``(n, m, scores)`` times the scores, and of the scores by themselves.

        Yields after every few rows pulled back.
        """
        # Forwards once: the lines of a layer need the bounds of everything before it.
        for operation in self._network.operations:
            yield from self._advance(operation)
        place = self._network.output
        plain = (
            weights.clamp_min(0) @ self._low[place][..., None]
            + weights.clamp_max(0) @ self._high[place][..., None]
        )[..., 0]
        owners = torch.arange(len(weights), device=weights.device).repeat_interleave(
            weights.shape[1]
        )
        limit = self._rows(place)
        # A few rows at a time, so that a stop is heard between them.
        pieces = zip(
            torch.split(weights.flatten(0, 1), limit), torch.split(owners, limit), strict=True
        )
        lines = []
        for piece in pieces:
            lines.append(self.pull(place, *piece))
            yield
        lower = torch.maximum(plain, torch.cat(lines).reshape(plain.shape))
        return self._finite(lower), self._low[place], self._high[place]

    def _finite(self, lower: Tensor) -> Tensor:
        """-inf where the model may overflow: an infinity or NaN inside it voids every bound."""
        ends = (torch.maximum(-a, b).flatten(1) for a, b in zip(self._low, self._high, strict=True))
        largest = torch.stack([each.amax(1) for each in ends]).amax(0)
        # Anywhere in the network: infinity minus infinity later on
        # would be NaN, which bounds nothing.
        return torch.where((largest < LARGEST)[:, None], lower, -torch.inf)

    def _advance(self, operation: Operation) -> Iterator[None]:
        if not isinstance(operation, Affine):
            place = operation.inputs[0]
            yield from self._refine(place, operation)
            # After the refinement: the lines of a relaxation are as good
            # as the bounds they are drawn from.
            self._relaxed[len(self._low)] = relax(operation, self._low[place], self._high[place])
        lows, highs = ([ends[p] for p in operation.inputs] for ends in (self._low, self._high))
        low, high = interval(operation, lows, highs)
        error = roundings(operation, lows, highs)
        # Outwards by the rounding, so the ends hold for the number that the model computes.
        self._low.append(low if error is None else low - error)
        self._high.append(high if error is None else high + error)
        self._rounding.append(error)
        # Two inputs of a sum may depend on the same numbers, which
        # intervals cannot see: exactness ends.
        exact = min(self._exact[p] for p in operation.inputs)
        self._exact.append(
            exact - operation.mixes
            if isinstance(operation, Affine) and len(operation.inputs) == 1
            else 0
        )

    def _refine(self, place: int, operation: Relu | WindowMaximum) -> Iterator[None]:
        """Bounds again, by lines, what intervals leave open at ``place``."""
        # After a ReLU the signs are known, and its own input has been refined already.
        by_itself = isinstance(self._network.operations[place - 1], Relu)
        if not self._refines or self._exact[place] > 0 or by_itself:
            return
        low, high = self._low[place], self._high[place]
        before = sum(math.prod(shape) for shape in self._network.shapes[: place + 1])
        chosen = _least_sure(
            undecided(operation, low, high), low, high, max(1, MOST_WORK // before)
        )
        (open_ones,) = to_host(chosen)
        better = [low.flatten(1).clone(), high.flatten(1).clone()]
        # One input at a time: all its rows share its lines without copying them.
        for owner in range(len(low)):
            places = torch.from_numpy(np.flatnonzero(open_ones[owner]))
            for numbers in torch.split(to_device(places, low.device), self._rows(place)):
                one = torch.zeros(
                    (len(numbers), chosen.shape[1]), dtype=low.dtype, device=low.device
                )
                one = one.scatter_(1, numbers[:, None], 1.0).reshape(
                    len(numbers), *self._network.shapes[place]
                )
                whose = slice(owner, owner + 1)
                # Never worse than the interval, whatever the lines give.
                better[0][owner, numbers] = torch.maximum(
                    better[0][owner, numbers], self.pull(place, one, whose)
                )
                yield
                better[1][owner, numbers] = torch.minimum(
                    better[1][owner, numbers], -self.pull(place, -one, whose)
                )
                yield
        self._low[place], self._high[place] = (each.reshape(low.shape) for each in better)

    def _rows(self, place: int) -> int:
        """How many rows of coefficients may be pulled back together from ``place``."""
        return max(
            1, HELD_ROWS // max(math.prod(shape) for shape in self._network.shapes[: place + 1])
        )

    def pull(self, place: int, rows: Tensor, owners: Owners) -> Tensor:
        """Lower bounds ``(r,)`` of rows ``(r, *shape)`` times the value at ``place``.

        CROWN's backward pass (Zhang et al., 2018, Theorem 3.2): coefficients on a value become
        coefficients on what it was computed from, until only the input is left. Row i belongs to
        input owners[i].
        """
        # Coefficients by place. A place with two users (a skip connection) collects both before its
        # turn comes, because operations are visited from last to first.
        waiting = {place: rows}
        total = torch.zeros(len(rows), dtype=rows.dtype, device=rows.device)
        for here in range(place, 0, -1):
            if here not in waiting:
                continue
            coefficients, operation = waiting.pop(here), self._network.operations[here - 1]
            error = self._rounding[here]
            if error is not None:
                # The model rounds here: its value may be off either way, and a lower bound takes
                # the worse.
                total -= (coefficients.flatten(1).abs() * error.flatten(1)[owners]).sum(1)
            if isinstance(operation, Affine):
                total += (coefficients * operation.offset).flatten(1).sum(1)
                pulled = backsubstitute_affine(
                    operation, coefficients, [self._network.shapes[p] for p in operation.inputs]
                )
            else:
                below, constant = backsubstitute(
                    operation,
                    coefficients,
                    self._relaxed[here],
                    owners,
                    self._network.shapes[operation.inputs[0]],
                )
                total += constant
                pulled = [below]
            for source, part in zip(operation.inputs, pulled, strict=True):
                if source in waiting:
                    waiting[source] = waiting[source] + part
                else:
                    waiting[source] = part
        if 0 in waiting:
            # The least value of a linear function on a box: at its centre less |c| times the
            # radius.
            last = waiting[0].flatten(1)
            total += (last * self._centre.flatten(1)[owners]).sum(1) - (
                last.abs() * self._radius.flatten(1)[owners]
            ).sum(1)
        return total


def _least_sure(wanted: Tensor, low: Tensor, high: Tensor, most: int) -> Tensor:
    """Flags ``(n, numbers)``: the undecided numbers with the widest bounds, about ``most`` each."""
    width = torch.where(wanted, (high - low), 0.0).flatten(1)
    chosen = width > 0
    if most < width.shape[1]:
        # Ties at the limit are all kept, hence "about".
        chosen &= width >= width.kthvalue(width.shape[1] - most + 1, dim=1, keepdim=True).values
    return chosen
