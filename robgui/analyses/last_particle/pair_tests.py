"""The tests of pairs of input and noise size, and their joint verdicts.

Shared by one input and a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.exact import Law
from robgui.analyses.last_particle.noise.margin import MarginScore
from robgui.analyses.last_particle.noise.priors import Prior
from robgui.analyses.last_particle.noise.settings import prior_of
from robgui.analyses.last_particle.params import MethodParams
from robgui.analyses.last_particle.particles.lanes import Lane
from robgui.analyses.last_particle.particles.outcome import SplittingOutcome, outcome
from robgui.analyses.last_particle.particles.setup import Setup
from robgui.analyses.last_particle.particles.splitting import Splitting
from robgui.analyses.last_particle.result import OUTSIDE
from robgui.analyses.last_particle.sampling.gradients import no_way
from robgui.analyses.last_particle.sampling.steep import SteepDirections
from robgui.analyses.last_particle.tested_inputs import Chosen
from robgui.core.dataset import Dataset
from robgui.core.devices import to_host
from robgui.core.model.classifier import Classifier


@dataclass(frozen=True, slots=True)
class JointOutcome:
    """The joint verdict of the tests of one pair.

    Fields as in ``LastParticleResult``.
    """

    validated: bool
    inconclusive: bool
    reason: str
    finished: bool
    p_estimate: float
    p_low: float
    p_high: float
    mixed: bool
    shown: int
    tests: tuple[SplittingOutcome, ...]


class PairTests:
    """The tests of all pairs of an input and a noise size.

    Pair ``e * n + i`` is size e around input i; each pair has one test per rival.

    Attributes:
        law: The law of the counts of a test.
        m: Number of killed that validates a test.
        prior: The noise.
        rivals: Other classes tested one by one for each pair, ``(pairs, q)``; q = 1 and -1 for all
            at once.
        classes: ``(pairs,)`` right classes.
        leaps: Whether particles leap, see ``particles.guided``.
        moves: Moves of every new particle.
        any_rival: The margin over all other classes, one test per pair.

    Args:
        only: Pairs to be tested; None for all.
    """

    def __init__(
        self,
        classifier: Classifier,
        dataset: Dataset,
        params: MethodParams,
        chosen: Chosen,
        sizes: tuple[float, ...],
        *,
        trace: bool,
        only: np.ndarray | None = None,
    ) -> None:
        self._classifier, self._params = classifier, params
        device, pairs = classifier.device, len(chosen.x) * len(sizes)
        self.law = Law(params.particles, params.kill, params.replicas)
        # (pairs,): size by size, as the pairs are numbered.
        self.classes = chosen.classes.repeat(len(sizes))
        self.rivals = _rivals(classifier, self.classes.cpu().numpy(), params.class_wise)
        # Bonferroni over the rivals: their failure probabilities add up to the whole.
        self.m = self.law.threshold(params.critical / self.rivals.shape[1], params.risk)
        self.prior: Prior = prior_of(
            classifier, dataset, params, chosen.x, chosen.places.tolist(), sizes
        )
        every = torch.arange(pairs, device=device)
        self.any_rival = self._score(every, None)
        score = self.any_rival
        if params.class_wise:
            rivals = torch.from_numpy(self.rivals.ravel()).to(device)
            score = self._score(every.repeat_interleave(self.rivals.shape[1]), rivals)
        self.rows = classifier.batch(params.batch)
        guide = None
        if params.leaps(not no_way(classifier, params)):
            guide = SteepDirections(classifier, self.prior, self.classes)
        self.leaps = guide is not None
        self.moves = params.moves(self.leaps)
        self._tests = Setup(
            self.prior.dim,
            self.rivals.size,
            params.particles,
            params.kill,
            self.moves,
            params.replicas,
            self.m,
            params.seed,
            self.rows,
            trace,
            None if only is None else self._tests_of(only),
        )
        self._margin = score
        self._first = Splitting(score, self._tests, device, guide)
        self._again: Splitting | None = None
        self._judged, self._repeated = (np.zeros(self.rivals.size, dtype=bool) for _ in range(2))
        self._failures: dict[int, tuple[np.ndarray, int]] = {}

    def rounds(self) -> Iterator[None]:
        """Runs until every test is decided; yields every few model calls.

        A test that leaps leave undecided is repeated with the published moves, from the start and
        with other random numbers.
        """
        yield from self._first.rounds()
        self._judge()
        if self._repeated.any():
            again = replace(
                self._tests,
                steps=self._params.steps,
                # Other random numbers: the same ones would repeat the same accident.
                seed=(self._params.seed + 2) % 2**63,
                chosen=tuple(np.flatnonzero(self._repeated).tolist()),
            )
            self._again = Splitting(self._margin, again, self._classifier.device)
            yield from self._again.rounds()

    @property
    def progress(self) -> tuple[int, int]:
        """Killings made, with decided tests counted in full, and the most there can be."""
        return self._first.progress

    @property
    def ended(self) -> np.ndarray:
        """``(tests,)`` which are decided and not to be repeated."""
        self._judge()
        ended = self._first.ended
        if self._again is None:
            again = np.zeros_like(ended)
        else:
            again = self._again.ended
        return np.where(self._repeated, again, ended)

    def _judge(self) -> None:
        """Finds the tests that leaps leave undecided."""
        if not self.leaps:
            return
        for test in np.flatnonzero(self._first.ended & ~self._judged).tolist():
            self._judged[test] = True
            # Judged once, when it ends: a repeated test must not be repeated again.
            self._repeated[test] = self._outcome(self._first, test).inconclusive

    @property
    def killed(self) -> np.ndarray:
        """``(tests, replicas)`` killed so far."""
        if self._again is None:
            return self._first.killed
        return np.where(self._repeated[:, None], self._again.killed, self._first.killed)

    def lanes(self, test: int) -> list[Lane]:
        """The current lanes of a test."""
        splitting, replicas = self._at(test), self._params.replicas
        splitting.look(test)
        return splitting.lanes[test * replicas : (test + 1) * replicas]

    def _at(self, test: int) -> Splitting:
        """Where a test is running, or ran last."""
        if self._again is not None and self._repeated[test]:
            return self._again
        return self._first

    def _score(self, owners: Tensor, rivals: Tensor | None) -> MarginScore:
        """The margin of each pair in ``owners``, against all classes or its rival."""
        params = self._params
        return MarginScore(
            self._classifier,
            self.prior,
            owners,
            self.classes[owners],
            rivals,
            params.margin,
            params.batch,
        )

    def _tests_of(self, pairs: np.ndarray) -> tuple[int, ...]:
        """The numbers of the tests of some pairs: one for each rival."""
        many = self.rivals.shape[1]
        return tuple((pairs[:, None] * many + np.arange(many)).ravel().tolist())

    @property
    def calls(self) -> np.ndarray:
        """``(pairs,)`` model calls of the tests, repeated ones included."""
        if self._again is None:
            calls = self._first.calls
        else:
            calls = self._first.calls + self._again.calls
        return np.asarray(calls.reshape(self.rivals.shape).sum(1))

    def joint(self, pair: int) -> JointOutcome:
        """The current joint verdict of the tests of one pair."""
        per_pair, ended = self.rivals.shape[1], self.ended
        tests = range(pair * per_pair, (pair + 1) * per_pair)
        outcomes = tuple(self._outcome(self._at(test), test, bool(ended[test])) for test in tests)
        return _joint(outcomes, bool(ended[tests.start : tests.stop].all()))

    def _outcome(self, splitting: Splitting, test: int, ended: bool = True) -> SplittingOutcome:
        replicas = self._params.replicas
        lanes = splitting.lanes[test * replicas : (test + 1) * replicas]
        # The interval's error is divided like the critical probability.
        outside = OUTSIDE / self.rivals.shape[1]
        return outcome(self.law, self.m, lanes, ended=ended, outside=outside)

    def failure(self, pair: int) -> tuple[np.ndarray, int] | None:
        """A failing input ``(*shape)`` of one pair and its class, if one was met."""
        if pair not in self._failures:
            per_pair = self.rivals.shape[1]
            found = (
                failures[test]
                for test in range(pair * per_pair, (pair + 1) * per_pair)
                if test in (failures := self._at(test).failures)
            )
            latent = next(found, None)
            if latent is None:
                return None
            self._failures[pair] = self._seen(pair, latent)
        return self._failures[pair]

    def inputs(self, pair: int, latent: Tensor) -> Tensor:
        """The inputs ``(n, *shape)`` for latent points ``(n, dim)`` of one pair."""
        pairs = torch.full((len(latent),), pair, device=self._classifier.device)
        # A clone: ``bind`` reuses one buffer for all its calls.
        return self.prior.bind(pairs)(latent).clone()

    def _seen(self, pair: int, latent: Tensor) -> tuple[np.ndarray, int]:
        x = self.inputs(pair, latent[None])
        seen, klass = to_host(x[0], self._classifier.infer(x).argmax())
        return seen, int(klass)


def _rivals(classifier: Classifier, classes: np.ndarray, class_wise: bool) -> np.ndarray:
    if not class_wise:
        return np.full((len(classes), 1), -1)
    every = np.tile(np.arange(classifier.classes), (len(classes), 1))
    # (pairs, classes - 1): each row without its own class.
    return np.asarray(every[every != classes[:, None]].reshape(len(classes), -1))


def _joint(outcomes: tuple[SplittingOutcome, ...], ended: bool) -> JointOutcome:
    """Combines several tests into one.

    Each says how likely one class is to win, so their sum is the failure probability, and the sums
    of their ends, each with its part of the risk, are its ends.
    """
    estimates = np.array([each.p_estimate for each in outcomes])
    reason = next((each.reason for each in outcomes if each.inconclusive), "")
    # One rival that surely fails decides, whatever is unclear about the others.
    failing = any(not each.validated and not each.inconclusive for each in outcomes)
    return JointOutcome(
        validated=all(each.validated for each in outcomes),
        inconclusive=bool(reason) and not failing,
        reason="" if failing else reason,
        finished=ended,
        # The classes exclude each other, but their estimates
        # are independent and may exceed 1 together.
        p_estimate=float(min(1.0, estimates.sum())),
        p_low=float(sum(each.p_low for each in outcomes)),
        p_high=float(min(1.0, sum(each.p_high for each in outcomes))),
        mixed=all(each.mixed for each in outcomes),
        shown=int(estimates.argmax()),
        tests=outcomes,
    )
