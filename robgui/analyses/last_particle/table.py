"""Last particle for many inputs and sizes of noise: the paper's Tables 1 to 5, beside Monte Carlo and formal bounds."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import torch

from robgui.analyses.last_particle.attack import refusal, search
from robgui.analyses.last_particle.choice import first_right
from robgui.analyses.last_particle.exact import monte_carlo_bound
from robgui.analyses.last_particle.formal import certify
from robgui.analyses.last_particle.montecarlo import MonteCarlo
from robgui.analyses.last_particle.params import LastParticleTableParams
from robgui.analyses.last_particle.result import LastParticleTableResult
from robgui.analyses.last_particle.run import Run
from robgui.analyses.last_particle.words import table_findings, table_headline, table_verdict
from robgui.core.analysis import Pace, Step, analysis
from robgui.core.classifier import Classifier
from robgui.core.dataset import Dataset, align

#: So many failing inputs are kept for showing.
_SHOWN = 12
#: Inputs given to the formal bounds at once, so that a stop is answered soon.
_PROVEN_AT_ONCE = 16


@analysis(
    title="Last particle table",
    question="Which inputs keep their class under which noise: validated, sampled, proven?",
    verdict=table_verdict,
    findings=table_findings,
    headline=table_headline,
    inputs="many",
)
def last_particle_table(
    classifier: Classifier, dataset: Dataset, params: LastParticleTableParams
) -> Iterator[Step[LastParticleTableResult]]:
    """Tests all inputs at all sizes together; then plain samples, formal bounds, and the search for counterexamples."""
    table = _Table(classifier, align(classifier, dataset), params)
    pace = Pace()
    for _ in table.work():
        if pace.due():
            yield table.step()
    yield table.step()


class _Table:
    """Everything a table knows while it runs; ``step`` is its picture at any moment."""

    def __init__(self, classifier: Classifier, dataset: Dataset, params: LastParticleTableParams) -> None:
        self._classifier, self._params = classifier, params
        self._chosen = first_right(classifier, dataset, params.truth, params.most)
        self._names = tuple(dataset.key(int(place)) for place in self._chosen.places)
        self._run = run = Run(classifier, dataset, params, self._chosen, params.radii, trace=False)
        self._shape = (len(params.radii), len(self._chosen.x))
        size = self._shape[0] * self._shape[1]
        self._monte_carlo = MonteCarlo(run.any_rival, run.prior.dim, size, params.samples, params.seed, run.rows, classifier.device)
        self._told = _Told(size)
        self._seconds = 0.0
        self._monte_carlo_seconds = 0.0
        self._certified_seconds = np.zeros(self._shape[0])
        self._certified = np.zeros(self._shape, dtype=bool)
        self._lower = np.full(self._shape, np.nan)
        self._why_not_certified = self._unprovable()
        self._proven = 0
        self._why_not_attacked = refusal(classifier, params.noise, params.attack_steps)
        self._attacked = np.zeros(size, dtype=bool)
        self._counterexample = np.zeros(size, dtype=bool)

    def work(self) -> Iterator[None]:
        """Everything, one batch at a time."""
        for seconds in _timed(self._run.splitting.rounds()):
            self._seconds += seconds
            yield
        self._told.update(self._run)
        for seconds in _timed(self._monte_carlo.run()):
            self._monte_carlo_seconds += seconds
            yield
        yield from self._prove()
        if not self._why_not_attacked:
            yield from self._search()

    def _unprovable(self) -> str:
        """Why formal bounds would not cover the noise; empty when they do."""
        p = self._params
        if p.noise not in ("box", "clip"):
            return "Formal bounds are for noise that moves every value by at most so much (box or clip)."
        if p.rounded or p.lower or p.upper:
            return "Formal bounds do not know rounded features or bounds of your own."
        return ""

    def _prove(self) -> Iterator[None]:
        """Formal bounds, size by size."""
        n = self._shape[1]
        for e in range(self._shape[0]):
            began = time.monotonic()
            for first in range(0, n, _PROVEN_AT_ONCE):
                if self._why_not_certified:
                    return
                part = slice(first, min(n, first + _PROVEN_AT_ONCE))
                pairs = torch.arange(e * n + part.start, e * n + part.stop, device=self._classifier.device)
                x, reach, _ = self._run.prior.limits(pairs)
                proof = certify(self._classifier, x, self._run.classes[pairs], reach[0])
                self._why_not_certified = proof.reason
                if not proof.reason:
                    self._certified[e, part], self._lower[e, part] = proof.certified, proof.lower
                self._proven += len(pairs)
                yield
            self._certified_seconds[e] = time.monotonic() - began

    def _search(self) -> Iterator[None]:
        """Searches for a failure wherever an input is validated without proof."""
        p = self._params
        wanted = np.flatnonzero(self._told.validated & ~self._certified.ravel())
        pairs = torch.from_numpy(wanted).to(self._classifier.device)
        classes = self._run.classes[pairs]
        for found in search(self._classifier, self._run.prior, p.noise, pairs, classes, p.attack_steps, p.batch):
            if found is not None:
                places = found.pairs.cpu().numpy()
                self._attacked[places] = True
                self._counterexample[places] = found.found.cpu().numpy()
            yield

    def step(self) -> Step[LastParticleTableResult]:
        """The complete picture now."""
        p, size = self._params, self._shape[0] * self._shape[1]
        killed, most = self._run.splitting.progress
        done = killed * p.steps * p.kill + int(self._monte_carlo.sampled.sum()) + self._proven + int(self._attacked.sum()) * p.attack_steps
        total = most * p.steps * p.kill + p.samples * size
        total += 0 if self._why_not_certified else size
        total += 0 if self._why_not_attacked else int((self._told.validated & ~self._certified.ravel()).sum()) * p.attack_steps
        return Step(done=min(done, total), total=total, result=self._result())

    def _result(self) -> LastParticleTableResult:
        p, told, run = self._params, self._told, self._run
        told.update(run)
        sampled = self._monte_carlo.sampled == p.samples
        calls = run.calls.reshape(self._shape)
        shares = calls.sum(1) / max(1, calls.sum())
        return LastParticleTableResult(
            radii=np.array(p.radii),
            validated=told.validated.reshape(self._shape).copy(),
            inconclusive=told.inconclusive.reshape(self._shape).copy(),
            finished=told.finished.reshape(self._shape).copy(),
            p_estimate=told.numbers[:, 0].reshape(self._shape).copy(),
            p_low=told.numbers[:, 1].reshape(self._shape).copy(),
            p_high=told.numbers[:, 2].reshape(self._shape).copy(),
            killed=run.splitting.killed.sum(1).reshape(*self._shape, -1).min(2),
            mixed=told.mixed.reshape(self._shape).copy(),
            calls=calls,
            m=run.m,
            seconds=self._seconds * shares,
            certified=self._certified.copy(),
            certified_lower=self._lower.copy(),
            certified_reason=self._why_not_certified,
            certified_seconds=self._certified_seconds.copy(),
            monte_carlo_samples=p.samples,
            monte_carlo_failures=np.where(sampled, self._monte_carlo.failures, -1).reshape(self._shape),
            monte_carlo_bound=monte_carlo_bound(0, p.samples, p.risk),
            monte_carlo_seconds=np.full(self._shape[0], self._monte_carlo_seconds / self._shape[0]),
            counterexample=self._counterexample.reshape(self._shape).copy(),
            attacked=self._attacked.reshape(self._shape).copy(),
            attack_note=self._why_not_attacked,
            model_calls=int(calls.sum()),
            noise=p.noise,
            critical=p.critical,
            risk=p.risk,
            n_particles=p.particles,
            kill=p.kill,
            steps=p.steps,
            replicas=p.replicas,
            class_wise=p.class_wise,
            left_out=self._chosen.left_out,
            names=self._names,
            places=self._chosen.places,
            classes=self._chosen.classes.cpu().numpy(),
            labels=tuple(self._classifier.labels),
            kind=self._classifier.kind,
            **self._shown(),
        )

    def _shown(self) -> dict[str, np.ndarray]:
        """The likeliest failures of different inputs, each at the smallest noise where it fails."""
        n, shape = self._shape[1], self._classifier.shape
        failing = self._told.finished & ~self._told.validated & ~self._told.inconclusive
        first: dict[int, int] = {}
        for pair in np.flatnonzero(failing):
            first.setdefault(int(pair) % n, int(pair))
        worst = sorted(first.values(), key=lambda pair: (pair // n, -self._told.numbers[pair, 0]))[:_SHOWN]
        found = [(pair, seen) for pair in worst if (seen := self._run.failure(pair)) is not None]
        nothing = np.zeros((0, *shape), dtype=np.float32)
        return {
            "shown": np.array([divmod(pair, n) for pair, _ in found], dtype=np.int64).reshape(-1, 2),
            "shown_failure": np.stack([seen[0] for _, seen in found]) if found else nothing,
            "shown_input": np.stack([self._chosen.x[pair % n].cpu().numpy() for pair, _ in found]) if found else nothing,
            "shown_class": np.array([seen[1] for _, seen in found], dtype=np.int64),
        }


class _Told:
    """Verdicts on all pairs, written down once when a pair is decided."""

    def __init__(self, size: int) -> None:
        self.validated, self.inconclusive, self.finished = (np.zeros(size, dtype=bool) for _ in range(3))
        self.mixed = np.ones(size, dtype=bool)
        self.numbers = np.full((size, 3), np.nan)

    def update(self, run: Run) -> None:
        """Writes down the verdicts that are new."""
        ended = run.splitting.ended.reshape(run.rivals.shape).all(1)
        for pair in np.flatnonzero(ended & ~self.finished):
            verdict = run.verdict(int(pair))
            self.finished[pair], self.validated[pair], self.inconclusive[pair] = True, verdict.validated, verdict.inconclusive
            self.mixed[pair] = verdict.mixed
            self.numbers[pair] = verdict.p_estimate, verdict.p_low, verdict.p_high


def _timed(work: Iterator[None]) -> Iterator[float]:
    """The seconds each piece of ``work`` took, what is done between the pieces not counted."""
    began = time.monotonic()
    for _ in work:
        yield time.monotonic() - began
        began = time.monotonic()
