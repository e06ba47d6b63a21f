"""Last particle for many inputs and sizes of noise.

The paper's Tables 1 to 5, beside Monte Carlo and formal bounds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from robgui.analyses.last_particle.attack import refusal, search
from robgui.analyses.last_particle.exact import monte_carlo_bound
from robgui.analyses.last_particle.noise.sizes import fitted_sizes
from robgui.analyses.last_particle.pair_tests import PairTests
from robgui.analyses.last_particle.params import LastParticleTableParams, table_units
from robgui.analyses.last_particle.proof import met_failures, prove, unprovable
from robgui.analyses.last_particle.result import LastParticleTableResult
from robgui.analyses.last_particle.sampling.around import measure, unmeasurable
from robgui.analyses.last_particle.sampling.chance import Ends, combined
from robgui.analyses.last_particle.sampling.montecarlo import MonteCarlo
from robgui.analyses.last_particle.table.pair_verdicts import PairVerdicts
from robgui.analyses.last_particle.tested_inputs import first_right
from robgui.bounds import Certificate
from robgui.core.dataset import Dataset, align
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: Most failing inputs kept for showing.
SHOWN = 12
#: Most samples around failures for each pair, and the largest distance from 0 of a failing point in
#: standard deviations: those further out are rarer than 1e-11 and say nothing against a pass.
_FEW_AROUND, _WITHIN = 2000, 6.7
#: Inputs given to the formal bounds at once; few, so a stop is answered soon.
_PROVEN_AT_ONCE = 16


def table_part(
    classifier: Classifier, dataset: Dataset, params: LastParticleTableParams, part: range | None
) -> Iterator[Step[LastParticleTableResult]]:
    """Tests some of the inputs at all sizes.

    Each pair has the same random numbers as in the whole table.
    """
    table = _Table(classifier, align(classifier, dataset), params, part)
    pace = Pace()
    for _ in table.work():
        if pace.due():
            yield table.step()
    yield table.step()


def merge_tables(
    classifier: Classifier,
    dataset: Dataset,
    params: LastParticleTableParams,
    results: Sequence[LastParticleTableResult],
) -> LastParticleTableResult:
    """The table of all inputs from those of the parts."""
    from robgui.analyses.last_particle.table.parts import merged

    return merged(results, SHOWN)


def last_particle_table(
    classifier: Classifier, dataset: Dataset, params: LastParticleTableParams
) -> Iterator[Step[LastParticleTableResult]]:
    """Tests all inputs at all sizes together.

    Then plain samples, formal bounds, and the search for counterexamples.
    """
    return table_part(classifier, dataset, params, None)


class _Table:
    """Everything a running table, or part of one, knows.

    ``step`` shows it at any moment.
    """

    def __init__(
        self,
        classifier: Classifier,
        dataset: Dataset,
        params: LastParticleTableParams,
        part: range | None,
    ) -> None:
        self._classifier, self._params = classifier, params
        self._chosen = first_right(classifier, dataset, params, params.most)
        self._radii = params.radii or fitted_sizes(
            params.noise, classifier.kind, math.prod(classifier.shape)
        )
        self._shape = (len(self._radii), len(self._chosen.x))
        size = self._shape[0] * self._shape[1]
        self._own = _own_inputs(part, table_units(params, len(dataset)), self._shape[1])
        self._names = tuple(dataset.key(int(place)) for place in self._chosen.places[self._own])
        # A pair is its size times the number of inputs plus
        # its input: a part holds some inputs at all sizes.
        self._pairs = np.arange(size).reshape(self._shape)[:, self._own].ravel()
        self._run = run = PairTests(
            classifier, dataset, params, self._chosen, self._radii, trace=False, only=self._pairs
        )
        self._monte_carlo = MonteCarlo(
            run.any_rival,
            run.prior.dim,
            size,
            params.samples,
            params.seed,
            run.rows,
            classifier.device,
        )
        self._told = PairVerdicts(size)
        self._seconds = self._monte_carlo_seconds = 0.0
        self._certified_seconds = np.zeros(self._shape[0])
        self._certified = np.zeros(self._shape, dtype=bool)
        self._lower = np.full(self._shape, np.nan)
        self._why_not_certified = unprovable(params)
        self._proven = 0
        self._why_not_attacked = refusal(classifier, params.noise, params.attack_steps)
        self._attacked = np.zeros(size, dtype=bool)
        self._counterexample = np.zeros(size, dtype=bool)
        self._why_not_measured = unmeasurable(classifier, params)
        self._around = np.full((size, 3), np.nan)
        self._looked = np.zeros(size, dtype=bool)
        self._known: tuple[int, ...] = ()

    def work(self) -> Iterator[None]:
        """Everything, one batch at a time."""
        for seconds in _timed(self._run.rounds()):
            self._seconds += seconds
            yield
        self._told.update(self._run)
        for seconds in _timed(self._monte_carlo.run(self._pairs)):
            self._monte_carlo_seconds += seconds
            yield
        # Before the searches: what is proven need be neither attacked nor measured.
        yield from self._prove()
        if not self._why_not_attacked:
            yield from self._search()
        if not self._why_not_measured:
            yield from self._measure()

    def _measure(self) -> Iterator[None]:
        """Looks for failures hidden behind another class wherever an input is validated."""
        few = min(self._params.importance, _FEW_AROUND)
        params = self._params.model_copy(update={"importance": few})
        for pair in np.flatnonzero(self._passed() & ~self._certified.ravel()):
            around = yield from measure(
                self._classifier, self._run, params, int(pair), None, within=_WITHIN
            )
            measured = around.measured
            self._around[pair] = measured.p, measured.low, measured.high
            self._looked[pair] = True

    def _passed(self) -> np.ndarray:
        """Which pairs the test validates and no plain sample contradicts."""
        return np.asarray(self._told.validated & (self._monte_carlo.failures == 0))

    def _prove(self) -> Iterator[None]:
        """Formal bounds, size by size."""
        n = self._shape[1]
        for e in range(self._shape[0]):
            began = time.monotonic()
            for first in range(self._own.start, self._own.stop, _PROVEN_AT_ONCE):
                if self._why_not_certified:
                    return
                part = slice(first, min(self._own.stop, first + _PROVEN_AT_ONCE))
                pairs = (e * n + part.start, e * n + part.stop)
                failing = met_failures(self._run, self._monte_carlo, *pairs)
                proof = yield from prove(self._classifier, self._run, *pairs, failing)
                self._keep(proof, e, part)
                yield
            self._certified_seconds[e] = time.monotonic() - began

    def _keep(self, proof: Certificate, e: int, part: slice) -> None:
        """Stores proofs; a missing or contradicted proof removes what was proven before."""
        self._why_not_certified = proof.reason
        if proof.reason:
            self._certified[:], self._lower[:] = False, np.nan
        else:
            self._certified[e, part], self._lower[e, part] = proof.certified, proof.lower
        self._proven += part.stop - part.start

    def _search(self) -> Iterator[None]:
        """Searches for a failure wherever an input is validated without proof."""
        p = self._params
        wanted = np.flatnonzero(self._told.validated & ~self._certified.ravel())
        pairs = torch.from_numpy(wanted).to(self._classifier.device)
        classes = self._run.classes[pairs]
        for found in search(
            self._classifier, self._run.prior, p.noise, pairs, classes, p.attack_steps, p.batch
        ):
            if found is not None:
                places = found.pairs.cpu().numpy()
                self._attacked[places] = True
                self._counterexample[places] = found.found.cpu().numpy()
            yield

    def step(self) -> Step[LastParticleTableResult]:
        """The complete picture now."""
        p, size = self._params, len(self._pairs)
        killed, _ = self._run.progress
        most = size * self._run.rivals.shape[1] * self._run.m
        done = (
            killed * self._run.moves * p.kill
            + int(self._monte_carlo.sampled.sum())
            + self._proven
            + int(self._attacked.sum()) * p.attack_steps
        )
        total = most * self._run.moves * p.kill + p.samples * size
        # What cannot be done does not count, or progress would never reach its end.
        total += 0 if self._why_not_certified else size
        total += (
            0
            if self._why_not_attacked
            else int((self._told.validated & ~self._certified.ravel()).sum()) * p.attack_steps
        )
        return Step(done=min(done, total), total=total, result=self._result())

    def _result(self) -> LastParticleTableResult:
        p, told, run = self._params, self._told, self._run
        told.update(run)
        sampled = self._monte_carlo.sampled == p.samples
        calls, chances = self._cut(run.calls), self._chances()
        # All sizes advance together, so the time of
        # each is known by its share of the calls only.
        shares = calls.sum(1) / max(1, calls.sum())
        return LastParticleTableResult(
            radii=np.array(self._radii),
            **{name: self._cut(values) for name, values in chances.items()},
            finished=self._cut(told.finished),
            # The class that is reached in the fewest rounds decides.
            killed=self._cut(run.killed.sum(1).reshape(run.rivals.shape).min(1)),
            mixed=self._cut(told.mixed),
            calls=calls,
            m=run.m,
            seconds=self._seconds * shares,
            certified=self._cut(self._certified),
            certified_lower=self._cut(self._lower),
            certified_reason=self._why_not_certified,
            certified_seconds=self._certified_seconds.copy(),
            monte_carlo_samples=p.samples,
            # -1 while the plain samples of a pair are not all drawn.
            monte_carlo_failures=self._cut(np.where(sampled, self._monte_carlo.failures, -1)),
            monte_carlo_bound=monte_carlo_bound(0, p.samples, p.risk),
            monte_carlo_seconds=np.full(self._shape[0], self._monte_carlo_seconds / self._shape[0]),
            counterexample=self._cut(self._counterexample),
            attacked=self._cut(self._attacked),
            attack_note=self._why_not_attacked,
            model_calls=int(calls.sum()),
            left_out=self._chosen.left_out,
            names=self._names,
            places=self._chosen.places[self._own],
            classes=self._chosen.host[1][self._own],
            labels=tuple(self._classifier.labels),
            kind=self._classifier.kind,
            multi_label=self._classifier.settings.multi_label,
            leaps=run.leaps,
            **self._shown(chances["p_estimate"]),
        )

    def _chances(self) -> dict[str, np.ndarray]:
        """The combined probability of every pair, made again when something new is known."""
        told, plain = self._told, self._monte_carlo
        counted = (told.finished, plain.sampled, plain.failures, self._looked)
        known = tuple(int(each.sum()) for each in counted)
        if known != self._known:
            self._known, self._newest = known, self._combined()
        return self._newest

    def _combined(self) -> dict[str, np.ndarray]:
        """The combined probability of every pair, and whether it lets the test pass."""
        told, failures = self._told, self._monte_carlo.failures
        answered = told.finished & ~told.inconclusive
        tested = Ends(*np.where(answered, told.numbers.T, np.nan))
        found = combined(tested, Ends(*self._around.T), failures, self._monte_carlo.sampled)
        known = found.source > 0
        parts = zip((found.p, found.low, found.high), told.numbers.T, strict=True)
        p, low, high = (np.where(known, one, test) for one, test in parts)
        return {
            # A pass does not stand against a measured
            # probability above the critical one.
            "validated": self._passed() & (p <= self._params.critical),
            "passed": told.validated,
            "inconclusive": told.inconclusive & ~known,
            "p_estimate": p,
            "p_low": low,
            "p_high": high,
            "looked": self._looked,
        }

    def _cut(self, pairs: np.ndarray) -> np.ndarray:
        """What is known about all pairs, as ``(E, n)`` of the inputs tested here."""
        return pairs.reshape(self._shape)[:, self._own].copy()

    def _shown(self, p: np.ndarray) -> dict[str, np.ndarray]:
        """The likeliest failures of different inputs, each at the smallest noise where it fails."""
        n, shape = self._shape[1], self._classifier.shape
        failing = self._told.finished & ~self._told.validated & ~self._told.inconclusive
        first: dict[int, int] = {}
        for pair in np.flatnonzero(failing):
            # Pairs come smallest size first, so the first one of an input stays.
            first.setdefault(int(pair) % n, int(pair))
        worst = sorted(first.values(), key=lambda pair: (pair // n, -p[pair]))[:SHOWN]
        found = [(pair, seen) for pair in worst if (seen := self._run.failure(pair)) is not None]
        nothing = np.zeros((0, *shape), dtype=np.float32)
        return {
            "shown": (
                np.array(
                    [(pair // n, pair % n - self._own.start) for pair, _ in found], dtype=np.int64
                ).reshape(-1, 2)
            ),
            "shown_failure": np.stack([seen[0] for _, seen in found]) if found else nothing,
            "shown_input": (
                np.stack([self._chosen.host[0][pair % n] for pair, _ in found])
                if found
                else nothing
            ),
            "shown_class": np.array([seen[1] for _, seen in found], dtype=np.int64),
        }


def _own_inputs(part: range | None, units: int, inputs: int) -> slice:
    """The inputs that belong to a part of the units; all without one."""
    if part is None:
        return slice(0, inputs)
    return slice(part.start * inputs // units, part.stop * inputs // units)


def _timed(work: Iterator[None]) -> Iterator[float]:
    """Seconds that each piece of ``work`` took, excluding time between pieces."""
    began = time.monotonic()
    for _ in work:
        yield time.monotonic() - began
        began = time.monotonic()
