"""What grown regions say in words: verdict and findings."""

from __future__ import annotations

import numpy as np

from robgui.analyses.semantic.params import METHOD_WORDS
from robgui.analyses.semantic.result import RegionsResult
from robgui.analyses.semantic.words import finding_picture, place_words, region_place
from robgui.core.finding import Finding
from robgui.core.headline import Headline
from robgui.core.text.words import count, number, percent


def regions_verdict(result: RegionsResult) -> str:
    """The largest region, whether it is what it should be, how the others fared, and what it cost."""
    if not result.method:
        subject = f"{result.shape}, “{result.labels[result.target]}”"
        return f"{subject}: the scene is being looked at, no region has begun to grow yet. {result.model_calls:,} model calls."
    return f"{_largest(result)} {_fates(result)} {result.model_calls:,} model calls."


def regions_headline(result: RegionsResult) -> Headline:
    """How much of the range the largest region fills that is what it should be."""
    kept = result.grown & ~result.never_grew & result.holds
    share = float(np.nanmax(result.volume[kept], initial=0.0)) if kept.any() else 0.0
    title = f"Largest {result.mode} region"
    if not result.grown.any():
        return Headline(title, float("nan"), "none grown yet", "high", "unknown")
    good = share > 0 if result.mode == "robust" else share == 0
    return Headline(title, share, f"{percent(share)} of the range", "high" if result.mode == "robust" else "low", "good" if good else "bad")


def _largest(result: RegionsResult) -> str:
    name, word = result.labels[result.target], result.mode
    subject = f"{result.shape}, “{name}”"
    grew = result.grown & ~result.never_grew
    if not grew.any():
        return f"{subject}: no {word} region was found from any start."
    best = int(np.argmax(np.where(grew, result.volume + result.holds, -1)))
    where = region_place(result.axes, result.low[best], result.high[best])
    region = f"largest {word} region ({METHOD_WORDS[result.method[best]]}, start {result.start_number[best] + 1})"
    size = f"{where}, {percent(float(result.volume[best]))} of the range"
    mean, var = float(result.inside_mean[best]), float(result.inside_var[best])
    if not np.isfinite(mean):
        return f"{subject}: {region} {size}."
    wanted = f"at least {number(1 - result.eps_m)}" if word == "robust" else f"at most {number(result.eps_m)}"
    fits = "as asked" if result.holds[best] else "which is not what was asked"
    return (
        f"{subject}: {region} {size}. Inside, the mean score is {number(mean)} and its variance {number(var)}, {fits} "
        f"({wanted}, variance at most {number(result.eps_v)}; {count(result.samples, 'sample')})."
    )


def _fates(result: RegionsResult) -> str:
    parts = [count(len(result.method), "region")]
    for number_of, words in (
        (int(result.holds.sum()), f"{result.mode} as asked"),
        (int((result.never_grew | ~result.grown).sum()), "never grew"),
        (int(result.hit_domain.sum()), "reach the end of the range"),
        (int((~result.converged).sum()), "did not come to rest"),
    ):
        parts.append(f"{number_of} {words}")
    verb = "is" if len(result.warnings) == 1 else "are"
    warned = f" {count(len(result.warnings), 'start')} {verb} unfit: {result.warnings[0]}" if result.warnings else ""
    return ", ".join(parts) + "." + warned


def regions_findings(result: RegionsResult) -> list[Finding]:
    """Robust mode: spots inside a region where the class fails. Adversarial mode: every region found."""
    return [_finding(result, place) for place in range(len(result.worst_scores))]


def _finding(result: RegionsResult, place: int) -> Finding:
    region = int(result.worst_region[place])
    name, seen = result.labels[result.target], result.labels[result.worst_top1[place]]
    score = float(result.worst_scores[place])
    where = place_words(result.axes, result.worst_points[place])
    bounds = {axis.name: [float(a), float(b)] for axis, a, b in zip(result.axes, result.low[region], result.high[region], strict=True)}
    adversarial = result.mode == "adversarial"
    detail = {
        "class": name,
        "seen_as": seen,
        "score": score,
        "at": {axis.name: float(value) for axis, value in zip(result.axes, result.worst_points[place], strict=True)},
        "region": bounds,
        "method": result.method[region],
        "share_of_range": float(result.volume[region]),
        "mean_inside": float(result.inside_mean[region]),
        "network": result.network,
    }
    if adversarial:
        place_of = region_place(result.axes, result.low[region], result.high[region])
        title = f"{result.shape}: “{name}” fails in {place_of}, seen as “{seen}”"
        severity = min(1.0, 1 - float(result.inside_mean[region]))
    else:
        title = f"{result.shape}: inside a {METHOD_WORDS[result.method[region]]} region “{name}” becomes “{seen}” at {where}"
        severity = float(np.clip(result.inside_mean[region] - score, 0, 1))
    image = result.worst_images[place]
    kind = "adversarial region" if adversarial else "hole"
    return Finding(kind, title, severity, detail, finding_picture(image), image)
