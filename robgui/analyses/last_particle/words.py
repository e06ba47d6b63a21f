"""What the last particle says: verdicts, findings and offers.

A failure that anything has seen (the test, a plain sample, a gradient search) outweighs the
statistics: "validated" is said only where no sample failed, and beside a counterexample of the
gradient search the status is a risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robgui.analyses.last_particle.params import LastParticleParams
from robgui.analyses.last_particle.result import OUTSIDE, LastParticleResult
from robgui.core.finding import Finding
from robgui.core.intervals import clopper_pearson
from robgui.core.offer import Offer
from robgui.core.text.words import count, probability
from robgui.core.verdict import Quantity, Status, Verdict

#: What each kind of noise means, for axes and sentences.
NOISE_WORDS = {
    "box": "uniform noise of at most {eps} per value, within bounds",
    "clip": "uniform noise of at most {eps} per value, cut off at the bounds",
    "l2": "uniform noise in a ball of radius {eps} (root of squares), cut off at the bounds",
    "gaussian": "Gaussian noise of standard deviation {eps}",
}
#: With at least this many failing plain samples their share is the better estimate.
ENOUGH_FAILURES = 10


@dataclass(frozen=True, slots=True)
class Chance:
    """One failure probability from everything that was sampled, with its 95 % interval and where
    it comes from.
    """

    p: float
    low: float
    high: float
    source: str


def noise_words(noise: str, eps: float) -> str:
    """The noise in words."""
    return NOISE_WORDS[noise].format(eps=f"{eps:g}")


def validated(result: LastParticleResult) -> bool:
    """Whether the test has passed and no plain sample contradicts it."""
    return result.validated and not result.monte_carlo_failures


def chance_of(result: LastParticleResult) -> Chance | None:
    """The failure probability: by plain samples where enough of them failed, else by the test.

    None without an answer.
    """
    failures, samples = result.monte_carlo_failures, result.monte_carlo_samples
    if failures >= ENOUGH_FAILURES or (failures and (result.validated or result.inconclusive)):
        low, high = clopper_pearson(failures, samples)
        return Chance(
            failures / samples,
            float(low),
            float(high),
            f"{failures:,} of {samples:,} plain samples",
        )
    if result.inconclusive or result.validated:
        return None
    return Chance(
        result.p_estimate,
        result.p_low,
        result.p_high,
        f"{count(result.model_calls, 'call')} of the test",
    )


def verdict(result: LastParticleResult, params: LastParticleParams) -> Verdict:
    """Whether noise makes the model fail, how often, and what that rests on, evidence against
    first.
    """
    chance = chance_of(result)
    because = [
        _contradiction(result),
        _counterexample(result),
        _proof(result),
        _rests_on(result, params),
        _plain(result),
    ]
    return Verdict(
        _status(result, chance),
        _sentence(result, params, chance),
        _quantity(result, params, chance),
        _scope(result, params),
        tuple(part for part in because if part),
    )


def _status(result: LastParticleResult, chance: Chance | None) -> Status:
    if result.certified:
        return Status.HOLDS if chance is None else Status.FAILS
    if chance is not None:
        return Status.FAILS
    if result.counterexample is not None:
        return Status.AT_RISK
    return Status.HOLDS if validated(result) else Status.UNKNOWN


def _sentence(result: LastParticleResult, params: LastParticleParams, chance: Chance | None) -> str:
    noise = noise_words(params.noise, params.eps)
    name = f"{result.input_name}, “{result.labels[result.label]}”"
    if chance is not None:
        interval = (
            f"{confidence(OUTSIDE)} interval {probability(chance.low)} to"
            f" {probability(chance.high)}"
        )
        most = (
            "at most about"
            if params.class_wise and not chance.source.endswith("samples")
            else "about"
        )
        return (
            f"{name}: {noise} changes the class with probability {most} {probability(chance.p)}"
            f" ({interval})."
        )
    if result.certified:
        return f"{name}: certified; no noise of at most {params.eps:g} per value changes the class."
    if validated(result):
        limit, sure = probability(params.critical, 2), confidence(params.risk)
        rare = f"{noise} changes the class with probability below {limit} ({sure} confidence)"
        if result.counterexample is None:
            return f"{name}: validated; {rare}."
        other = result.labels[result.counterexample_class]
        return (
            f"{name}: chance hardly ever finds it, but a change within the noise turns it into"
            f" “{other}”; {rare}."
        )
    if not result.finished:
        return f"{name}: no answer yet; {_rounds(result)} done."
    return f"{name}: the test cannot tell, because {result.reason}."


def _contradiction(result: LastParticleResult) -> str:
    if not result.validated or not result.monte_carlo_failures:
        return ""
    return (
        "The test alone would have passed, but"
        f" {count(result.monte_carlo_failures, 'plain sample')} failed: it has missed a way to"
        " fail; test class by class."
    )


def _counterexample(result: LastParticleResult) -> str:
    if result.counterexample is None:
        return ""
    other = result.labels[result.counterexample_class]
    return f"A gradient search finds an input within the noise that the model takes for “{other}”."


def _proof(result: LastParticleResult) -> str:
    if not result.certified:
        return ""
    alone = (
        f" The test alone cannot tell: {result.reason}."
        if result.inconclusive and result.finished
        else ""
    )
    return f"Formal bounds prove it.{alone}"


def _rests_on(result: LastParticleResult, params: LastParticleParams) -> str:
    if result.certified or not validated(result):
        return ""
    checks = (
        "the diagnostics found no sign against it"
        if params.replicas > 1
        else "one repetition can hardly check that"
    )
    return f"This holds if the samples of the test move freely; {checks}."


def _plain(result: LastParticleResult) -> str:
    if not result.monte_carlo_samples or result.monte_carlo_failures:
        return ""
    return f"No failure among {result.monte_carlo_samples:,} plain samples."


def _scope(result: LastParticleResult, params: LastParticleParams) -> str:
    calls = count(result.model_calls, "call")
    state = "" if result.finished else f"Not finished: {_rounds(result)}. "
    return f"{state}{calls} of the test, {count(result.monte_carlo_samples, 'plain sample')}."


def _rounds(result: LastParticleResult) -> str:
    done = int(np.minimum(result.test_killed, result.m).sum())
    return f"{done:,} of {count(result.m * len(result.test_killed), 'round')}"


def _quantity(
    result: LastParticleResult, params: LastParticleParams, chance: Chance | None
) -> Quantity:
    name = f"Failure probability, {noise_words(params.noise, params.eps)}"
    if chance is not None:
        return Quantity(
            name,
            chance.p,
            low=chance.low,
            high=chance.high,
            better="low",
            text=f"about {probability(chance.p)}",
        )
    if result.certified:
        return Quantity(name, 0.0, better="low", text="0, by proof")
    if validated(result):
        return Quantity(
            name, result.p_high, better="low", text=f"below {probability(params.critical, 2)}"
        )
    return Quantity(
        name, float("nan"), better="low", text="cannot tell" if result.finished else "not finished"
    )


def confidence(risk: float) -> str:
    """One minus the risk, in per cent."""
    return f"{100 * (1 - risk):.10g} %"


def findings(result: LastParticleResult, params: LastParticleParams) -> list[Finding]:
    """The failing input, or that the test cannot be trusted."""
    from robgui.core.dataset.picture import picture_of

    detail, name = _detail(result, params), result.labels[result.label]
    chance = chance_of(result)
    found = []
    if result.failure is not None and chance is not None:
        other = result.labels[result.failure_class]
        title = (
            f"{result.input_name}: “{name}” becomes “{other}” with probability about"
            f" {probability(chance.p)}"
        )
        picture = beside(result.input, result.failure, result.kind)
        found.append(
            Finding("noise failure", title, severity(chance.p), detail, picture, result.failure)
        )
    if result.counterexample is not None:
        other = result.labels[result.counterexample_class]
        title = (
            f"{result.input_name}: “{name}” becomes “{other}” within the noise, found by gradient"
            " search"
        )
        picture = beside(result.input, result.counterexample, result.kind)
        found.append(Finding("rare failure", title, 0.4, detail, picture, result.counterexample))
    if result.finished and not result.mixed and not result.certified:
        title = f"{result.input_name}: {result.reason}"
        found.append(
            Finding(
                "not mixed", title, 0.1, detail, picture_of(result.input, result.kind), result.input
            )
        )
    return found


def _detail(result: LastParticleResult, params: LastParticleParams) -> dict[str, object]:
    return {
        "class": result.labels[result.label],
        "other_class": result.labels[result.failure_class] if result.failure_class >= 0 else "",
        "p_estimate": result.p_estimate,
        "p_low": result.p_low,
        "p_high": result.p_high,
        "noise": params.noise,
        "eps": params.eps,
        "validated": validated(result),
        "plain_failures": result.monte_carlo_failures,
        "plain_samples": result.monte_carlo_samples,
    }


def severity(p: float) -> float:
    """1 for a failure at every tenth sample or more often, falling by a tenth for each power of
    ten.
    """
    return float(np.clip(1.1 + 0.1 * np.log10(max(p, 1e-300)), 0.1, 1.0))


def beside(x: np.ndarray, failing: np.ndarray, kind: str) -> np.ndarray:
    """The input and, right of it, the failing one, as a picture."""
    from robgui.core.dataset.picture import picture_of

    first, second = (_enlarged(picture_of(each, kind)) for each in (x, failing))
    gap = np.full((first.shape[0], 8, 3), 255, dtype=np.uint8)
    return np.concatenate([first, gap, second], axis=1)


def _enlarged(picture: np.ndarray, smallest: int = 112) -> np.ndarray:
    factor = max(1, -(-smallest // max(picture.shape[:2])))
    return picture.repeat(factor, 0).repeat(factor, 1)


def offers(result: LastParticleResult, params: LastParticleParams) -> Sequence[Offer]:
    """The failing input, the one found by gradient search, and the input itself."""
    made = [Offer(f"The input, {result.input_name}", (result.input_name,), places=(0,))]
    for failing, title, words in (
        (result.failure, "The failing input", "with noise of"),
        (result.counterexample, "The failure found by gradient search", "attacked within noise of"),
    ):
        if failing is not None:
            made.insert(
                0,
                Offer(
                    title,
                    (f"{result.input_name} {words} {params.eps:g}",),
                    failing[None],
                    places=(0,),
                ),
            )
    return made
