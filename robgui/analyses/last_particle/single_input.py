"""Last particle for one input: is the probability that noise makes the model fail below the
critical one?

Tit, Furon, Rousset and Traonouez, "Évaluation statistique efficace de la robustesse de
classifieurs" (CAID 2021), Algorithm 1, with the exact number of killings, ties, replicas and the
diagnostics that its guarantee rests on. A statistical pass is called validated; certified is kept
for formal bounds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from robgui.analyses.last_particle.attack import refusal, search
from robgui.analyses.last_particle.exact import monte_carlo_bound
from robgui.analyses.last_particle.pair_tests import JointOutcome, PairTests
from robgui.analyses.last_particle.params import LastParticleParams
from robgui.analyses.last_particle.particles.lanes import Lane
from robgui.analyses.last_particle.proof import met_failures, prove, unprovable
from robgui.analyses.last_particle.result import LastParticleResult
from robgui.analyses.last_particle.sampling.montecarlo import MonteCarlo
from robgui.analyses.last_particle.tested_inputs import Chosen, one_input
from robgui.core.dataset import Dataset, align
from robgui.core.execution.analysis import Pace, Step
from robgui.core.model.classifier import Classifier

#: How far below the critical probability the power is shown, in powers of ten, and how finely.
_POWER_DECADES, _POWER_POINTS = 8, 17


def last_particle(
    classifier: Classifier, dataset: Dataset, params: LastParticleParams
) -> Iterator[Step[LastParticleResult]]:
    """Tests one input; then takes plain samples, searches with gradients and tries a formal
    proof, for comparison.
    """
    test = _Test(classifier, align(classifier, dataset), params)
    pace = Pace()
    for _ in test.work():
        if pace.due():
            yield test.step()
    yield test.step()


class _Test:
    """Everything a test knows while it runs; ``step`` is its picture at any moment."""

    def __init__(
        self, classifier: Classifier, dataset: Dataset, params: LastParticleParams
    ) -> None:
        self._classifier, self._params = classifier, params
        self._name = dataset.key(0) if len(dataset) else ""
        self._chosen: Chosen = one_input(classifier, dataset, params)
        self._run = PairTests(classifier, dataset, params, self._chosen, (params.eps,), trace=True)
        run = self._run
        self._monte_carlo = MonteCarlo(
            run.any_rival,
            run.prior.dim,
            1,
            params.samples,
            params.seed,
            run.rows,
            classifier.device,
        )
        self._power_p = params.critical * np.logspace(0, -_POWER_DECADES, _POWER_POINTS)
        self._power = run.law.power(self._power_p, run.m)
        self._refusal = refusal(classifier, params.noise, params.attack_steps)
        self._attacked = 0
        self._counterexample: np.ndarray | None = None
        self._counterexample_class = -1
        self._certified, self._certified_lower, self._why_not_certified = (
            False,
            float("nan"),
            unprovable(params),
        )
        self._proven = False

    def work(self) -> Iterator[None]:
        """The test, the plain samples, the search, the proof.

        Yields after every model call or few of them.
        """
        yield from self._run.splitting.rounds()
        yield from self._monte_carlo.run()
        if not self._refusal:
            yield from self._search()
        if not self._why_not_certified:
            yield from self._prove()

    def _prove(self) -> Iterator[None]:
        failing = met_failures(self._run, self._monte_carlo, 0, 1)
        failing |= self._counterexample is not None
        proof = yield from prove(self._classifier, self._run, 0, 1, failing)
        self._proven, self._why_not_certified = True, proof.reason
        if not proof.reason:
            self._certified, self._certified_lower = bool(proof.certified[0]), float(proof.lower[0])

    def _search(self) -> Iterator[None]:
        params, pair = (
            self._params,
            torch.zeros(1, dtype=torch.int64, device=self._classifier.device),
        )
        classes = self._chosen.classes
        for found in search(
            self._classifier,
            self._run.prior,
            params.noise,
            pair,
            classes,
            params.attack_steps,
            params.batch,
        ):
            self._attacked += found is None
            if found is not None and bool(found.found[0]):
                self._counterexample = found.inputs[0].cpu().numpy()
                self._counterexample_class = int(self._classifier.infer(found.inputs).argmax())
            yield

    def step(self) -> Step[LastParticleResult]:
        """The complete picture now."""
        p = self._params
        done, total = self._run.splitting.progress
        attack = 0 if self._refusal else p.attack_steps
        proof = 0 if self._why_not_certified and not self._proven else 1
        done = done * p.steps + int(self._monte_carlo.sampled[0]) + self._attacked + self._proven
        return Step(
            done=done, total=total * p.steps + p.samples + attack + proof, result=self._result()
        )

    def _result(self) -> LastParticleResult:
        p, run = self._params, self._run
        joint = run.joint(0)
        shown = joint.tests[joint.shown]
        run.splitting.look(joint.shown)
        lanes = run.splitting.lanes[joint.shown * p.replicas : (joint.shown + 1) * p.replicas]
        failure = run.failure(0)
        sampled = int(self._monte_carlo.sampled[0])
        return LastParticleResult(
            validated=joint.validated,
            inconclusive=joint.inconclusive,
            reason=joint.reason,
            finished=joint.finished,
            p_estimate=joint.p_estimate,
            p_low=joint.p_low,
            p_high=joint.p_high,
            killed=shown.killed,
            m=run.m,
            levels=np.array(lanes[0].levels),
            acceptance=np.array(lanes[0].acceptance),
            failure=None if failure is None else failure[0],
            failure_class=-1 if failure is None else failure[1],
            model_calls=int(run.calls[0]),
            mixed=joint.mixed,
            stuck=shown.stuck,
            ancestors=sum(lane.ancestors for lane in lanes),
            dispersion=shown.dispersion,
            dispersion_p=shown.dispersion_p,
            particles=np.sort(lanes[0].heights),
            replica_killed=np.array([lane.killed for lane in lanes]),
            replica_levels=_padded([lane.levels for lane in lanes]),
            p_trace=self._trace(lanes),
            **self._tests(joint),
            monte_carlo_samples=sampled,
            monte_carlo_failures=int(self._monte_carlo.failures[0]),
            monte_carlo_bound=monte_carlo_bound(
                int(self._monte_carlo.failures[0]), sampled, p.risk
            ),
            counterexample=self._counterexample,
            counterexample_class=self._counterexample_class,
            attack_note=self._refusal,
            power_p=self._power_p,
            power=self._power,
            start=float(self._chosen.start[0]),
            input=self._chosen.x[0].cpu().numpy(),
            input_name=self._name,
            label=int(self._chosen.classes[0]),
            labels=tuple(self._classifier.labels),
            kind=self._classifier.kind,
            certified=self._certified,
            certified_lower=self._certified_lower,
            certified_reason=self._why_not_certified,
        )

    def _tests(self, joint: JointOutcome) -> dict[str, np.ndarray]:
        return {
            "test_class": self._run.rivals[0],
            "test_p": np.array([each.p_estimate for each in joint.tests]),
            "test_killed": np.array([each.killed for each in joint.tests]),
            "test_validated": np.array([each.validated for each in joint.tests]),
        }

    def _trace(self, lanes: list[Lane]) -> np.ndarray:
        """Lower end, estimate and upper end had the shown test stopped at each round, ``(k,
        3)``.
        """
        rounds = max(len(lane.counts) for lane in lanes)
        counts = np.array(
            [[*lane.counts, *[lane.killed] * (rounds - len(lane.counts))] for lane in lanes]
        ).reshape(len(lanes), rounds)
        low, high = self._run.law.interval(counts.sum(0))
        estimates = [self._run.law.estimate(counts[:, k]) for k in range(rounds)]
        return np.stack([low, np.array(estimates), high], axis=1)


def _padded(rows: list[tuple[float, ...]]) -> np.ndarray:
    """Lists of different length as one array, nan after their ends."""
    longest = max(map(len, rows))
    return np.array([[*row, *[float("nan")] * (longest - len(row))] for row in rows]).reshape(
        len(rows), longest
    )
