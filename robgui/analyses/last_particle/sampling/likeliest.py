"""The likeliest failing latent points, found with gradients, one class after the other.

Among all failing points the one nearest to 0 is the likeliest. The search is that of first-order
reliability (Hasofer and Lind, 1974; Rackwitz and Fiessler, 1978): go to the nearest point of the
plane on which the linearised score is just above 0, linearise again, then pull what fails towards 0
as far as it still fails. It is repeated for every rival, since a class whose score rises first can
hide another one behind it, and from points on opposite sides of 0.
"""

from __future__ import annotations

from collections.abc import Generator

import torch
from torch import Tensor

from robgui.analyses.last_particle.noise.margin import margins
from robgui.analyses.last_particle.noise.priors import Prior
from robgui.analyses.last_particle.particles.kernel import Bound
from robgui.core.model.classifier import Classifier

#: Most rivals searched for: those with the highest scores.
MOST_RIVALS = 16
#: Pairs of opposite random starting points in the search for any rival, and their distance.
_STARTS, _OUT = 3, 1.0
#: The target plane lies this share of the first score above 0.
#: Above, so curvature and rounding do not leave the point short of failing.
_ABOVE = 0.02
#: Limit of each coordinate; a uniform value is at the end of its range there.
#: erf(4.5 / √2) is 1 - 7e-6: a uniform value lies within 7e-6 of the end of its range.
_FARTHEST = 4.5
#: Bisection steps on the way to 0.
_HALVINGS = 12
#: A centre is dropped if another one is likelier by this much in log density, or points nearly the
#: same way; the last number is the most that stay.
#: e^7 is 1,100: less than a thousandth of the density; 0.9 is an angle of 26 degrees.
_LESS_LIKELY, _SAME_WAY, MOST_CENTRES = 7.0, 0.9, 6
#: Noisy copies of a centre over which its score is averaged, and linearisations of that average.
_COPIES, _CENTRINGS = 16, 16


def likeliest(
    classifier: Classifier,
    prior: Prior,
    pair: int,
    own: int,
    start: Tensor | None,
    steps: int,
    seed: int,
    within: float,
) -> Generator[None, None, tuple[Tensor, list[int]]]:
    """Failing latent points ``(k, dim)``, likeliest first, and the rivals searched for.

    Coordinates are in units of their standard deviation.

    Yields after every gradient.

    Args:
        classifier: The model; it must give gradients.
        prior: The noise.
        pair: Which pair of an input and a size.
        own: The right class.
        start: ``(dim,)`` a latent point to start from as well.
        steps: Linearisations.
        seed: Start of the random numbers.
        within: Points further from 0 than this do not count.
    """
    search = _Search(classifier, prior, pair, own, start, seed)
    for _ in range(steps):
        search.step()
        yield
    for _ in range(_HALVINGS):
        search.pull()
        yield
    centring = _Centring(search, *search.centres(within), seed)
    for _ in range(_CENTRINGS if len(centring.points) else 0):
        centring.step()
        yield
    return centring.chosen(), search.rivals


class _Search:
    """All starts at once, one row each.

    Towards each rival from 0, and towards any from elsewhere.
    """

    def __init__(
        self,
        classifier: Classifier,
        prior: Prior,
        pair: int,
        own: int,
        start: Tensor | None,
        seed: int,
    ) -> None:
        device = classifier.device
        self._classifier, self._prior, self._spread = classifier, prior, prior.spread
        self._pair = pair
        zero = torch.zeros((1, prior.dim), device=device)
        one = torch.tensor([pair], device=device)
        # At 0, the input without noise: its scores tell which rivals are near.
        scores = classifier.infer(prior.bind(one, fresh=True)(zero))[0].clone()
        scores[own] = -torch.inf
        self.rivals = scores.argsort(descending=True)[: min(MOST_RIVALS, len(scores) - 1)].tolist()
        source = torch.Generator(torch.device("cpu")).manual_seed(seed)
        random = torch.randn((_STARTS, prior.dim), generator=source, device=source.device)
        random = _OUT * random.to(device)
        # Opposite pairs, because a failure on one side of 0 says nothing about the other.
        starts = [zero.expand(len(self.rivals), -1), random, -random]
        if start is not None:
            starts.append(start[None] / prior.spread)
        self._points = torch.cat(starts)
        count = len(self._points)
        self._any = torch.arange(count, device=device) >= len(self.rivals)
        rival = torch.tensor(self.rivals, device=device)
        self._rival = torch.nn.functional.pad(rival, (0, count - len(rival)))
        self._own = torch.full((count,), own, device=device)
        self._inputs = self.inputs(count)
        self._best = torch.zeros_like(self._points)
        self._nearest = torch.full((count,), torch.inf, device=device)
        self._above: Tensor | None = None
        # Shares of the way to the best point: the inner does not fail, the outer does.
        self._inner, self._outer = torch.zeros_like(self._nearest), torch.ones_like(self._nearest)

    def inputs(self, count: int) -> Bound:
        """``count`` latent points in standard deviations -> inputs, with gradients."""
        pairs = torch.full((count,), self._pair, device=self._classifier.device)
        made = self._prior.bind(pairs, fresh=True)
        return lambda points: made(points * self._spread)

    def step(self) -> None:
        """The nearest point of the plane on which the linearised score is just above 0."""
        rows = torch.arange(len(self._points), device=self._points.device)
        height, slope, fails = self.slopes(self._inputs, self._points, rows)
        self._keep(fails)
        # Set once: a target that moved with the score would never be reached.
        if self._above is None:
            self._above = _ABOVE * height.abs()
        # One step of Hasofer, Lind, Rackwitz and Fiessler: the point of the linearised limit state
        # nearest to the origin.
        self._points = nearest(self._points, slope, height - self._above)

    def slopes(self, inputs: Bound, points: Tensor, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Score and gradient of points that belong to the starts ``rows``, and which fail.

        In batches of the model's own size: gradients take memory.
        """
        size = self._classifier.batch()
        if len(points) <= size:
            return self._slopes_of(inputs, points, rows)
        parts = [
            self._slopes_of(self.inputs(len(points[i : i + size])), points[i : i + size], some)
            for i, some in ((i, rows[i : i + size]) for i in range(0, len(points), size))
        ]
        height, slope, fails = (torch.cat(each) for each in zip(*parts, strict=True))
        return height, slope, fails

    def _slopes_of(
        self, inputs: Bound, points: Tensor, rows: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        own, rival = self._own[rows][:, None], self._rival[rows][:, None]
        with torch.enable_grad():
            leaf = points.detach().clone().requires_grad_(True)
            scores = self._classifier.logits(inputs(leaf))
            margin = margins(scores, own)
            towards = (scores.gather(1, rival) - scores.gather(1, own))[:, 0]
            height = torch.where(self._any[rows], margin, towards)
            (slope,) = torch.autograd.grad(height.sum(), leaf)
        # Whether it fails is judged by the margin against all classes, whichever rival the search
        # follows.
        return height.detach(), slope.detach(), margin.detach() > 0

    def _keep(self, fails: Tensor) -> None:
        """Keeps the failing point nearest to 0 of each row."""
        # |z|²: the log density of N(0, I) is -|z|²/2, so nearer to 0 is likelier.
        length = self._points.square().sum(1)
        better = fails & (length < self._nearest)
        self._nearest = torch.where(better, length, self._nearest)
        self._best = torch.where(better[:, None], self._points, self._best)

    def pull(self) -> None:
        """Bisects between what fails and what does not, on the line to 0."""
        # Twelve halvings: a 4,096th of the distance, far less than the likelihood can notice.
        part = (self._inner + self._outer) / 2
        with torch.inference_mode():
            scores = self._classifier.infer(self._inputs(self._best * part[:, None]))
            fails = margins(scores, self._own[:, None]) > 0
        self._outer = torch.where(fails, part, self._outer)
        self._inner = torch.where(fails, self._inner, part)

    def centres(self, within: float) -> tuple[Tensor, Tensor]:
        """The likeliest distinct failing points, at most MOST_CENTRES, and their starts."""
        # The outer end, which was seen to fail.
        points = self._best * self._outer[:, None]
        rows = (self._nearest.isfinite() & (points.norm(dim=1) <= within)).nonzero()[:, 0]
        points = points[rows]
        points, places = differing(points)
        return points, rows[places]


class _Centring:
    """Moves centres to where about half of the samples around them fail.

    In many dimensions noise around a failing point lowers its score; the same search on the mean
    score of noisy copies finds the likeliest centre whose copies are on the edge of failing.

    Attributes:
        points: ``(k, dim)`` the centres now.
    """

    def __init__(self, search: _Search, points: Tensor, rows: Tensor, seed: int) -> None:
        self._search, self.points = search, points
        source = torch.Generator(torch.device("cpu")).manual_seed(seed + 1)
        half = torch.randn(
            (_COPIES // 2, points.shape[1]), generator=source, device=source.device
        ).to(points.device)
        # Antithetic copies: their mean is exactly the centre.
        self._noise = torch.cat([half, -half])
        self._rows = rows.repeat_interleave(_COPIES)
        self._inputs = search.inputs(len(self._rows))
        self._best, self._off = points, torch.full((len(points),), torch.inf, device=points.device)

    def step(self) -> None:
        """One linearisation of the mean score.

        Takes half of the step, since the score is curved.
        """
        height, slope, share = self._at(self.points)
        better = (share - 0.5).abs() < self._off
        self._off = torch.where(better, (share - 0.5).abs(), self._off)
        self._best = torch.where(better[:, None], self.points, self._best)
        self.points = (self.points + nearest(self.points, slope, height)) / 2

    def _at(self, points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean score, mean gradient and share of failing copies of each centre."""
        copies = (points[:, None] + self._noise).flatten(0, 1)
        height, slope, fails = self._search.slopes(self._inputs, copies, self._rows)
        shape = (len(points), _COPIES)
        return (
            height.reshape(shape).mean(1),
            slope.reshape(*shape, -1).mean(1),
            fails.reshape(shape).to(height.dtype).mean(1),
        )

    def chosen(self) -> Tensor:
        """For every centre, the position with closest to half of its copies failing."""
        if len(self._best):
            return differing(self._best)[0]
        return self._best


def nearest(points: Tensor, slope: Tensor, height: Tensor) -> Tensor:
    """The point nearest to 0 of the plane on which the linearised score is 0 ``(n, dim)``."""
    square = slope.square().sum(1).clamp_min(1e-20)
    # Projection of the origin on {z : slope·(z - point) + height = 0}.
    along = ((slope * points).sum(1) - height) / square
    return (slope * along[:, None]).clamp(-_FARTHEST, _FARTHEST)


def differing(points: Tensor) -> tuple[Tensor, Tensor]:
    """The points nearest to 0 in distinct directions, at most MOST_CENTRES, and their places."""
    here = points.cpu()  # The choice is made on the host.
    order = here.square().sum(1).argsort()
    kept: list[int] = []
    for i in order.tolist():
        # Half the difference of squared norms is the difference in log density.
        less = float(here[i].square().sum() - here[order[0]].square().sum()) / 2 > _LESS_LIKELY
        alike = any(_cosine(here[i], here[j]) > _SAME_WAY for j in kept)
        if not less and not alike and len(kept) < MOST_CENTRES:
            kept.append(i)
    places = torch.tensor(kept, dtype=torch.int64, device=points.device)
    return points[places], places


def _cosine(one: Tensor, other: Tensor) -> float:
    return float(torch.dot(one, other) / (one.norm() * other.norm()).clamp_min(1e-12))
