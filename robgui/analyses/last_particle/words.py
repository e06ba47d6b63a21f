"""What the last particle says about one input.

Any observed failure (in the test, a plain sample, a gradient search) outweighs the statistics:
"validated" is said only if no sample failed, and beside a counterexample of the gradient search the
status is a risk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robgui.analyses.last_particle.params import LastParticleParams
from robgui.analyses.last_particle.result import OUTSIDE, LastParticleResult
from robgui.analyses.last_particle.sampling.chance import AROUND, PLAIN, TEST
from robgui.core.text.words import count, number, probability
from robgui.core.verdict import Quantity, Status, Verdict

#: What each kind of noise means, for axes and sentences.
NOISE_WORDS = {
    "box": "uniform noise (at most {eps} of the range, within bounds)",
    "clip": "uniform noise (at most {eps} of the range, cut off at the bounds)",
    "l2": "uniform noise in an l2 ball of radius {eps} (then clipped to the range)",
    "ball": "uniform noise in the part of an l2 ball of radius {eps} that lies within the range",
    "gaussian": "Gaussian noise of standard deviation {eps}",
    "smooth": "smooth noise (blotches) of standard deviation {eps}",
    "light": "a change of brightness and contrast by about {eps}",
    "jpeg": "JPEG compression down to quality {quality}",
}


@dataclass(frozen=True, slots=True)
class Chance:
    """One failure probability from everything sampled, with its 95 % interval and its source."""

    p: float
    low: float
    high: float
    source: str


def noise_words(noise: str, eps: float) -> str:
    """The noise in words."""
    return NOISE_WORDS[noise].format(eps=f"{eps:g}", quality=number(max(1, 100 * (1 - eps))))


def noise_kind(noise: str) -> str:
    """The kind of noise in words, without its size."""
    return {
        "box": "uniform noise per value, within bounds",
        "clip": "uniform noise per value, cut off at the bounds",
        "l2": "noise in an l2 ball, then clipped to the range",
        "ball": "noise in the part of an l2 ball that lies within the range",
        "gaussian": "Gaussian noise",
        "smooth": "smooth noise (blotches)",
        "light": "changes of brightness and contrast",
        "jpeg": "JPEG compression",
    }[noise]


def size_of(result: LastParticleResult, params: LastParticleParams) -> float:
    """The size of the noise: as decided, or as set if an older result does not say."""
    if np.isfinite(result.eps):
        return result.eps
    return params.eps


def chance_of(result: LastParticleResult) -> Chance | None:
    """The failure probability if known to be above 0, from everything sampled.

    None without an answer, or if the test passes and nothing else has a number.
    """
    if not result.p_source:
        return None
    sources = {
        PLAIN: f"{result.monte_carlo_failures:,} of {result.monte_carlo_samples:,} plain samples",
        TEST: f"{count(result.model_calls, 'call')} of the test",
        AROUND: f"{result.around_samples:,} samples around the likeliest failures",
    }
    if result.hidden:
        sources[AROUND] = "a test of each class by itself"
    if result.validated and result.p_source != AROUND:
        return None
    return Chance(result.p_estimate, result.p_low, result.p_high, sources[result.p_source])


def verdict(result: LastParticleResult, params: LastParticleParams) -> Verdict:
    """Whether and how often noise makes the model fail, with the evidence against it first."""
    chance = chance_of(result)
    because = [
        _contradiction(result),
        _counterexample(result),
        _met(result),
        _source(chance),
        _uncounted(result),
        _proof(result),
        _rests_on(result, params),
        _hidden(result, params),
        _plain(result),
        _several_labels(result),
    ]
    return Verdict(
        _status(result, chance),
        _sentence(result, params, chance),
        _quantity(result, params, chance),
        _scope(result, params),
        tuple(part for part in because if part),
        reach=f"under {noise_words(params.noise, size_of(result, params))}",
    )


def _status(result: LastParticleResult, chance: Chance | None) -> Status:
    if chance is not None and not result.validated:
        return Status.FAILS
    if result.certified:
        return Status.HOLDS
    if result.counterexample is not None or result.failure is not None:
        return Status.AT_RISK
    if result.validated:
        return Status.HOLDS
    return Status.UNKNOWN


def _sentence(result: LastParticleResult, params: LastParticleParams, chance: Chance | None) -> str:
    noise = noise_words(params.noise, size_of(result, params))
    name = f"{result.input_name}, “{result.labels[result.label]}”"
    if chance is not None and not result.validated:
        return f"{name}: {noise} changes the class with probability {_about(chance)}."
    if result.certified:
        size = f"{size_of(result, params):g}"
        reach = f"at most {size} of each value's range"
        return f"{name}: certified; no noise of {reach} changes the class."
    if result.validated:
        return f"{name}: {_validated(result, params, noise, chance)}."
    if not result.finished:
        most = so_far(result, params)
        if most > TELLING:
            return f"{name}: no answer yet; {_rounds(result)} done."
        return (
            f"{name}: so far, {noise} changes the class with probability below"
            f" {_at_most(most)} ({confidence(params.risk)} confidence)."
        )
    if result.failure is not None:
        return (
            f"{name}: {noise} can change the class, as a failing input shows; how often, the test"
            f" cannot tell, because {result.reason}."
        )
    return f"{name}: the test cannot tell, because {result.reason}."


#: A larger upper end says nothing that a person would call an answer.
TELLING = 0.5


def so_far(result: LastParticleResult, params: LastParticleParams) -> float:
    """The failure probability that an unfinished test leaves possible; 1 if it tells nothing.

    Only if every repetition kills one particle at a time, and nothing speaks against it.
    """
    # The Poisson bound is that of one test with one death at a time.
    if params.kill > 1 or len(result.test_killed) > 1 or not result.mixed:
        return 1.0
    from robgui.analyses.last_particle.exact import bound_so_far  # Slow to import.

    lines = params.particles * len(result.replica_killed)
    samples, failures = result.monte_carlo_samples, result.monte_carlo_failures
    return bound_so_far(int(result.killed), lines, failures, samples, params.risk)


def _at_most(p: float) -> str:
    """One digit, rounded up: what is said to be below it really is."""
    digits = -math.floor(math.log10(p))
    return probability(min(1.0, math.ceil(p * 10.0**digits) / 10.0**digits))


def _about(chance: Chance) -> str:
    return (
        f"about {probability(chance.p)} ({confidence(OUTSIDE)} interval"
        f" {probability(chance.low)} to {probability(chance.high)})"
    )


def _validated(
    result: LastParticleResult, params: LastParticleParams, noise: str, chance: Chance | None
) -> str:
    limit, sure = probability(params.critical, 2), confidence(params.risk)
    rare = f"below {limit} ({sure} confidence)"
    if result.counterexample is None:
        return f"validated; {noise} changes the class with probability {rare}"
    other = result.labels[result.counterexample_class]
    often = rare if chance is None else _about(chance)
    return (
        f"somebody who chooses the change within the noise turns it into “{other}”, but chance"
        f" hardly ever does; {noise} changes the class with probability {often}"
    )


def _contradiction(result: LastParticleResult) -> str:
    """What the test has missed, if anything."""
    if result.passed and result.monte_carlo_failures:
        seen = f"{count(result.monte_carlo_failures, 'plain sample')} failed"
    elif result.passed and result.hidden:
        seen = "testing each class by itself met a failure"
    elif result.passed and not result.validated:
        seen = "samples around the likeliest failures fail more often"
    elif not result.agree:
        decides = "plain samples, which assume nothing, decide"
        if result.p_source != PLAIN:
            decides = "the interval holds both"
        return (
            f"Two ways of sampling exclude each other, so one has missed a way to fail; {decides}."
        )
    else:
        return ""
    return f"The test alone would have passed, but {seen}: it has missed a way to fail."


def _counterexample(result: LastParticleResult) -> str:
    if result.counterexample is None:
        return ""
    other = result.labels[result.counterexample_class]
    return f"A gradient search finds an input within the noise that the model takes for “{other}”."


def _met(result: LastParticleResult) -> str:
    """A failure met by a running test; a finished one says it in its sentence."""
    if result.finished or result.failure is None:
        return ""
    other = result.labels[result.failure_class]
    return f"The test has met an input within the noise that the model takes for “{other}”."


def _source(chance: Chance | None) -> str:
    if chance is None:
        return ""
    return f"The probability is that of {chance.source}."


def _uncounted(result: LastParticleResult) -> str:
    if not result.around_found or np.isfinite(result.around_p) or not result.around_samples:
        return ""
    return (
        f"{result.around_samples:,} samples around the likeliest failures are too few to measure"
        f" them: they count as {number(result.around_effective)}."
    )


def _proof(result: LastParticleResult) -> str:
    if not result.certified:
        return ""
    if result.inconclusive and result.finished:
        alone = f" The test alone cannot tell: {result.reason}."
    else:
        alone = ""
    return f"Formal bounds prove it.{alone}"


def _rests_on(result: LastParticleResult, params: LastParticleParams) -> str:
    if result.certified or not result.validated:
        return ""
    if len(result.replica_killed) > 1:
        checks = "the diagnostics found no sign against it"
    else:
        checks = "one repetition can hardly check that"
    return f"This holds if the samples of the test move freely; {checks}."


def _hidden(result: LastParticleResult, params: LastParticleParams) -> str:
    """Whether a failure may hide behind a class whose score rises first."""
    if not result.validated or result.certified or len(result.labels) < 3 or params.class_wise:
        return ""
    every = len(result.labels) - 1
    how = "one test each" if result.screened else "gradients"
    if len(result.searched):
        return (
            f"Failures hidden behind another class were looked for by {how}, for"
            f" {len(result.searched):,} of {count(every, 'class')}, and none speaks against it."
        )
    return (
        "Not excluded: a failure hidden behind a class whose score rises first; test class by"
        " class to look for it."
    )


def _several_labels(result: LastParticleResult) -> str:
    if not result.multi_label:
        return ""
    return (
        "The model may give several classes at once; tested is only whether the one with the"
        " highest score stays."
    )


def _plain(result: LastParticleResult) -> str:
    if not result.monte_carlo_samples or result.monte_carlo_failures:
        return ""
    return f"No failure among {result.monte_carlo_samples:,} plain samples."


def _scope(result: LastParticleResult, params: LastParticleParams) -> str:
    calls = count(result.model_calls, "call")
    over = f" over {count(len(result.replica_killed), 'repetition')}"
    state = "" if result.finished else f"Not finished: {_rounds(result)}{over}. "
    if result.around_samples:
        around = f", {result.around_samples:,} around failures"
    else:
        around = ""
    plain = count(result.monte_carlo_samples, "plain sample")
    leaps = " with leaps along a gradient (white-box)" if result.leaps else ""
    return f"{state}{calls} of the test{leaps}, {plain}{around}."


def _rounds(result: LastParticleResult) -> str:
    done = int(np.minimum(result.test_killed, result.m).sum())
    return f"{done:,} of {count(result.m * len(result.test_killed), 'round')}"


def _quantity(
    result: LastParticleResult, params: LastParticleParams, chance: Chance | None
) -> Quantity:
    name = f"Failure probability, {noise_words(params.noise, size_of(result, params))}"
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
        return Quantity(name, 0.0, low=0.0, high=0.0, better="low", text="0, by proof")
    if result.validated:
        return Quantity(
            name, result.p_high, better="low", text=f"below {probability(params.critical, 2)}"
        )
    if not result.finished and (most := so_far(result, params)) <= TELLING:
        return Quantity(name, float("nan"), better="low", text=f"below {_at_most(most)} so far")
    return Quantity(
        name, float("nan"), better="low", text="cannot tell" if result.finished else "not finished"
    )


def confidence(risk: float) -> str:
    """One minus the risk, in per cent."""
    return f"{100 * (1 - risk):.10g} %"
