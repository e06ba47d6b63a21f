"""Results made by hand, for words and views."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from robgui.analyses.zonnscan import (
    CornerCasesResult,
    PopulationsResult,
    WatermarkResult,
    ZonnscanResult,
)

RADII = np.array([0.0, 0.05, 0.25, 1.0])
LABELS = ("shirt", "coat", "boot")


def swept(radii: np.ndarray = RADII, each: int = 1024, **fields: object) -> ZonnscanResult:
    """A finished sweep in which nothing changes class, unless ``fields`` say otherwise."""
    count, classes = len(radii), len(LABELS)
    confidence = np.tile([0.9, 0.07, 0.03], (count, 1))
    result = ZonnscanResult(
        radii=radii,
        index=np.linspace(0.1, 0.4, count),
        ci_low=np.linspace(0.09, 0.39, count),
        ci_high=np.linspace(0.11, 0.41, count),
        mean_confidence=confidence,
        vote_share=np.tile(np.eye(classes)[0], (count, 1)),
        crossing=np.zeros(count),
        crossing_low=np.zeros(count),
        crossing_high=np.full(count, 0.0036),
        entropy_of_mean=np.linspace(0.1, 0.5, count),
        mutual_information=np.linspace(0, 0.1, count),
        samples=np.where(radii == 0, 1, each),
        model_calls=3 * each + 1,
        crossing_radius=math.nan,
        witness=np.zeros((0, 1, 4, 4), dtype=np.float32),
        witness_class=-1,
        input=np.full((1, 4, 4), 0.5, dtype=np.float32),
        input_name="image 7",
        predicted=0,
        labels=LABELS,
        shown_class=np.zeros((count, 8), dtype=np.int64),
        kind="image",
        sampler="sobol",
        corners=np.zeros((0, 1, 4, 4), dtype=np.float32),
        attack=np.zeros((0, 1, 4, 4), dtype=np.float32),
        attack_calls=400,
    )
    return replace(result, **fields)


def sampled_at(radius: float, klass: int = 1) -> dict[str, object]:
    """Fields of a sweep whose samples found a change."""
    witness = np.full((1, 1, 4, 4), 0.5 + radius / 2, dtype=np.float32)
    return {"crossing_radius": radius, "witness_class": klass, "witness": witness}


def attacked_at(radius: float, klass: int = 2) -> dict[str, object]:
    """Fields of a sweep whose gradient attack found a change."""
    attack = np.full((1, 1, 4, 4), 0.5 + radius, dtype=np.float32)
    return {"attack_radius": radius, "attack_class": klass, "attack": attack}


def begun(known: int) -> dict[str, object]:
    """Fields of a sweep of which the first radii are computed only."""
    result = swept()
    open_ = np.arange(len(RADII)) >= known
    fields: dict[str, object] = {"samples": np.where(open_, 0, result.samples)}
    for name in ("index", "ci_low", "ci_high", "crossing", "entropy_of_mean", "mutual_information"):
        fields[name] = np.where(open_, np.nan, getattr(result, name))
    fields["mean_confidence"] = np.where(open_[:, None], np.nan, result.mean_confidence)
    fields["vote_share"] = np.where(open_[:, None], np.nan, result.vote_share)
    return {**fields, "attack_calls": 0, "attack_note": "it has not been made yet"}


def compared(
    first: list[float],
    second: list[float],
    *,
    names: tuple[str, str] = ("test", "adversarial"),
    **fields: object,
) -> PopulationsResult:
    """A comparison of inputs with these uncertainties, made by the engine's own function."""
    from robgui.analyses.zonnscan.populations import compare

    index = np.array([*first, *second])
    count = len(index)
    known = compare(np.array(first), np.array(second))
    result = PopulationsResult(
        index=index,
        half_width=np.full(count, 0.01),
        crossing=np.zeros(count),
        second=np.arange(count) >= len(first),
        predicted=np.zeros(count, dtype=np.int64),
        names=names,
        keys=tuple(f"image {i}" for i in range(count)),
        numbers=np.arange(count),
        thumbnails=np.zeros((count, 4, 4, 3), dtype=np.uint8),
        notable=np.zeros(0, dtype=np.int64),
        notable_inputs=np.zeros((0, 1, 4, 4), dtype=np.float32),
        kind="image",
        means=known.means,
        ks_statistic=known.ks_statistic,
        ks_p=known.ks_p,
        false_alarms=known.false_alarms,
        detected=known.detected,
        auc=known.auc,
        samples=np.full(count, 64),
        model_calls=64 * count,
        labels=LABELS,
    )
    return replace(result, **fields)


def disagreed(
    count: int, looked: int = 300, chosen: int = 300, **fields: object
) -> CornerCasesResult:
    """A finished search in which the second of two models is right on all but the first input."""
    truth = np.ones(count, dtype=np.int64)
    classes = np.stack([np.zeros(count, dtype=np.int64), truth]).astype(np.int64)
    if count:
        truth[0] = 2
    result = CornerCasesResult(
        models=("fashion_mlp.pt2", "fashion_rnn.pt"),
        looked=looked,
        numbers=np.arange(count),
        keys=tuple(f"image {i}" for i in range(count)),
        classes=classes,
        confidence=np.full((2, count), 0.8),
        truth=truth,
        pairs=np.array([[0, count], [count, 0]]),
        thumbnails=np.zeros((count, 4, 4, 3), dtype=np.uint8),
        notable_inputs=np.zeros((min(count, 20), 1, 4, 4), dtype=np.float32),
        populations=(),
        model_calls=2 * looked,
        labels=LABELS,
        kind="image",
        chosen=chosen,
    )
    return replace(result, **fields)


def marked(index: np.ndarray, **fields: object) -> WatermarkResult:
    """A check with uncertainties ``(2, runs, n)`` of which half of the key fools the first
    model.
    """
    from robgui.analyses.zonnscan.populations import compare

    count = index.shape[2]
    adversarial = np.arange(count) < count // 2
    runs = np.isfinite(index).all((0, 2))
    known = compare(index[0, runs].ravel(), index[1, runs].ravel()) if runs.any() else None
    result = WatermarkResult(
        models=("a.pt2", "a.pt2, watermarked"),
        numbers=np.arange(count),
        keys=tuple(f"image {i}" for i in range(count)),
        classes=np.zeros(count, dtype=np.int64),
        adversarial=adversarial,
        answers=np.stack([adversarial.astype(np.int64), np.zeros(count, dtype=np.int64)]),
        confidence=np.full((2, count), 0.8),
        index=index,
        means=np.full(2, np.nan) if known is None else known.means,
        ks_statistic=math.nan if known is None else known.ks_statistic,
        ks_p=math.nan if known is None else known.ks_p,
        accuracy=np.array([0.9, 0.88]),
        kept=0.95,
        rounds=10,
        notable_inputs=np.zeros((1 if known else 0, 1, 4, 4), dtype=np.float32),
        thumbnails=np.zeros((count, 4, 4, 3), dtype=np.uint8),
        model_calls=1000,
        labels=LABELS,
        kind="image",
    )
    return replace(result, **fields)
