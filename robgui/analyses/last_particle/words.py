"""What a last-particle result says in words: verdicts, headlines and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robgui.analyses.last_particle.exact import OUTSIDE
from robgui.core.dataset.picture import picture_of
from robgui.core.finding import Finding
from robgui.core.headline import Headline, Status
from robgui.core.text.words import count, percent, probability

if TYPE_CHECKING:
    from robgui.analyses.last_particle.result import LastParticleResult, LastParticleTableResult

#: What each kind of noise means, for axes and sentences.
NOISE_WORDS = {
    "box": "uniform noise of at most {eps} per value, within bounds",
    "clip": "uniform noise of at most {eps} per value, cut off at the bounds",
    "l2": "uniform noise in an l2 ball of radius {eps}",
    "gaussian": "Gaussian noise of standard deviation {eps}",
}


def noise_words(noise: str, eps: float) -> str:
    """The noise in words."""
    return NOISE_WORDS[noise].format(eps=f"{eps:g}")


def verdict(result: LastParticleResult) -> str:
    """Proven, validated, failing, inconclusive or not finished, how sure, at what cost; then what else was found."""
    return " ".join(part for part in (_proof(result), _finding(result), _limits(result), _attack(result)) if part)


def _proof(result: LastParticleResult) -> str:
    return (
        f"Certified: formal bounds prove that no noise of at most {result.eps:g} per value changes the class." if result.certified else ""
    )


def _finding(result: LastParticleResult) -> str:
    calls = count(result.model_calls, "call")
    if result.validated:
        limit, sure = probability(result.critical, 2), _confidence(result.risk)
        return f"Validated: fails with probability below {limit}, at {sure} confidence, {calls}."
    if _open(result):
        return f"Not finished: {_killings(result)} after {calls}; no answer yet."
    if result.inconclusive:
        return f"{'The test alone is inconclusive' if result.certified else 'Inconclusive'} after {calls}: {result.reason}."
    interval = f"{_confidence(OUTSIDE)} interval: {probability(result.p_low)} to {probability(result.p_high)}"
    shown = " One failing input is shown." if result.failure is not None else ""
    return f"Fails with probability about {probability(result.p_estimate)} ({interval}), {calls}.{shown}"


def _open(result: LastParticleResult) -> bool:
    """Whether the test still climbs, or was stopped while it did: a result cannot tell the two apart."""
    return result.inconclusive and not result.finished


def _killings(result: LastParticleResult) -> str:
    killed = int(np.minimum(result.test_killed, result.m).sum())
    return f"{killed:,} of {count(result.m * len(result.test_killed), 'killing')}"


def _limits(result: LastParticleResult) -> str:
    """What the test could not have seen."""
    unproven = result.validated and not result.certified
    return "This holds if the particles move freely; the diagnostics found no sign against it." if unproven else ""


def _attack(result: LastParticleResult) -> str:
    if not result.validated or result.counterexample is None:
        return ""
    other = result.labels[result.counterexample_class]
    return f"A gradient search does find a failure within the noise, as “{other}”: rarer than that, not impossible."


def _confidence(risk: float) -> str:
    return f"{100 * (1 - risk):.10g} %"


def headline(result: LastParticleResult) -> Headline:
    """How often noise makes the model fail."""
    title = f"Failure probability, {noise_words(result.noise, result.eps)}"
    if result.certified:
        return Headline(title, 0.0, "0, by proof", "low", "good")
    if result.validated:
        status: Status = "good" if result.counterexample is None else "doubtful"
        return Headline(title, result.p_high, f"below {probability(result.critical, 2)}", "low", status)
    if result.inconclusive:
        return Headline(title, float("nan"), "not finished" if _open(result) else "inconclusive", "low", "unknown")
    return Headline(title, result.p_estimate, f"about {probability(result.p_estimate)}", "low", "bad")


def table_headline(result: LastParticleTableResult) -> Headline:
    """The share of inputs validated or proven at the largest noise."""
    title = f"{'Validated or proven' if result.certified.any() else 'Validated'} at noise {result.radii[-1]:g}"
    decided = (result.finished | result.certified)[-1]
    if not decided.any():
        return Headline(title, float("nan"), "not reached", "high", "unknown")
    share, unknown = (float(which[-1][decided].mean()) for which in (result.safe, result.undecided))
    status: Status = "good" if share == 1 else "bad" if share + unknown < 0.5 else "doubtful"
    if not decided.all() or unknown == 1:
        status = "unknown"
    return Headline(title, share, percent(share), "high", status)


def findings(result: LastParticleResult) -> list[Finding]:
    """The failing input, or that the particles did not move freely."""
    detail = _detail(result)
    name = result.labels[result.label]
    found = []
    if result.failure is not None:
        other = result.labels[result.failure_class]
        often = f"below {probability(result.critical, 2)}" if result.validated else f"about {probability(result.p_estimate)}"
        title = f"{result.input_name}: “{name}” becomes “{other}” with probability {often}"
        found.append(
            Finding("noise failure", title, _severity(result.p_estimate), detail, _pictures(result, result.failure), result.failure)
        )
    elif result.counterexample is not None:
        other = result.labels[result.counterexample_class]
        title = f"{result.input_name}: “{name}” becomes “{other}” within the noise, found by gradient search only"
        found.append(Finding("rare failure", title, 0.2, detail, _pictures(result, result.counterexample), result.counterexample))
    if result.finished and not result.mixed and not result.certified:
        title = f"{result.input_name}: {result.reason}"
        found.append(Finding("not mixed", title, 0.3, detail, picture_of(result.input, result.kind), result.input))
    return found


def _detail(result: LastParticleResult) -> dict[str, object]:
    return {
        "class": result.labels[result.label],
        "other_class": result.labels[result.failure_class] if result.failure_class >= 0 else "",
        "p_estimate": result.p_estimate,
        "p_low": result.p_low,
        "p_high": result.p_high,
        "noise": result.noise,
        "eps": result.eps,
        "validated": result.validated,
    }


def _severity(p: float) -> float:
    """1 for a failure at every tenth sample or more often, falling by a tenth for each power of ten."""
    return float(np.clip(1.1 + 0.1 * np.log10(max(p, 1e-300)), 0.1, 1.0))


def _pictures(result: LastParticleResult, failing: np.ndarray) -> np.ndarray:
    return beside(result.input, failing, result.kind)


def beside(x: np.ndarray, failing: np.ndarray, kind: str) -> np.ndarray:
    """The input and, right of it, the failing one, as a picture."""
    first, second = (_enlarged(picture_of(each, kind)) for each in (x, failing))
    gap = np.full((first.shape[0], 8, 3), 255, dtype=np.uint8)
    return np.concatenate([first, gap, second], axis=1)


def _enlarged(picture: np.ndarray, smallest: int = 112) -> np.ndarray:
    factor = max(1, -(-smallest // max(picture.shape[:2])))
    return picture.repeat(factor, 0).repeat(factor, 1)


def table_verdict(result: LastParticleTableResult) -> str:
    """How many inputs are validated at the smallest and the largest noise, beside what is proven, and the cost."""
    shares = " and ".join(_share(result, e) for e in sorted({0, len(result.radii) - 1}))
    parts = []
    if not result.certified_reason and np.isfinite(result.certified_lower).all():
        parts.append(_formal(result))
    if result.undecided[result.finished].any():
        parts.append(f"{percent(float(result.undecided[result.finished].mean()))} inconclusive")
    limit = probability(result.critical, 2)
    parts.append(f"validated means: noise fails with probability below {limit}, at {_confidence(result.risk)} confidence")
    rest = f"{'; '.join(parts)}; {count(result.model_calls, 'call')}."
    known = "Validated or proven" if result.certified.any() else "Validated"
    return f"{known} {shares} of {count(result.validated.shape[1], 'input')}. {rest[0].upper()}{rest[1:]}"


def _share(result: LastParticleTableResult, e: int) -> str:
    decided = int((result.finished | result.certified)[e].sum())
    share = percent(float(result.safe[e].sum()) / decided) if decided else "none yet"
    return f"{share} at noise {result.radii[e]:g}"


def _formal(result: LastParticleTableResult) -> str:
    over, found = result.false_positives, result.false_positives & result.counterexample
    words = f"{percent(float(result.certified.mean()))} of all pairs certified by proof, {percent(float(over.mean()))} validated only"
    if over.any():
        words += f" (a counterexample is known for {percent(float(found.sum() / over.sum()))} of these)"
    if result.contradictions.any():
        words += f"; {int(result.contradictions.sum()):,} certified but not validated, which must not be"
    return words


def table_findings(result: LastParticleTableResult) -> list[Finding]:
    """The failing inputs kept for showing, worst first."""
    found = []
    for place, (e, i) in enumerate(result.shown):
        p, name = float(result.p_estimate[e, i]), result.labels[int(result.classes[i])]
        other = result.labels[int(result.shown_class[place])]
        title = f"{result.names[i]}: “{name}” becomes “{other}” at noise {result.radii[e]:g} with probability about {probability(p)}"
        detail = {"class": name, "other_class": other, "p_estimate": p, "noise": result.noise, "eps": float(result.radii[e])}
        failing = result.shown_failure[place]
        found.append(
            Finding("noise failure", title, _severity(p), detail, beside(result.shown_input[place], failing, result.kind), failing)
        )
    return found
