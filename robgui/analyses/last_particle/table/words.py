"""What the table of the last particle says: how many inputs fail, pass and are open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robgui.analyses.last_particle.findings import beside, severity
from robgui.analyses.last_particle.params import LastParticleTableParams, MethodParams
from robgui.analyses.last_particle.result import LastParticleTableResult
from robgui.analyses.last_particle.words import confidence, noise_kind
from robgui.core.finding import Finding
from robgui.core.offer import Offer
from robgui.core.text.words import count, probability
from robgui.core.verdict import Quantity, Status, Verdict


@dataclass(frozen=True, slots=True)
class InputCounts:
    """How many inputs are in each state at each noise size, ``(E,)`` each.

    Every input is in exactly one of them.

    Attributes:
        failing: The test or a plain sample has seen a failure.
        risky: Validated by the test, but a gradient search found a failure within the noise.
        validated: Validated by the test, and nothing speaks against it.
        certified: Proven.
        unclear: The test cannot tell.
        open: Not decided yet.
    """

    failing: np.ndarray
    risky: np.ndarray
    validated: np.ndarray
    certified: np.ndarray
    unclear: np.ndarray
    open: np.ndarray


def counts_of(result: LastParticleTableResult) -> InputCounts:
    """Counts the pairs by what is known about them, the gravest first."""
    failing = failing_pairs(result)
    # A failure that was met voids the proof, whatever went wrong with it.
    certified = result.certified & ~failing
    rest = ~failing & ~certified
    risky = rest & result.counterexample
    # Each pair leaves ``rest`` once: the groups add up to all inputs.
    rest &= ~risky
    passed = rest & result.validated
    rest &= ~passed
    unclear = rest & result.finished & result.inconclusive
    groups = (failing, risky, passed, certified, unclear, rest & ~unclear)
    return InputCounts(*(np.asarray(group.sum(1)) for group in groups))


def failing_pairs(result: LastParticleTableResult) -> np.ndarray:
    """Where the test or a plain sample has seen a failure ``(E, n)``."""
    by_test = result.finished & ~result.validated & ~result.inconclusive
    return np.asarray(by_test | (result.monte_carlo_failures > 0))


def table_verdict(result: LastParticleTableResult, params: LastParticleTableParams) -> Verdict:
    """How many inputs fail, pass and are open at the largest noise."""
    inputs, known = result.validated.shape[1], counts_of(result)
    last = len(result.radii) - 1
    sentence = f"At noise {result.radii[last]:g}, of {count(inputs, 'input')}: {_row(known, last)}."
    limit = probability(params.critical, 2)
    because = [
        *_lost(known, result),
        _missed(result),
        _contradictions(result),
        (
            f"Validated means that noise changes the class with probability below {limit}, at"
            f" {confidence(params.risk)} confidence."
        ),
    ]
    # The largest noise decides: whoever holds there mostly holds at less.
    safe = int(known.validated[last] + known.certified[last])
    if known.open[last]:
        still = f", {int(known.open[last]):,} still open"
    else:
        still = ""
    quantity = Quantity(
        f"Inputs that hold at noise {result.radii[last]:g}",
        safe / max(1, inputs),
        # As if all that are open held.
        high=(safe + int(known.open[last])) / max(1, inputs),
        low=safe / max(1, inputs),
        better="high",
        text=f"{safe:,} of {count(inputs, 'input')}{still}",
    )
    left_out = (
        f" {count(result.left_out, 'input')} that the model gets wrong without noise were left out."
        if result.left_out
        else ""
    )
    if known.open.any():
        undecided = (
            f" {int(known.open.sum()):,} of {count(result.validated.size, 'test')} still open."
        )
    else:
        undecided = ""
    if result.multi_label:
        labels = (
            " The model may give several classes at once; tested is the one with the highest score."
        )
    else:
        labels = ""
    which = "The first" if inputs >= params.most else "All"
    judged = "that the model gets right"
    if params.truth == "predicted":
        judged = "with the class that the model gives each"
    scope = (
        f"{which} {count(inputs, 'input')} {judged}, {noise_kind(params.noise)},"
        f" {count(result.model_calls, 'call')}.{undecided}{left_out}{labels}"
    )
    said = tuple(part for part in because if part)
    reach = f"under {noise_kind(params.noise)}, up to size {result.radii[last]:g}"
    return Verdict(_table_status(known), sentence, quantity, scope, said, reach=reach)


def _row(known: InputCounts, e: int) -> str:
    parts = [
        (known.failing[e], "fail"),
        (known.risky[e], "pass the test but fail in a gradient search"),
        (known.validated[e], "validated"),
        (known.certified[e], "certified"),
        (known.unclear[e], "unclear"),
        (known.open[e], "still open"),
    ]
    return (
        ", ".join(f"{int(number):,} {words}" for number, words in parts if number)
        or "nothing is known yet"
    )


def _lost(known: InputCounts, result: LastParticleTableResult) -> list[str]:
    """The smallest noise at which an input fails."""
    failing = np.flatnonzero(known.failing)
    if len(failing):
        first = int(failing[0])
        # An open input at a smaller noise may still fail there.
        if known.open[: first + 1].any():
            begin = "So far the"
        else:
            begin = "The"
        return [
            (
                f"{begin} smallest noise at which an input fails is {result.radii[first]:g}"
                f" ({int(known.failing[first]):,} of them)."
            )
        ]
    if not known.open.any():
        return ["No input was seen to fail."]
    return []


def _missed(result: LastParticleTableResult) -> str:
    """What the test alone would have passed, and whether everything was searched."""
    if result.passed.shape != result.validated.shape:
        return ""
    missed = int((result.passed & ~result.validated & ~result.certified).sum())
    if missed:
        return (
            f"{missed:,} more would have passed the test alone: plain samples or samples around"
            " likely failures contradict it."
        )
    alone = result.validated & ~result.certified & ~result.looked
    # With two classes there is one rival only, which no other can hide.
    if len(result.labels) > 2 and alone.any() and not (result.finished & ~result.looked).all():
        return ""
    if len(result.labels) > 2 and alone.any():
        return (
            "Not excluded for the validated ones: a failure hidden behind a class whose score rises"
            " first; test class by class to look for it."
        )
    return ""


def _contradictions(result: LastParticleTableResult) -> str:
    wrong = int((result.certified & failing_pairs(result)).sum())
    if wrong:
        return f"{wrong:,} proofs are contradicted by a failing sample and do not count."
    return ""


def _table_status(known: InputCounts) -> Status:
    if known.failing.any():
        return Status.FAILS
    if known.risky.any():
        return Status.AT_RISK
    if known.open.any() or known.unclear.any():
        return Status.UNKNOWN
    return Status.HOLDS


def table_findings(
    result: LastParticleTableResult, params: LastParticleTableParams
) -> list[Finding]:
    """The failing inputs kept for showing, worst first."""
    return [
        _table_finding(result, params, place, int(e), int(i))
        for place, (e, i) in enumerate(result.shown)
    ]


def _table_finding(
    result: LastParticleTableResult, params: MethodParams, place: int, e: int, i: int
) -> Finding:
    p, name = float(result.p_estimate[e, i]), result.labels[int(result.classes[i])]
    other = result.labels[int(result.shown_class[place])]
    title = (
        f"{result.names[i]}: “{name}” becomes “{other}” at noise {result.radii[e]:g} with"
        f" probability about {probability(p)}"
    )
    detail = {
        "class": name,
        "other_class": other,
        "p_estimate": p,
        "noise": params.noise,
        "eps": float(result.radii[e]),
        "place": int(result.places[i]),
        "input_name": result.names[i],
    }
    failing = result.shown_failure[place]
    picture = beside(result.shown_input[place], failing, result.kind)
    return Finding("noise failure", title, severity(p), detail, picture, failing)


def table_offers(
    result: LastParticleTableResult, params: LastParticleTableParams
) -> Sequence[Offer]:
    """The failing inputs found."""
    if not len(result.shown):
        return ()
    names = tuple(f"{result.names[i]} with noise of {result.radii[e]:g}" for e, i in result.shown)
    places = tuple(int(result.places[i]) for _, i in result.shown)
    return (
        Offer("The worst failing input", names[:1], result.shown_failure[:1], places=places[:1]),
        Offer("All failing inputs on show", names, result.shown_failure, places=places),
    )
