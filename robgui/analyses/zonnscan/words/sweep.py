"""What a sweep says: how near the nearest change of class is, however it was found."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robgui.analyses.zonnscan.params import ZonnscanParams
from robgui.analyses.zonnscan.result import ATTACK_TO_COME, ZonnscanResult
from robgui.analyses.zonnscan.words.figures import uncertainty
from robgui.analyses.zonnscan.words.pictures import enlarged, side_by_side
from robgui.analyses.zonnscan.zone import SAMPLER_WORDS, change_words, largest_radius
from robgui.core.finding import Finding
from robgui.core.offer import Offer
from robgui.core.text.words import count, number, percent
from robgui.core.verdict import Quantity, Status, Verdict

#: Default share of the largest radius within which the class should hold.
NEAR = 0.1
#: The uncertainty "jumps" if it rises by this much from radius 0 to the radius asked for.
JUMP = 0.2


@dataclass(frozen=True, slots=True)
class Change:
    """A change of class: its radius, its class (-1: unknown), its input, and how it was found."""

    radius: float
    klass: int
    input: np.ndarray
    how: str


def changes(result: ZonnscanResult) -> list[Change]:
    """The changes of class that were found, the nearest first."""
    found = [
        Change(result.attack_radius, result.attack_class, result.attack, "a gradient attack"),
        Change(result.crossing_radius, _witness_class(result), result.witness, "a random sample"),
    ]
    return sorted((one for one in found if math.isfinite(one.radius)), key=lambda one: one.radius)


def _witness_class(result: ZonnscanResult) -> int:
    """The class of the nearest sample or, until it is drawn again, the most frequent one."""
    if result.witness_class >= 0 or not math.isfinite(result.crossing_radius):
        return result.witness_class
    votes = result.vote_share[int(np.abs(result.radii - result.crossing_radius).argmin())].copy()
    # One label per sample makes the shares add up to 1; several make them more or less.
    several_labels = not math.isclose(float(votes.sum()), 1, abs_tol=1e-6)
    # The input's own class cannot be what it changes into.
    votes[result.predicted] = 0
    if several_labels:
        return -1
    return int(votes.argmax())


def held(result: ZonnscanResult, params: ZonnscanParams) -> float:
    """The radius up to which the class should hold."""
    return params.hold_radius or NEAR * largest_radius(params.zone, result.input.size)


def computed(result: ZonnscanResult) -> float:
    """The radius up to which every radius has samples; 0 if none has."""
    # Up to the first gap: a sampled radius beyond it says nothing about those before.
    missing = np.flatnonzero((result.radii > 0) & (result.samples == 0))
    if len(missing):
        known = result.radii[: missing[0]]
    else:
        known = result.radii
    if len(known):
        return float(known[-1])
    return 0.0


def attacked(result: ZonnscanResult) -> bool:
    """Whether a gradient attack has looked at every radius."""
    return result.attack_calls > 0 and not result.attack_note


def verdict(result: ZonnscanResult, params: ZonnscanParams) -> Verdict:
    """How near the nearest change of class is, and how much of the zone that rests on."""
    return Verdict(
        status=_status(result, params),
        sentence=_sentence(result, params),
        number=_number(result),
        scope=_scope(result, params),
        because=tuple(_because(result, params)),
        reach=f"against {change_words(params.zone, number(held(result, params)))}",
    )


def _wrong(result: ZonnscanResult) -> bool:
    return result.truth >= 0 and result.truth != result.predicted


def _status(result: ZonnscanResult, params: ZonnscanParams) -> Status:
    limit = held(result, params)
    if changes(result):
        nearest = changes(result)[0].radius
    else:
        nearest = math.inf
    if _wrong(result) or nearest <= limit:
        return Status.FAILS
    if nearest <= params.risk_factor * limit:
        return Status.AT_RISK
    # Samples alone never suffice: they seldom come near the nearest change.
    if attacked(result) and computed(result) >= limit:
        return Status.HOLDS
    return Status.UNKNOWN


def _class(result: ZonnscanResult, number_of: int) -> str:
    return f"“{result.labels[number_of]}”"


def _other(result: ZonnscanResult, change: Change) -> str:
    """The class after a change; several labels may change without another one on top."""
    known = change.klass not in (-1, result.predicted)
    if known:
        return _class(result, change.klass)
    return "another class"


def _sentence(result: ZonnscanResult, params: ZonnscanParams) -> str:
    name, own = result.input_name, _class(result, result.predicted)
    if _wrong(result):
        return f"{name}: the model says {own}, but the label says {_class(result, result.truth)}."
    found, reach = changes(result), computed(result)
    if found:
        change = change_words(params.zone, number(found[0].radius))
        return f"{name}: {change} is enough to turn {own} into {_other(result, found[0])}."
    if not reach:
        return f"{name}: the model says {own}; nothing around it was sampled."
    samples = f"{_sampled(result):,} random samples"
    if attacked(result):
        nobody = f"neither {samples} nor a gradient attack"
    else:
        nobody = f"none of {samples}"
    so_far = "so far, " if _open(result) else ""
    return f"{name}: {so_far}up to radius {number(reach)}, {nobody} changes {own}."


def _sampled(result: ZonnscanResult) -> int:
    return int(result.samples[result.radii > 0].sum())


def _open(result: ZonnscanResult) -> bool:
    """Whether some radius has no samples yet."""
    return bool((result.samples[result.radii > 0] == 0).any())


def _number(result: ZonnscanResult) -> Quantity:
    name, found = "Nearest change of class found", changes(result)
    if found:
        words = f"radius {number(found[0].radius)}, by {found[0].how}"
        return Quantity(name, found[0].radius, better="high", text=words)
    reach = computed(result)
    if reach:
        words = f"none up to radius {number(reach)}"
    else:
        words = "nothing sampled"
    words += " so far" if _open(result) and reach else ""
    return Quantity(name, math.nan, better="high", text=words)


def _scope(result: ZonnscanResult, params: ZonnscanParams) -> str:
    reach, last = computed(result), float(result.radii[-1])
    sampler = SAMPLER_WORDS[result.sampler]
    if result.sampler != params.sampler:
        sampler += f" ({SAMPLER_WORDS[params.sampler]} ones do not fit these inputs)"
    radii = f"Radii up to {number(last)}"
    if _open(result):
        radii = f"So far, radii up to {number(reach)} of {number(last)}"
    elif result.attack_note == ATTACK_TO_COME:
        radii = f"So far, radii up to {number(last)}"
    if last:
        return f"{radii}, {_sampled(result):,} samples, {sampler}."
    return "The input itself."


def _rule(result: ZonnscanResult, params: ZonnscanParams) -> str:
    """The thresholds that the status rests on."""
    limit = held(result, params)
    risk = number(params.risk_factor * limit)
    return (
        f"Limits: the class should hold up to radius {number(limit)}; a change up to {risk} is a"
        " risk."
    )


def _because(result: ZonnscanResult, params: ZonnscanParams) -> list[str]:
    told = []
    if _wrong(result):
        told.append(f"The label of the input is {_class(result, result.truth)}.")
    told += [_attack_words(result), _sample_words(result, params), _surety(result)]
    cost = count(result.model_calls, "model call")
    if result.attack_calls:
        cost += f" and {result.attack_calls:,} of the attack"
    return [words for words in (*told, _rule(result, params), f"{cost}.") if words]


def _attack_words(result: ZonnscanResult) -> str:
    last = float(result.radii[-1])
    if math.isfinite(result.attack_radius):
        change = next(one for one in changes(result) if one.how == "a gradient attack")
        return (
            f"A gradient attack finds {_other(result, change)} at radius"
            f" {number(result.attack_radius)}."
        )
    if attacked(result):
        return f"A gradient attack finds no change up to radius {number(last)}."
    if result.attack_note:
        return f"No gradient attack: {result.attack_note.rstrip('.')}."
    if last:
        return "No gradient attack was made."
    return ""


def _sample_words(result: ZonnscanResult, params: ZonnscanParams) -> str:
    seldom = "random samples seldom find the nearest change"
    if math.isfinite(result.crossing_radius):
        change = next(one for one in changes(result) if one.how == "a random sample")
        return (
            f"The nearest random sample with {_other(result, change)} is at radius"
            f" {number(result.crossing_radius)}; {seldom}."
        )
    reach = computed(result)
    if not reach:
        return ""
    words = f"No random sample up to radius {number(reach)} changes class; {seldom}."
    if params.zone != "box" and reach >= largest_radius(params.zone, result.input.size):
        words += (
            " At that radius they are plain noise, which the model takes for"
            f" {_class(result, result.predicted)} too, so this says little about real inputs."
        )
    return words


def _surety(result: ZonnscanResult) -> str:
    """What the samples say at the smallest sampled radius."""
    known = np.flatnonzero((result.radii > 0) & (result.samples > 0))
    if not len(known):
        return ""
    i, samples = known[0], int(result.samples[known[0]])
    value, low, high = (float(v[i]) for v in (result.index, result.ci_low, result.ci_high))
    crossed = round(float(result.crossing[i]) * samples)
    return (
        f"At radius {number(float(result.radii[i]))}, {crossed:,} of {count(samples, 'sample')} "
        f"change class (at most {percent(float(result.crossing_high[i]))} do, 95 % sure) and the "
        f"uncertainty is {uncertainty(value, low, high, samples)}."
    )


def findings(result: ZonnscanResult, params: ZonnscanParams) -> list[Finding]:
    """The input, if its class changes or the uncertainty jumps within the radius asked for.

    A change not far beyond that radius is shown beside a jump: it is what the verdict speaks of.
    """
    limit = held(result, params)
    shown = [one for one in changes(result) if one.radius <= params.risk_factor * limit]
    near = [one for one in shown if one.radius <= limit]
    jump = uncertainty_jump(result, limit)
    if not near and jump < JUMP:
        return []
    own = _class(result, result.predicted)
    rises = f"the uncertainty rises by {number(jump)} up to radius {number(limit)}"
    title = f"{result.input_name}: {rises}"
    severity, failing, other = min(1.0, jump), result.input, ""
    if shown:
        nearest = shown[0]
        other = _other(result, nearest)
        title = f"{result.input_name}: {own} becomes {other} at radius {number(nearest.radius)}"
        if not near:
            title += f"; {rises}"
        # 1 at the input itself, 0 at the radius up to which the class should hold.
        severity = max(severity, 1 - nearest.radius / limit)
        if len(nearest.input):
            failing = nearest.input[0]
    detail = {
        "class": result.labels[result.predicted],
        "other_class": other.strip("“”"),
        "radius": shown[0].radius if shown else None,
        "found_by": shown[0].how if shown else None,
        "beyond": bool(shown) and not near,
        "zone": params.zone,
        "uncertainty_at_input": float(result.index[0]) if result.radii[0] == 0 else None,
        "uncertainty_rise": jump,
        "input_name": result.input_name,
    }
    pictures = [enlarged(x, result.kind) for x in (result.input, *([failing] if shown else []))]
    return [Finding("near boundary", title, severity, detail, side_by_side(pictures), failing)]


def uncertainty_jump(result: ZonnscanResult, limit: float) -> float:
    """How far the uncertainty rises from the smallest radius within the limit."""
    values = result.index[result.radii <= limit]
    values = values[np.isfinite(values)]
    if len(values) > 1:
        return float(values.max() - values[0])
    return 0.0


def offers(result: ZonnscanResult, params: ZonnscanParams) -> list[Offer]:
    """The input, and the changes of class that were found, the nearest first."""
    if params.zone == "box":
        return []
    offered = [Offer(f"The input, {result.input_name}", (result.input_name,), places=(0,))]
    for change in changes(result):
        if len(change.input):
            name = f"{result.input_name} moved by {number(change.radius)}"
            title = f"The nearest change of class by {change.how}"
            offered.append(Offer(title, (name,), change.input, places=(0,)))
    return offered
