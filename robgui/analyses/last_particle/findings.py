"""Findings of the last particle, and inputs it can pass on: failing ones beside their originals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.last_particle.params import LastParticleParams
from robgui.analyses.last_particle.result import LastParticleResult
from robgui.analyses.last_particle.words import chance_of, size_of
from robgui.core.finding import Finding
from robgui.core.offer import Offer
from robgui.core.text.words import probability


def findings(result: LastParticleResult, params: LastParticleParams) -> list[Finding]:
    """The failing input, or a warning that the test cannot be trusted."""
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
        # 0.4 is the severity of a failure at 1e-7: real, but chance hardly ever meets it.
        found.append(Finding("rare failure", title, 0.4, detail, picture, result.counterexample))
    if result.finished and not result.mixed and not result.certified:
        title = f"{result.input_name}: {result.reason}"
        # The least severity there is: a warning about the test, not a failure of the model.
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
        "eps": size_of(result, params),
        "input_name": result.input_name,
        "validated": result.validated,
        "plain_failures": result.monte_carlo_failures,
        "plain_samples": result.monte_carlo_samples,
    }


def severity(p: float) -> float:
    """1 for a failure in at least every tenth sample, a tenth less for each power of ten."""
    # 1.1 + 0.1 log10(p) is 1 at p = 0.1.
    return float(np.clip(1.1 + 0.1 * np.log10(max(p, 1e-300)), 0.1, 1.0))


def beside(x: np.ndarray, failing: np.ndarray, kind: str) -> np.ndarray:
    """The input and, right of it, the failing one, as a picture."""
    from robgui.core.dataset.picture import picture_of

    first, second = (_enlarged(picture_of(each, kind)) for each in (x, failing))
    gap = np.full((first.shape[0], 8, 3), 255, dtype=np.uint8)
    return np.concatenate([first, gap, second], axis=1)


# 112 is four times a 28 × 28 digit.
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
            # In front: what fails is what people want to send on.
            made.insert(
                0,
                Offer(
                    title,
                    (f"{result.input_name} {words} {size_of(result, params):g}",),
                    failing[None],
                    places=(0,),
                ),
            )
    return made
