"""The growth step: all regions of all starts and methods move, from one batch of points.

``ask`` gives the points whose scores the next step needs and ``tell`` takes the scores, so the
caller decides how they are computed: in one call, in batches, with pauses between them. The few
numbers of the regions themselves stay on the host: a GPU would spend more time on launching the
many small operations than on the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.semantic.regions import directions
from robgui.analyses.semantic.regions.domain import Domain
from robgui.analyses.semantic.regions.params import METHODS, GrowMethod
from robgui.analyses.semantic.regions.quadrature import Nodes
from robgui.analyses.semantic.regions.rules import Rules
from robgui.core.devices import to_host
from robgui.core.errors import ParamsError

#: With the default preset no region grows from a start with a lower score: there is nothing around
#: it to find.
WEAKEST = 0.1
#: A region is at rest when none of its bounds moves by this share of the step size.
REST = 0.02
#: A region has not grown if no side is longer than this multiple of its first length.
GREW = 1.5
#: Half the distance between the two points of a difference, as a share of the range (1.8 degrees of
#: a full turn).
_DIFFERENCE = 0.005


@dataclass(frozen=True, slots=True)
class QueryPoints:
    """Points of the next step in the units of the axes.

    ``points (m, n)`` need a score, ``sloped (k, n)`` a gradient too.
    """

    points: Tensor
    sloped: Tensor


class Grower:
    """R regions, one for each start and method, in n dimensions.

    Inside, lengths are shares of the ranges (preset default) or in the units of the axes (preset
    paper).

    Attributes:
        method: ``(R,)`` name of the method of each region.
        number: ``(R,)`` place of its start among the starts.
        start: ``(R, n)`` that start, in the units of the axes.
        started: ``(R,)`` score at its start.
        able: ``(R,)`` bool, those that are let grow.
        growing: ``(R,)`` bool, those still on their way.
        converged: ``(R,)`` bool, those at rest.
        steps: Steps done.
        trace: After each step the bounds ``(R, 2, n)`` in the units of the axes, first those at the
            start.
        losses: For each step the loss ``(R,)`` it began with; nan for a region that has come to
            rest. In the preset paper the published sum over corners; in the preset default followed
            along the path by its derivatives, which see whole faces where such a sum would see the
            edges only.

    Args:
        starts: ``(P, n)``; points are asked for on the same device.
        scores: ``(P,)`` the score at each start.
        low: ``(n,)`` where the ranges begin.
        high: ``(n,)`` where they end.
        periodic: ``(n,)`` which ranges lead back to their beginning.
        methods: Each start grows once with each of them.
        rules: How.
        able: ``(P,)`` bool, which starts are let grow; all by default.
    """

    def __init__(
        self,
        starts: Tensor,
        scores: Tensor,
        low: Tensor,
        high: Tensor,
        periodic: Sequence[bool],
        methods: Sequence[GrowMethod] = METHODS,
        rules: Rules = Rules(),
        able: Tensor | None = None,
    ) -> None:
        n = starts.shape[1]
        if "oir_w" in methods and rules.beta >= 2 / (2 * n - 1):
            raise ParamsError(
                f"beta = {rules.beta:g} must be below 2/(2n - 1) = {2 / (2 * n - 1):.3g} for {n}"
                " parameters; make it smaller."
            )
        self._rules, self._device = rules, starts.device
        self._normal = rules.preset == "default"
        self._nodes = Nodes.surface(n, rules.nodes)
        floor, ceiling, places, sure = _arrays(low, high, starts, scores)
        self._domain = Domain.of(floor, ceiling, periodic, shares=self._normal, clip=rules.clip)
        self.number = np.repeat(np.arange(len(starts)), len(methods))
        self.method: tuple[GrowMethod, ...] = tuple(methods) * len(starts)
        self.start, self.started = places[self.number], sure[self.number]
        self._seed = self._domain.measured(self.start)
        self._rows = [
            np.array([i for i, own in enumerate(self.method) if own == method], dtype=np.int64)
            for method in METHODS
        ]
        if able is None:
            self.able = np.ones(len(self.method), dtype=bool)
        else:
            self.able = able.cpu().numpy().astype(bool)[self.number]
        if self._normal:
            self.able &= self.started >= WEAKEST
        self.growing, self.converged = self.able.copy(), ~self.able
        self._a, self._b = self._held(
            self._seed - rules.epsilon, self._seed + rules.epsilon, self._seed
        )
        # r = b - a; Algorithms 1 and 2 print it the other way round.
        self._first = self._b - self._a
        self._eta = np.full((len(self.method), 2, n), rules.eta)
        self._last = np.zeros_like(self._eta)
        self._loss = np.full(len(self.method), np.nan)
        self.steps = 0
        self.trace = [self.bounds]
        self.losses: list[np.ndarray] = []

    @property
    def done(self) -> bool:
        """Whether all regions are at rest or all steps are done."""
        return self.steps >= self._rules.iterations or not self.growing.any()

    @property
    def bounds(self) -> np.ndarray:
        """Bounds ``(R, 2, n)`` in the units of the axes."""
        return self._domain.in_units(np.stack([self._a, self._b], 1))

    @property
    def volume(self) -> np.ndarray:
        """Share ``(R,)`` of the whole range that each region fills."""
        return self._domain.share(self._a, self._b)

    @property
    def hit_domain(self) -> np.ndarray:
        """Whether ``(R,)`` a bound has reached the end of its range, or a region wraps around."""
        return np.asarray(self.able & self._domain.reached(self._a, self._b))

    @property
    def never_grew(self) -> np.ndarray:
        """Whether ``(R,)`` no side is longer than at the start."""
        return np.asarray(((self._b - self._a) <= GREW * self._first).all(1))

    def ask(self) -> QueryPoints:
        """The points that the next step needs."""
        rows = [part[self.growing[part]] for part in self._rows]
        self._counts, self._order = [len(part) for part in rows], np.concatenate(rows)
        inner = self._box(self._order, 0.0)
        outer = self._box(rows[1], self._rules.alpha)
        # OIR_W needs slopes at its nodes, which come last.
        whites = len(inner) - self._counts[2]
        if self._rules.autograd:
            return QueryPoints(self._points(inner[:whites], outer), self._points(inner[whites:]))
        pairs, self._reach = self._pairs(rows[2], inner[whites:])
        return QueryPoints(self._points(inner, outer, pairs), self._points(inner[:0]))

    def tell(
        self, scores: Tensor, sloped_scores: Tensor | None = None, gradients: Tensor | None = None
    ) -> None:
        """Moves every bound, given ``scores (m,)`` of the points asked for.

        With autograd, also scores and gradients of the sloped ones.
        """
        size, (naives, blacks, _) = len(self._nodes.unit), self._counts
        # The sloped points are the last of the inner nodes.
        if sloped_scores is not None and gradients is not None:
            values, sloped, steepness = _arrays(scores, sloped_scores, gradients)
            inner = np.concatenate([values[: (naives + blacks) * size], sloped])
            outer = values[(naives + blacks) * size :]
            slopes = self._gradient_slopes(steepness)
        else:
            (values,) = _arrays(scores)
            inner, outer, pairs = np.split(
                values, [len(self._order) * size, (len(self._order) + blacks) * size]
            )
            pairs = pairs.reshape(-1, size, 2)
            # Central differences along the ray from the centre.
            slopes = (pairs[..., 0] - pairs[..., 1]) / (2 * self._reach)
        self._move(inner.reshape(-1, size), outer.reshape(-1, size), slopes)

    def _box(self, rows: np.ndarray, margin: float) -> np.ndarray:
        """Nodes ``(len(rows), N, n)`` on the regions, enlarged by ``margin`` of each side."""
        centre, half = (
            (self._a[rows] + self._b[rows]) / 2,
            (self._b[rows] - self._a[rows]) / 2 * (1 + margin),
        )
        return np.asarray(centre[:, None] + half[:, None] * (2 * self._nodes.unit - 1))

    def _pairs(self, rows: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Two points ``(k, N, 2, n)`` on each node's ray from the centre, and half their distance.

        The distance is in units of the node's distance.
        """
        domain, centre = self._domain, ((self._a[rows] + self._b[rows]) / 2)[:, None]
        away = nodes - centre
        reach = _DIFFERENCE / np.maximum(np.linalg.norm(away / domain.width, axis=2), 1e-12)
        edge = np.where(away > 0, domain.ceiling, domain.floor)
        # A periodic axis has no edge, and without clipping no edge
        # counts; the 1 below only keeps 0 out of the divisor.
        still = (away == 0) | domain.wraps | (not domain.clip)
        free = np.where(still, np.inf, (edge - centre) / np.where(still, 1.0, away)).min(2)
        # Drawn back where the outer point would leave the range: the pair keeps its
        # distance and becomes one-sided.
        far = np.minimum(1 + reach, np.maximum(free, 1))
        return (
            centre[:, :, None] + np.stack([far, far - 2 * reach], 2)[..., None] * away[:, :, None],
            reach,
        )

    def _points(self, *parts: np.ndarray) -> Tensor:
        """Points in the units of the axes, brought into range, as one tensor ``(m, n)``."""
        points = np.concatenate([part.reshape(-1, part.shape[-1]) for part in parts])
        return torch.from_numpy(self._domain.in_units(self._domain.wrapped(points))).to(
            self._device
        )

    def _gradient_slopes(self, gradients: np.ndarray) -> np.ndarray:
        rows = self._order[len(self._order) - self._counts[2] :]
        away = self._domain.unit * (
            self._box(rows, 0.0) - ((self._a[rows] + self._b[rows]) / 2)[:, None]
        )
        return np.asarray((gradients.reshape(away.shape) * away).sum(2))

    def _move(self, inner: np.ndarray, outer: np.ndarray, slopes: np.ndarray) -> None:
        """One step of descent of every region in ``self._order``."""
        rows = self._order
        a, b = self._a[rows], self._b[rows]
        # Algorithms 1 and 2 step by η times the derivative, which carries the area of a face: in
        # degrees a flat region grows without end and one of three parameters never starts. So the
        # preset default divides the area out, and takes half the score at the start as the level at
        # which to stop.
        areas = _areas(b - a)
        if self._normal:
            level = self.started[rows] / 2
        else:
            level = np.zeros(len(rows))
        by_area, loss = self._derivatives(
            inner - level[:, None], outer, slopes, b - a, areas, level
        )
        if self._normal:
            loss = np.where(np.isnan(self._loss[rows]), loss, self._loss[rows])
        # Regions at rest have no loss of this step.
        self.losses.append(np.full(len(self.method), np.nan))
        self.losses[-1][rows] = loss
        if self._normal:
            stride = self._strides(rows, by_area, level)
        else:
            stride = self._rules.eta * by_area * areas[:, None]
        wanted = np.stack([a, b], 1) - stride
        # A score that is not finite moves nothing instead of losing the region.
        wanted = np.where(
            np.isfinite(wanted).all((1, 2), keepdims=True), wanted, np.stack([a, b], 1)
        )
        new_a, new_b = self._held(wanted[:, 0], wanted[:, 1], self._seed[rows])
        moved = np.stack([new_a - a, new_b - b], 1)
        resting = np.abs(moved).max((1, 2)) < REST * self._rules.eta
        self._a[rows], self._b[rows], self.converged[rows] = new_a, new_b, resting
        if self._normal:
            # Trapezoid along the step: the face grows while it moves.
            between = (areas + _areas(new_b - new_a)) / 2
            self._loss[rows] = loss + (by_area * between[:, None] * moved).sum((1, 2))
            self.growing[rows] = ~resting
        self.steps += 1
        self.trace.append(self.bounds)

    def _strides(self, rows: np.ndarray, by_area: np.ndarray, level: np.ndarray) -> np.ndarray:
        """How far to move each bound ``(A, 2, n)``.

        Against the derivative, at most a step, half as far after each change of direction. Divided
        by the stop level, so a start that is twice as sure grows no faster.
        """
        downhill = (by_area / np.maximum(level, 1e-12)[:, None, None]).clip(-1, 1)
        eta = np.where(downhill * self._last[rows] < 0, self._eta[rows] / 2, self._eta[rows])
        self._eta[rows], self._last[rows] = eta, downhill
        return np.asarray(eta * downhill)

    def _derivatives(
        self,
        inner: np.ndarray,
        outer: np.ndarray,
        slopes: np.ndarray,
        sides: np.ndarray,
        areas: np.ndarray,
        level: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives ``(A, 2, n)`` of the loss by both bounds, per face area; the loss ``(A,)``.

        Scores are taken minus the stop level.
        """
        rules, nodes = self._rules, self._nodes
        naives, blacks, _ = self._counts
        naive, black, white = (
            slice(0, naives),
            slice(naives, naives + blacks),
            slice(naives + blacks, None),
        )
        lower, upper = nodes.faces(inner)
        mean = inner @ nodes.weight
        q = outer - level[black, None]
        lam = 0.0 if self._normal else rules.lam
        pairs = (
            directions.naive(lower[naive], upper[naive], sides[naive], areas[naive], lam),
            directions.oir_b(lower[black], upper[black], *nodes.faces(q), rules.alpha),
            directions.oir_w(lower[white], upper[white], *nodes.faces(slopes), rules.beta),
        )
        losses = (
            directions.naive_loss(mean[naive], sides[naive], lam),
            directions.oir_b_loss(mean[black], q @ nodes.weight, sides[black], rules.alpha),
            directions.oir_w_loss(
                mean[white], lower[white], upper[white], sides[white], rules.beta
            ),
        )
        return np.stack(
            [np.concatenate([pair[end] for pair in pairs]) for end in (0, 1)], 1
        ), np.concatenate(losses)

    def _held(
        self, a: np.ndarray, b: np.ndarray, seed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds kept in range, at most one period wide, and around their start."""
        if self._normal:
            a, b = np.minimum(a, seed), np.maximum(b, seed)
        return self._domain.held(a, b)


def _areas(sides: np.ndarray) -> np.ndarray:
    """Area ``(A, n)`` of the face across each axis: the product of the other sides."""
    return np.stack([np.delete(sides, k, 1).prod(1) for k in range(sides.shape[1])], 1)


def _arrays(*values: Tensor) -> tuple[np.ndarray, ...]:
    return tuple(each.astype(np.float64) for each in to_host(*values))
