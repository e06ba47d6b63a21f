"""The last particle in the space of poses: how rarely is the class lost within a domain?

The particles are poses. Each is a standard normal point in as many dimensions as parameters vary,
turned into values by ``distributions``; everything else is the test of Tit, Furon, Rousset and
Traonouez (CAID 2021) as in ``last_particle``. Plain samples come first, because they show where the
class is lost and assume nothing; a search for the worst pose comes last. Poses and margins are few
numbers that decide what is asked next, so they stay on the host.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.exact import Law
from robgui.analyses.last_particle.particles.kernel import Bound
from robgui.analyses.last_particle.particles.outcome import SplittingOutcome, outcome
from robgui.analyses.last_particle.particles.setup import Setup, check
from robgui.analyses.last_particle.particles.splitting import Splitting
from robgui.analyses.last_particle.particles.streams import Streams
from robgui.analyses.last_particle.result import OUTSIDE
from robgui.analyses.last_particle.sampling.chance import (
    ENOUGH_FAILURES,
    Chances,
    Ends,
    combined,
)
from robgui.analyses.semantic.domain.distributions import Distributions
from robgui.analyses.semantic.domain.params import OperatingDomainParams, filled
from robgui.analyses.semantic.domain.result import OperatingDomainResult, Pose
from robgui.analyses.semantic.scene.space import (
    Space,
    open_space,
    shapes_of,
    target_classes,
    usual_class,
)
from robgui.core.dataset import Dataset
from robgui.core.devices import to_host
from robgui.core.errors import ModelError
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import HOST

#: Samples drawn at a time; fixed, so the batch does not change them.
_BLOCK = 64
#: Keep these random numbers apart from those of the particles.
_PLAIN, _SEARCH = 1 << 40, (1 << 40) + 1
#: Most failing poses kept: those most like the usual one.
_KEPT = 6
#: Worst samples at which the search starts, poses tried around each at a time, and how often the
#: distance (one standard deviation at first) is halved.
#: 128 poses a round, so the default of 1,500 makes 11 rounds.
_STARTS, _TRIES, _HALVINGS = 16, 8, 7


def operating_domain(
    classifier: Classifier, dataset: Dataset | None, params: OperatingDomainParams
) -> Iterator[Step[OperatingDomainResult]]:
    """Samples the domain, tests it, and looks for its worst pose."""
    if classifier.settings.multi_label:
        raise ModelError(
            f"{classifier.name} gives several classes at once, and the operating domain follows"
            " one; look at its semantic map."
        )
    trial = _Trial(classifier, dataset, filled(params, classifier.shape))
    pace = Pace()
    for _ in trial.work():
        if trial.sampled and pace.due():
            yield trial.step()
    yield trial.step()


class PoseScore:
    """The margin by which another class leads, as a function of the latent point.

    Remembers the worst pose it was asked about.

    Attributes:
        spread: Standard deviation of the latent points.
        worst: The largest margin so far, and its latent point ``(n,)``.

    Args:
        space: The scene as the network sees it.
        distributions: From latent points to poses.
        target: The class that must stay.
        batch: Pictures per model call.
    """

    spread = 1.0

    def __init__(self, space: Space, distributions: Distributions, target: int, batch: int) -> None:
        self._space, self._distributions, self._batch = space, distributions, batch
        self._target = target
        self.worst = -math.inf, torch.zeros(len(space.axes), device=HOST)

    def bind(self, tests: Tensor) -> Bound:
        """See ``splitting.Score``; there is one test."""
        return self.margins

    def inside(self, tests: Tensor) -> Bound | None:
        """See ``splitting.Score``; every latent point is a pose of the domain."""
        return None

    def together(self) -> AbstractContextManager[None]:
        """See ``splitting.Score``; every answer is looked at as it comes."""
        return nullcontext()

    @torch.inference_mode()
    def margins(self, latent: Tensor) -> Tensor:
        """Margins ``(m,)`` of latent points ``(m, n)``."""
        scores = self.scores(latent)
        # A view would read the -inf that is written below.
        own = scores[:, self._target].clone()
        # In place, which is why ``scores`` gives out a copy.
        scores[:, self._target] = -torch.inf
        margins = scores.amax(1) - own
        largest, place = margins.max(0)
        if float(largest) > self.worst[0]:
            self.worst = float(largest), latent[place].clone()
        return margins

    def scores(self, latent: Tensor) -> Tensor:
        """Scores ``(m, classes)`` of latent points."""
        images = self._space.images(self.points(latent))
        (scores,) = to_host(self._space.classifier.infer(images, self._batch))
        return torch.from_numpy(scores.copy())

    def points(self, latent: Tensor) -> Tensor:
        """Poses ``(m, n)`` in the units of the axes."""
        return self._distributions.points(latent)


class _Trial:
    """Everything known about the domain during a run."""

    def __init__(
        self, classifier: Classifier, dataset: Dataset | None, params: OperatingDomainParams
    ) -> None:
        spec, place = shapes_of(params.scenes, dataset)[0]
        if dataset is None or place is None:
            one = None
        else:
            one = dataset.subset([place])
        self._space = open_space(spec, classifier, one, params)
        self._classifier, self._params = classifier, params
        self._distributions = Distributions(self._space.axes, params.distributions)
        self._before = classifier.calls
        self._rows = self._space.batch_size(params.batch)
        self._streams = Streams(params.seed, HOST, PoseScore.spread)
        self._streams.open(_PLAIN)
        target = target_classes(classifier, dataset, params)[0].number
        if target >= 0:
            self._target = target
        else:
            self._target = self._taken_for()
        self._score = PoseScore(self._space, self._distributions, self._target, params.batch)
        self._law = Law(params.particles, 1, params.replicas)
        self._m = self._law.threshold(params.critical, params.risk)
        self._splitting = Splitting(self._score, self._setup(), HOST)
        self._latent: list[Tensor] = []
        self._points, self._norms = np.zeros((0, len(self._space.axes))), np.zeros(0)
        self._margins = np.zeros(0)
        self._searched, self._tested = 0, False
        self._seen: dict[bytes, Pose] = {}
        self._usual = self._pose(self._space.middle.numpy())

    @property
    def sampled(self) -> int:
        """Plain samples so far."""
        return len(self._margins)

    @property
    def _lost(self) -> int:
        return int((self._margins > 0).sum())

    def _setup(self) -> Setup:
        p = self._params
        return Setup(
            len(self._space.axes),
            1,
            p.particles,
            1,
            p.steps,
            p.replicas,
            self._m,
            p.seed,
            self._rows,
        )

    def _taken_for(self) -> int:
        """For a mesh of another name: the class it is most often taken for in the domain."""
        latent = self._streams.normal([_PLAIN], _BLOCK, len(self._space.axes))[0]
        score = PoseScore(self._space, self._distributions, 0, self._params.batch)
        parts = [score.scores(part).softmax(1) for part in torch.split(latent, self._rows)]
        shares = torch.cat(parts)
        return usual_class(shares.argmax(1), shares)

    # --- the work ---------------------------------------------------------------------------------

    def work(self) -> Iterator[None]:
        """Yields every few model calls."""
        yield from self._sample()
        if self._lost < ENOUGH_FAILURES:  # Otherwise the plain samples say it all.
            yield from self._splitting.rounds()
        self._tested = True
        yield from self._search()

    def _sample(self) -> Iterator[None]:
        wanted, n = self._params.samples, len(self._space.axes)
        # Whole blocks at a time: the same numbers in the same order whatever the batch.
        blocks = max(1, self._rows // _BLOCK)
        while self.sampled < wanted:
            drawn = self._streams.normal([_PLAIN] * blocks, _BLOCK, n).flatten(0, 1)
            for latent in torch.split(drawn[: wanted - self.sampled], self._rows):
                margins = self._score.margins(latent).double().numpy()
                check(margins)
                points = self._score.points(latent).numpy()
                self._margins = np.concatenate([self._margins, margins])
                self._norms = np.concatenate([self._norms, latent.norm(dim=1).numpy()])
                self._points = np.concatenate([self._points, points])
                self._latent.append(latent)
                yield

    def _search(self) -> Iterator[None]:
        """Poses around the worst ones, closer and closer; each start keeps its best."""
        rounds = self._params.search // (_STARTS * _TRIES)
        latent = torch.cat(self._latent)
        # From the poses nearest to failing, met by chance; the search needs no gradient.
        highest = torch.from_numpy(np.argsort(-self._margins, kind="stable")[:_STARTS].copy())
        at = latent[highest]
        best = self._score.margins(at)
        self._streams.open(_SEARCH)
        for number in range(rounds):
            # From one standard deviation down to 1/128, evenly on a logarithmic scale.
            size = 0.5 ** (_HALVINGS * number / max(1, rounds - 1))
            noise = self._streams.normal([_SEARCH], len(at) * _TRIES, at.shape[1])[0]
            # (starts × tries, n).
            tried = at.repeat_interleave(_TRIES, 0) + size * noise
            margins = torch.cat(
                [self._score.margins(part) for part in torch.split(tried, self._rows)]
            )
            top, place = margins.reshape(len(at), _TRIES).max(1)
            rows = torch.arange(len(at), device=HOST) * _TRIES + place
            better = top > best
            at = torch.where(better[:, None], tried[rows], at)
            best = torch.where(better, top, best)
            self._searched = number + 1
            yield

    # --- the picture ------------------------------------------------------------------------------

    def step(self) -> Step[OperatingDomainResult]:
        """The complete picture now."""
        p, rounds = self._params, self._params.search // (_STARTS * _TRIES)
        if self._tested:
            climbed = self._m
        else:
            climbed = self._splitting.progress[0]
        around = _STARTS * _TRIES
        done = self.sampled + climbed * p.steps + self._searched * around
        return Step(done, p.samples + self._m * p.steps + rounds * around, self._result(rounds))

    def _result(self, rounds: int) -> OperatingDomainResult:
        tested, chance = self._outcome()
        p, replicas = self._params, self._params.replicas
        lanes = self._splitting.lanes[:replicas]
        told = int(chance.source) > 0
        # A single plain failure outweighs the test, which may have missed a way to fail.
        validated = tested.validated and not self._lost and float(chance.p) <= p.critical
        return OperatingDomainResult(
            shape=self._space.name,
            axes=self._space.axes,
            distributions=self._distributions.words,
            target=self._target,
            labels=tuple(self._classifier.labels),
            usual=self._usual,
            worst=self._worst(),
            nearest=self._nearest(),
            points=self._points,
            margins=self._margins,
            samples=p.samples,
            validated=bool(validated),
            passed=tested.validated,
            inconclusive=self._tested and tested.inconclusive and not told,
            reason=tested.reason if self._tested else "",
            finished=self._tested,
            p=float(chance.p),
            p_low=float(chance.low),
            p_high=float(chance.high),
            p_source=int(chance.source),
            killed=tested.killed,
            m=self._m,
            levels=np.array(lanes[0].levels),
            replica_killed=np.array([lane.killed for lane in lanes]),
            searched=self._tested and self._searched >= rounds,
            # How many poses are shown on the way depends on how often somebody looks.
            model_calls=self._classifier.calls - self._before - len(self._seen),
            network=self._classifier.name,
        )

    def _outcome(self) -> tuple[SplittingOutcome, Chances]:
        """The test's outcome, and the combined probability of everything sampled."""
        ended = bool(self._splitting.ended[0])
        lanes = self._splitting.lanes[: self._params.replicas]
        tested = outcome(self._law, self._m, lanes, ended=ended, outside=OUTSIDE)
        nothing = Ends(np.nan, np.nan, np.nan)
        told = ended and not tested.inconclusive
        if told:
            test = Ends(tested.p_estimate, tested.p_low, tested.p_high)
        else:
            test = nothing
        return tested, combined(test, nothing, self._lost, self.sampled)

    def _worst(self) -> Pose:
        """The worst pose met so far."""
        _, latent = self._score.worst
        return self._pose(self._score.points(latent[None])[0].numpy())

    def _nearest(self) -> tuple[Pose, ...]:
        failing = np.flatnonzero(self._margins > 0)
        order = failing[np.argsort(self._norms[failing], kind="stable")][:_KEPT]
        return tuple(self._pose(self._points[place]) for place in order)

    def _pose(self, at: np.ndarray) -> Pose:
        """What the network sees there; asked once for each pose shown."""
        key = at.tobytes()
        if key not in self._seen:
            image = self._space.images(torch.from_numpy(at[None].copy()))
            scores, picture = to_host(self._classifier.infer(image), image)
            others = np.delete(scores[0], self._target)
            self._seen[key] = Pose(
                at,
                float(others.max() - scores[0, self._target]),
                int(scores[0].argmax()),
                picture[0],
            )
        return self._seen[key]
