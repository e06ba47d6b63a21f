"""Last particle for one input: does noise make the model fail more often than allowed?

Tit, Furon, Rousset and Traonouez, "Évaluation statistique efficace de la robustesse de
classifieurs" (CAID 2021), Algorithm 1, with the exact number of killings, ties, replicas and the
diagnostics that its guarantee rests on. A statistical pass is called validated; certified is kept
for formal bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from robgui.analyses.last_particle.attack import BOUNDED, refusal, search
from robgui.analyses.last_particle.cost import affordable
from robgui.analyses.last_particle.exact import monte_carlo_bound
from robgui.analyses.last_particle.noise.sizes import fitted_size
from robgui.analyses.last_particle.pair_tests import JointOutcome, PairTests
from robgui.analyses.last_particle.params import LastParticleParams
from robgui.analyses.last_particle.proof import met_failures, prove, unprovable
from robgui.analyses.last_particle.result import LastParticleResult
from robgui.analyses.last_particle.sampling.around import (
    Around,
    Screened,
    measure,
    screen,
    screenable,
    unmeasurable,
)
from robgui.analyses.last_particle.sampling.chance import Ends, combined
from robgui.analyses.last_particle.sampling.montecarlo import MonteCarlo
from robgui.analyses.last_particle.single_fields import around_fields, padded, tests_of, trace
from robgui.analyses.last_particle.tested_inputs import Chosen, one_input
from robgui.core.dataset import Dataset, align
from robgui.core.execution.budget.time_limit import Deadline
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: Range of the power curve below the critical probability, in powers of ten, and its resolution.
_POWER_DECADES, _POWER_POINTS = 8, 17
#: Failures among plain samples from which they give the probability to about a fifth.
#: A binomial count of 100 has a standard deviation of 10, so its 95 % interval is ± 20 %.
_PLENTY = 100
_NO_TIME = "No samples around failures: the time limit leaves no room for them."


def last_particle(
    classifier: Classifier, dataset: Dataset, params: LastParticleParams
) -> Iterator[Step[LastParticleResult]]:
    """Tests one input; then samples, searches with gradients and tries a proof, to compare."""
    deadline = Deadline(params.max_seconds)
    test = _Test(classifier, align(classifier, dataset), params, deadline)
    yield from deadline.counted(_tested(test))


def _tested(test: _Test) -> Iterator[Step[LastParticleResult]]:
    pace = Pace()
    for _ in test.work():
        if pace.due():
            yield test.step()
    yield test.step(last=True)


class _Test:
    """Everything a running test knows; ``step`` shows it at any moment."""

    def __init__(
        self,
        classifier: Classifier,
        dataset: Dataset,
        params: LastParticleParams,
        deadline: Deadline,
    ) -> None:
        self._deadline = deadline
        if deadline.limited:
            replicas = affordable(params, classifier.times, classifier.capabilities.gradients)
            params = params.model_copy(update={"replicas": replicas})
        self._classifier, self._params = classifier, params
        if len(dataset):
            self._name = dataset.key(0)
        else:
            self._name = ""
        self._chosen: Chosen = one_input(classifier, dataset, params)
        self._eps = params.eps or fitted_size(
            params.noise, classifier.kind, math.prod(classifier.shape)
        )
        self._run = PairTests(classifier, dataset, params, self._chosen, (self._eps,), trace=True)
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
        # Two points a decade, from the critical probability, where
        # the risk is the power, downwards.
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
        self._dataset = dataset
        self._why_not_measured = unmeasurable(classifier, params)
        self._around = Around()
        self._screened: Screened | None = None
        self._beside = 0

    def work(self) -> Iterator[None]:
        """The test, the plain samples, the search, the samples around failures, the proof.

        Yields every few model calls. A time limit is divided among them, and the test gets what is
        left.
        """
        if self._deadline.limited:
            yield from self._work_in_time()
            return
        yield from self._run.rounds()
        yield from self._monte_carlo.run()
        if not self._refusal:
            yield from self._search()
        self._why_not_measured = self._why_not_measured or self._known_well()
        if not self._why_not_measured:
            yield from self._measure()
        if not self._why_not_certified:
            yield from self._prove()
        # Last, and only where needed: it takes a test for each class.
        if self._could_hide():
            yield from self._screen()

    def _work_in_time(self) -> Iterator[None]:
        test, plain = iter(self._run.rounds()), iter(self._monte_carlo.run())
        self._why_not_measured = self._why_not_measured or _NO_TIME
        until = self._deadline.until
        # Half for the test at first, and what the others leave at the end: an unfinished
        # test still bounds the probability.
        yield from until(0.5, test)
        yield from until(0.65, plain)
        if not self._refusal:
            yield from until(0.8, self._search())
        if not self._why_not_certified:
            yield from until(0.85, self._prove())
        yield from until(1.0, test)
        yield from until(1.0, plain)

    def _known_well(self) -> str:
        """Why plain samples suffice; empty if failures are too rare for them."""
        failures, sampled = int(self._monte_carlo.failures[0]), int(self._monte_carlo.sampled[0])
        if failures < _PLENTY:
            return ""
        return (
            f"No samples around failures: {failures:,} of {sampled:,} plain samples fail already."
        )

    def _measure(self) -> Iterator[None]:
        run, p = self._run, self._params
        self._around = yield from measure(self._classifier, run, p, 0, self._counterexample)
        self._beside = 1
        # Without a ball every input is within the noise, and "counterexample" would mean nothing.
        bounded = p.noise in BOUNDED
        if self._around.centres is not None and bounded and self._counterexample is None:
            x = run.inputs(0, self._around.centres * run.prior.spread)
            for each, number in zip(x, self._classifier.infer(x).argmax(1).tolist(), strict=True):
                # Rounding between a latent point and its input may have undone the failure.
                if number != int(self._chosen.host[1][0]):
                    self._counterexample, self._counterexample_class = each.cpu().numpy(), number
                    break

    def _could_hide(self) -> bool:
        """Whether a failure behind another class may explain a pass or contradicting repetitions.

        False once gradients have looked for it.
        """
        p, joint = self._params, self._run.joint(0)
        unsure = (joint.validated or not joint.mixed) and not self._monte_carlo.failures[0]
        looked = not self._why_not_measured or p.importance == 0
        return unsure and not looked and not self._certified and screenable(self._classifier, p)

    def _screen(self) -> Iterator[None]:
        self._screened = yield from screen(
            self._classifier, self._dataset, self._params, self._chosen, self._eps
        )

    def _prove(self) -> Iterator[None]:
        failing = met_failures(self._run, self._monte_carlo, 0, 1)
        # A counterexample within the noise contradicts a proof as much as a failing sample.
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

    def step(self, *, last: bool = False) -> Step[LastParticleResult]:
        """The complete picture now; marked as cut if its time was up."""
        p = self._params
        done, total = self._run.progress
        if self._refusal:
            attack = 0
        else:
            attack = p.attack_steps
        if self._why_not_certified and not self._proven:
            proof = 0
        else:
            proof = 1
        if self._why_not_measured:
            beside = 0
        else:
            beside = p.importance
        done = (
            done * self._run.moves
            + int(self._monte_carlo.sampled[0])
            + self._attacked
            + self._proven
        )
        done += self._beside * beside
        total = total * self._run.moves + p.samples + attack + proof + beside
        cut = last and self._deadline.limited and done < total
        return Step(done, total, self._result(), cut=cut)

    def _result(self) -> LastParticleResult:
        p, run = self._params, self._run
        joint = run.joint(0)
        shown = joint.tests[joint.shown]
        lanes = run.lanes(joint.shown)
        failure = run.failure(0)
        if failure is None and self._screened is not None:
            failure = self._screened.failure
        sampled = int(self._monte_carlo.sampled[0])
        return LastParticleResult(
            **self._chance(joint),
            reason=joint.reason,
            finished=joint.finished,
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
            replica_levels=padded([lane.levels for lane in lanes]),
            p_trace=trace(run.law, lanes),
            **tests_of(run, joint),
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
            input=self._chosen.host[0][0],
            input_name=self._name,
            label=int(self._chosen.host[1][0]),
            labels=tuple(self._classifier.labels),
            kind=self._classifier.kind,
            certified=self._certified,
            certified_lower=self._certified_lower,
            certified_reason=self._why_not_certified,
            eps=self._eps,
            multi_label=self._classifier.settings.multi_label,
            leaps=run.leaps,
            **around_fields(self._around, self._screened, self._why_not_measured),
        )

    def _chance(self, joint: JointOutcome) -> dict[str, Any]:
        """The combined probability, and whether it lets the test pass."""
        failures = int(self._monte_carlo.failures[0])
        # A test that cannot tell gives no interval to combine.
        told = joint.finished and not joint.inconclusive
        tested = joint.p_estimate, joint.p_low, joint.p_high
        found = combined(
            Ends(*tested) if told else Ends(np.nan, np.nan, np.nan),
            self._beyond(),
            failures,
            int(self._monte_carlo.sampled[0]),
        )
        source = int(found.source)
        if source:
            p, low, high = (float(found.p), float(found.low), float(found.high))
        else:
            p, low, high = tested
        return {
            "validated": joint.validated and not failures and p <= self._params.critical,
            "inconclusive": joint.inconclusive and not source,
            "p_estimate": p,
            "p_low": low,
            "p_high": high,
            "p_source": source,
            "agree": bool(found.agree),
            "passed": joint.validated,
        }

    def _beyond(self) -> Ends:
        """What was measured around failures, or met class by class."""
        if self._screened is not None:
            joint = self._screened.joint
            if joint.p_low > 0:
                return Ends(joint.p_estimate, joint.p_low, joint.p_high)
        measured = self._around.measured
        return Ends(measured.p, measured.low, measured.high)
