"""What grown regions say in words."""

from __future__ import annotations

import numpy as np

from robgui.analyses.semantic.params import IMAGE
from robgui.analyses.semantic.regions.box.box_words import (
    all_tried,
    box_number,
    box_sentence,
    class_words,
)
from robgui.analyses.semantic.regions.lost import (
    failing,
    grew,
    lost_in,
    mode_of,
    passed,
    shown_region,
    size_of,
)
from robgui.analyses.semantic.regions.params import METHOD_WORDS, RegionsParams
from robgui.analyses.semantic.result import RegionsResult
from robgui.analyses.semantic.words import (
    axes_words,
    border_words,
    place_words,
    range_words,
    region_place,
    setting_words,
)
from robgui.core.text.words import count, number, percent
from robgui.core.verdict import Quantity, Status, Verdict


def regions_verdict(result: RegionsResult, params: RegionsParams) -> Verdict:
    """The region on show, the share of poses inside that lose the class, and the other regions."""
    region = shown_region(result, params)
    if region < 0:
        status, sentence = _nothing_grew(result, params)
    elif params.mode == "adversarial":
        status, sentence = _adversarial_status(result), _lost_sentence(result, region)
    elif mode_of(result, params) == "box":
        status, sentence = _box_status(result, params, region), box_sentence(result, params)
    else:
        status, sentence = _status(result, params, region), _sentence(result, params, region)
    if params.mode != "adversarial" and result.seen not in (-1, result.target):
        # However large a region elsewhere: the input itself is answered wrongly.
        status, sentence = Status.FAILS, f"{_wrong_already(result)} {sentence}"
    return Verdict(
        status=status,
        sentence=sentence,
        number=_number(result, params, region),
        scope=_scope(result, params),
        because=_evidence(result, params, region),
        reach=f"in {_number(result, params, region).words} ({range_words(result.axes)})",
    )


def _wrong_already(result: RegionsResult) -> str:
    seen = result.labels[result.seen]
    return (
        f"{result.network} says “{seen}” to {result.shape} as it is, but the label says"
        f" {class_words(result)}."
    )


def _nothing_grew(result: RegionsResult, params: RegionsParams) -> tuple[Status, str]:
    owner, name = result.network, class_words(result)
    starts = count(len(np.unique(result.start_number)), "start")
    if not result.method:
        looking = "the range is looked at first, no region has begun to grow yet"
        return Status.UNKNOWN, f"{owner}: {looking}."
    if params.mode == "adversarial":
        return Status.UNKNOWN, f"{owner}: no region that loses {name} grew from {starts}."
    if (result.start_top1 == result.target).any():
        return Status.UNKNOWN, f"{owner}: no region that keeps {name} has grown from {starts} yet."
    if starts == "1 start":
        where = "at the start"
    else:
        where = f"at any of {starts}"
    return Status.FAILS, f"{owner} does not see {name} {where}, so no region grew."


def _status(result: RegionsResult, params: RegionsParams, region: int) -> Status:
    """A failure seen inside any region outweighs every statistic; a small region is no success."""
    inside = lost_in(result, region)
    if failing(result)[region]:
        few = inside.known and inside.share <= params.most_lost
        if few:
            return Status.AT_RISK
        return Status.FAILS
    # A clean region on show does not excuse a failure in another, or at a start.
    if failing(result)[grew(result)].any() or (result.start_top1 != result.target).any():
        return Status.AT_RISK
    if not inside.known:
        return Status.UNKNOWN
    if result.volume[region] < params.enough:
        # The region is small because the class ends
        # there, not because it stopped growing.
        if _outside(result, region) >= 0:
            return Status.AT_RISK
        return Status.UNKNOWN
    if inside.most <= params.most_lost:
        return Status.HOLDS
    return Status.UNKNOWN


def _box_status(result: RegionsResult, params: RegionsParams, region: int) -> Status:
    """A box that has not passed is no success; a pose lost inside it is a risk."""
    if not all_tried(result):
        return Status.UNKNOWN
    if not passed(result, params)[region]:
        return Status.FAILS
    return _status(result, params, region)


def _adversarial_status(result: RegionsResult) -> Status:
    """Every region that loses the class begins at a pose that does."""
    if (result.start_top1 != result.target).any():
        return Status.FAILS
    return Status.UNKNOWN


def _sentence(result: RegionsResult, params: RegionsParams, region: int) -> str:
    inside, name = lost_in(result, region), class_words(result)
    size = percent(size_of(result, region))
    fills = f"fills {size} of {axes_words(result.axes)}"
    if not inside.known:
        known = "has not been looked into yet"
        if failing(result)[region]:
            known = "contains poses that lose it"
        return f"{result.network}: the largest region around {name} {fills} and {known}."
    if inside.lost:
        share = percent(inside.share)
        lost = f"{result.network} loses {name} at {share} of the poses"
        return f"{lost} in its largest region, which {fills}."
    if result.volume[region] < params.enough:
        only = "only "
    else:
        only = ""
    poses = f"all {count(inside.total, 'pose')} drawn from a region that fills"
    kept = f"{result.network} keeps {name} at {poses}"
    if failing(result)[grew(result)].any():
        others = ", but loses it inside others"
    else:
        others = ""
    return f"{kept} {only}{size} of {axes_words(result.axes)}{others}."


def _lost_sentence(result: RegionsResult, region: int) -> str:
    inside, name = lost_in(result, region), class_words(result)
    fills = f"fills {percent(size_of(result, region))} of {axes_words(result.axes)}"
    if not inside.known:
        region_words = f"the largest region {fills} and has not been looked into yet"
        return f"{result.network} loses {name} around a start; {region_words}."
    lost = f"{result.network} loses {name} at {percent(inside.share)} of the poses"
    return f"{lost} in a region that {fills}."


def _number(result: RegionsResult, params: RegionsParams, region: int) -> Quantity:
    volume = size_of(result, region) if region >= 0 else 0.0
    if params.mode == "adversarial":
        if region >= 0:
            text = f"{percent(volume)} of the range"
        else:
            text = "none found"
        return Quantity("Largest region that loses the class", volume, better="low", text=text)
    if mode_of(result, params) == "box":
        return box_number(result, params, region)
    title = "Largest region without a failure inside"
    if region < 0 or not (lost_in(result, region).known or failing(result)[region]):
        known = bool(result.method) and (result.start_top1 != result.target).all()
        if known:
            value, text = (0.0, "none")
        else:
            value, text = (float("nan"), "not known yet")
        return Quantity(title, value, better="high", text=text)
    if failing(result)[region]:
        return Quantity(title, 0.0, better="high", text="none")
    return Quantity(title, volume, better="high", text=f"{percent(volume)} of the range")


def _scope(result: RegionsResult, params: RegionsParams) -> str:
    what = f"{class_words(result)} of {result.shape} over {range_words(result.axes)}"
    regions, starts = len(result.method), len(np.unique(result.start_number))
    if not regions:
        return f"{what}; no region yet."
    looked = sum(lost_in(result, region).known for region in range(regions))
    begun = f"{count(regions, 'region')} from {count(starts, 'start')}"
    if mode_of(result, params) == "box":
        boxes = count(regions, "box")
        tried = "each tested on new poses, the confidence holds for all of them together"
        return f"{what}; {boxes} from {count(starts, 'start')}, {tried}."
    if looked == regions:
        drawn = f"{count(int(result.inside_total[0]), 'pose')} drawn in each after it had grown"
        return f"{what}; {begun}, {drawn}."
    if looked:
        so_far = f"{looked} of them looked into so far"
    else:
        so_far = "what is inside is not counted"
    return f"{what}; {begun}, {so_far}."


def _evidence(result: RegionsResult, params: RegionsParams, region: int) -> tuple[str, ...]:
    lines: list[str] = []
    if region >= 0:
        lines += [_inside_words(result, params, region), _others_words(result, params)]
        lines += [_outside_words(result, params, region), _region_words(result, region)]
        lines.append(_usual_words(result, params, region))
        lines.append(_asked_words(result, params, region))
    if result.warnings:
        if len(result.warnings) == 1:
            unfit = "start is"
        else:
            unfit = "starts are"
        lines.insert(0, f"{len(result.warnings)} {unfit} unfit: {result.warnings[0]}")
    lines.append(border_words(result.axes, params.scene == IMAGE))
    lines += [_fates(result), f"{count(result.model_calls, 'model call')}."]
    return tuple(line for line in lines if line)


def _inside_words(result: RegionsResult, params: RegionsParams, region: int) -> str:
    inside = lost_in(result, region)
    if not inside.known:
        return ""
    words = f"Poses inside that lose the class: {inside.words}"
    if params.mode == "adversarial":
        return f"{words}."
    few = not inside.lost and inside.most > params.most_lost
    more = "; draw more samples to show it" if few else ""
    return f"{words}; allowed: {setting_words(params.most_lost)}{more}."


def _others_words(result: RegionsResult, params: RegionsParams) -> str:
    """How the other regions fared inside."""
    bad = np.flatnonzero(failing(result) & grew(result))
    if params.mode == "adversarial" or not len(bad):
        return ""
    shares = [lost_in(result, int(place)).share for place in bad]
    counted = [share for share in shares if np.isfinite(share)]
    if counted:
        worst = f", the worst at {percent(max(counted))}"
    else:
        worst = ""
    verb = "contains" if len(bad) == 1 else "contain"
    many = f"{len(bad)} of {count(len(result.method), 'region')}"
    return f"{many} {verb} poses that lose the class{worst}."


def _outside(result: RegionsResult, region: int) -> int:
    """Place of a pose just outside a region that loses the class; -1 for none."""
    if not result.outside_top1.size:
        return -1
    tops = result.outside_top1[region]
    lost = np.flatnonzero((tops >= 0) & (tops != result.target))
    if len(lost):
        return int(lost[0])
    return -1


def _outside_words(result: RegionsResult, params: RegionsParams, region: int) -> str:
    place = _outside(result, region)
    if params.mode == "adversarial" or place < 0:
        return ""
    seen = result.labels[result.outside_top1[region, place]]
    where = place_words(result.axes, result.outside_points[region, place])
    return f"Just outside it becomes “{seen}”, at {where}."


def _region_words(result: RegionsResult, region: int) -> str:
    where = region_place(result.axes, result.low[region], result.high[region])
    method, start = METHOD_WORDS[result.method[region]], result.start_number[region] + 1
    return f"The region: {where} ({method}, start {start})."


def _usual_words(result: RegionsResult, params: RegionsParams, region: int) -> str:
    """How large the region around the usual pose is, if it is not the one described."""
    usual = np.array([axis.default for axis in result.axes])
    around = ((result.low <= usual) & (usual <= result.high)).all(1) & grew(result)
    if params.mode == "adversarial" or around[region]:
        return ""
    if not around.any():
        return "No region contains the usual pose."
    size = percent(float(result.volume[around].max()))
    return f"It does not contain the usual pose; the largest that does fills {size}."


def _asked_words(result: RegionsResult, params: RegionsParams, region: int) -> str:
    """The paper's own test of a region: mean and variance of the score inside."""
    mean, var = float(result.inside_mean[region]), float(result.inside_var[region])
    if not np.isfinite(mean) or mode_of(result, params) == "box":
        return ""
    wanted = f"at least {number(1 - params.eps_m)}"
    if params.mode == "adversarial":
        wanted = f"at most {number(params.eps_m)}"
    if result.holds[region]:
        fits = "within"
    else:
        fits = "outside of"
    allowed = f"mean {wanted}, variance at most {number(params.eps_v)}"
    found = f"The mean score inside is {number(mean)}, its variance {number(var)}"
    return f"{found}: {fits} what the settings allow ({allowed})."


def _fates(result: RegionsResult) -> str:
    if not result.method:
        return ""
    parts = (
        (int((~grew(result)).sum()), "never grew"),
        (int(result.hit_domain.sum()), "reached the end of the range"),
        (int((~result.converged).sum()), "still growing when stopped"),
    )
    fates = ", ".join(f"{many} {words}" for many, words in parts)
    return f"{count(len(result.method), 'region')}: {fates}."
