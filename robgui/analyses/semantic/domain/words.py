"""What is said about an operating domain."""

from __future__ import annotations

import math

import numpy as np

from robgui.analyses.last_particle.sampling.chance import PLAIN
from robgui.analyses.last_particle.words import confidence
from robgui.analyses.semantic.domain.params import OperatingDomainParams
from robgui.analyses.semantic.domain.result import OperatingDomainResult, Pose
from robgui.analyses.semantic.params import IMAGE
from robgui.analyses.semantic.result import image_place
from robgui.analyses.semantic.words import (
    border_words,
    finding_picture,
    place_words,
    range_words,
    sentence_case,
)
from robgui.core.finding import Finding
from robgui.core.finding_pair import picture_of_two
from robgui.core.intervals import clopper_pearson
from robgui.core.offer import Offer
from robgui.core.text.words import count, percent, probability
from robgui.core.verdict import Quantity, Status, Verdict

#: From this share on, a probability is given in per cent.
_OFTEN = 1e-3


def domain_verdict(result: OperatingDomainResult, params: OperatingDomainParams) -> Verdict:
    """How rarely the class is lost, and what that rests on, evidence against it first."""
    return Verdict(
        _status(result),
        _sentence(result, params),
        _quantity(result, params),
        _scope(result),
        tuple(part for part in _because(result, params) if part),
        reach=f"below {probability(params.critical, 2)} over {range_words(result.axes)}",
    )


def _status(result: OperatingDomainResult) -> Status:
    known = result.p_source and result.p_low > 0
    # A failure that was met outweighs every bound.
    if result.usual.margin > 0 or result.lost or (known and not result.validated):
        return Status.FAILS
    if result.worst.margin > 0:
        return Status.AT_RISK
    if result.validated:
        return Status.HOLDS
    return Status.UNKNOWN


def _sentence(result: OperatingDomainResult, params: OperatingDomainParams) -> str:
    name = f"{result.shape}, “{result.labels[result.target]}”"
    if result.validated:
        rare = f"{probability(params.critical, 2)} ({confidence(params.risk)} confidence)"
        return f"{name}: among the poses expected it is lost with probability below {rare}."
    if result.p_source and result.p_low > 0:
        return f"{name}: among the poses expected it is lost {_often(result)}."
    if not result.finished:
        most = _most(result, params)
        return (
            f"{name}: so far not lost among the poses expected; at most"
            f" {_share(most)} of them can lose it ({confidence(params.risk)} confidence)."
        )
    if result.worst.margin > 0:
        place = place_words(result.axes, result.worst.at)
        return f"{name}: it can be lost, as at {place}; how often, the test cannot tell."
    return f"{name}: the test cannot tell, because {result.reason}."


def _often(result: OperatingDomainResult) -> str:
    interval = f"95 % interval {_share(result.p_low)} to {_share(result.p_high)}"
    if result.p >= _OFTEN:
        return f"in about {_share(result.p)} of all cases ({interval})"
    return f"with probability about {_share(result.p)} ({interval})"


def _share(p: float) -> str:
    if p >= _OFTEN:
        return percent(p)
    return probability(p)


def _most(result: OperatingDomainResult, params: OperatingDomainParams) -> float:
    """The largest share that the plain samples leave possible."""
    # Twice the risk, since only the upper end is used.
    _, high = clopper_pearson(result.lost, len(result.margins), 1 - 2 * params.risk)
    return float(high)


def _because(result: OperatingDomainResult, params: OperatingDomainParams) -> list[str]:
    said = [_missed(result), _at_rest(result), _worst(result), _source(result)]
    if result.validated:
        said.append(_rests_on(result))
    if result.finished and not result.lost:
        said.append(f"No failure among {len(result.margins):,} plain poses.")
    varied = zip(result.axes, result.distributions, strict=True)
    others = [f"{axis.title.lower()} {words}" for axis, words in varied if words != "uniform"]
    if others:
        said.append(f"{sentence_case('; '.join(others))}.")
    said.append(border_words(result.axes, params.scene == IMAGE))
    return said


def _rests_on(result: OperatingDomainResult) -> str:
    checks = "one repetition can hardly check that"
    if len(result.replica_killed) > 1:
        checks = "the repetitions show no sign against it"
    return (
        f"This holds if the poses of the test move freely; {checks}. A trap smaller than what was"
        " sampled is not excluded."
    )


def _missed(result: OperatingDomainResult) -> str:
    if not (result.passed and result.lost):
        return ""
    failed = count(result.lost, "plain pose")
    return f"The test alone would have passed, but {failed} failed: it has missed a way to fail."


def _at_rest(result: OperatingDomainResult) -> str:
    if result.usual.margin <= 0:
        return ""
    seen, place = result.labels[result.usual.seen_as], place_words(result.axes, result.usual.at)
    return f"It is lost already nearest to the usual values ({place}): the network sees “{seen}”."


def _worst(result: OperatingDomainResult) -> str:
    place = place_words(result.axes, result.worst.at)
    if result.worst.margin > 0:
        seen = result.labels[result.worst.seen_as]
        if result.lost:
            unmet = ""
        else:
            unmet = ", which no plain pose met,"
        return f"The worst pose met ({place}){unmet} is seen as “{seen}”."
    return f"Nearest to another class of all poses met: {place}."


def _source(result: OperatingDomainResult) -> str:
    if not result.p_source or result.validated:
        return ""
    if result.p_source == PLAIN:
        samples = f"{result.lost:,} of {len(result.margins):,} plain poses"
        return f"The probability is that of {samples}."
    return "The probability is that of the test."


def _quantity(result: OperatingDomainResult, params: OperatingDomainParams) -> Quantity:
    name = "Probability that the class is lost in the domain"
    if result.validated:
        text = f"below {probability(params.critical, 2)}"
        return Quantity(name, result.p_high, better="low", text=text)
    if result.p_source and result.p_low > 0:
        return Quantity(
            name,
            result.p,
            low=result.p_low,
            high=result.p_high,
            better="low",
            text=f"about {_share(result.p)}",
        )
    if result.finished:
        text = "cannot tell"
    else:
        text = f"below {_share(_most(result, params))} so far"
    return Quantity(name, math.nan, better="low", text=text)


def _scope(result: OperatingDomainResult) -> str:
    state = ""
    if not result.finished:
        sampled = f"{len(result.margins):,} of {result.samples:,} plain poses"
        state = f"Not finished: {sampled}, {result.killed:,} of {count(result.m, 'round')}. "
    expected = f"Expected: {range_words(result.axes)}"
    return f"{state}{expected}; {count(result.model_calls, 'picture')} looked at."


def domain_findings(result: OperatingDomainResult, params: OperatingDomainParams) -> list[Finding]:
    """The failing pose most like the usual one, and the worst."""
    poses = [*result.nearest[:1]]
    if result.worst.margin > 0 and not any(np.array_equal(p.at, result.worst.at) for p in poses):
        poses.append(result.worst)
    return [_finding(result, pose) for pose in poses]


def _finding(result: OperatingDomainResult, pose: Pose) -> Finding:
    name, seen = result.labels[result.target], result.labels[pose.seen_as]
    where = place_words(result.axes, pose.at)
    title = f"{result.shape}: “{name}” becomes “{seen}” at {where}, within the operating domain"
    values = zip(result.axes, pose.at, strict=True)
    detail = {
        "class": name,
        "seen_as": seen,
        "at": {axis.name: float(value) for axis, value in values},
        "p_estimate": result.p,
        "network": result.network,
    }
    picture = picture_of_two(finding_picture(result.usual.image), finding_picture(pose.image))
    return Finding("domain failure", title, _severity(result), detail, picture, pose.image)


def _severity(result: OperatingDomainResult) -> float:
    """1 if every tenth pose fails or more, a tenth less for each power of ten."""
    if result.p_source and result.p > 0:
        p = result.p
    else:
        # A failure found by search alone, which no sample met: taken as rare as the usual limit.
        p = 1e-6
    return float(np.clip(1 + 0.1 * (1 + math.log10(p)), 0.3, 1))


def domain_offers(
    result: OperatingDomainResult, params: OperatingDomainParams
) -> tuple[Offer, ...]:
    """Failing poses as inputs."""
    poses = [pose for pose in (result.worst, *result.nearest) if pose.margin > 0]
    if not poses:
        return ()
    names = tuple(f"{result.shape}, {place_words(result.axes, pose.at)}" for pose in poses)
    images, place = np.stack([pose.image for pose in poses]), image_place((params.scene,), 0)
    one = Offer(f"The worst: {names[0]}", names[:1], images[:1], places=(place,))
    if len(poses) == 1:
        return (one,)
    title = f"{len(poses)} failing poses"
    return one, Offer(title, names, images, places=(place,) * len(poses))
