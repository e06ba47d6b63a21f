"""A real analysis on a real network, small enough for tests of everything around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch import nn

from robgui.core.errors import ModelError
from robgui.core.execution.analysis import analysis
from robgui.core.execution.params.params import Params
from robgui.core.execution.registry import register
from robgui.core.execution.step import Step
from robgui.core.finding import Finding
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status, Verdict
from robgui.core.view import Axis, Curves, Line, View


class TinyParams(Params):
    """Settings of ``tiny_confidence``."""

    samples: int = Field(
        8,
        ge=1,
        le=1_000_000,
        title="Samples",
        description="Noisy copies of the inputs, one Step each.",
    )
    radii: tuple[float, ...] = Field((0.0, 0.5), title="Radii", description="Noise levels.")
    norm: Literal["linf", "l2"] = Field("linf", title="Norm", description="Shape of the noise.")
    fail_after: int | None = Field(
        None, title="Fail after", description="Raises after this many Steps."
    )
    keep: bool = Field(False, title="Keep", description="Makes the result large: 100 % noise.")


@dataclass(frozen=True, slots=True)
class TinyResult:
    """Mean confidence of the predicted class per radius, over ``drawn`` draws."""

    radii: np.ndarray
    confidence: np.ndarray
    drawn: int
    every: np.ndarray | None = None


def verdict(result: TinyResult, params: TinyParams) -> Verdict:
    return Verdict(
        Status.UNKNOWN,
        f"Mean confidence {result.confidence.mean():.3f} after {result.drawn} draws.",
    )


def views(result: TinyResult, params: TinyParams) -> list[View]:
    lines = (Line("confidence", np.asarray(result.confidence, float)),)
    return [
        Curves("Confidence", Axis("noise"), Axis("confidence", kind="share"), result.radii, lines)
    ]


def findings(result: TinyResult, params: TinyParams) -> list[Finding]:
    if result.drawn < 2:
        return []
    picture = np.full((4, 4, 3), 7, np.uint8)
    return [
        Finding(
            "unsure",
            f"confidence {value:.2f}",
            float(1 - value),
            {"radius": float(r), "nan": float("nan")},
            picture,
            np.zeros(3, np.float32),
        )
        for r, value in zip(result.radii, result.confidence, strict=True)
    ]


closed: list[str] = []


def tiny_confidence(
    classifier: Classifier, dataset: Any, params: TinyParams
) -> Iterator[Step[TinyResult]]:
    """Averages the confidence over noisy copies, one draw per Step."""
    x = classifier.tensor(dataset.array(None, classifier.shape))
    generator = torch.Generator(classifier.device).manual_seed(params.seed)
    total = torch.zeros(len(params.radii), device=classifier.device)
    try:
        for done in range(1, params.samples + 1):
            noise = torch.rand(x.shape, generator=generator, device=classifier.device) - 0.5
            total += torch.stack(
                [classifier.probs(x + r * noise).amax(1).mean() for r in params.radii]
            )
            kept = np.random.default_rng(params.seed).random((done, 4096)) if params.keep else None
            yield Step(
                done,
                params.samples,
                TinyResult(np.array(params.radii), (total / done).cpu().numpy(), done, kept),
            )
            if params.fail_after == done:
                raise ModelError("The tiny model gave up.")
    finally:
        closed.append("closed")


def tiny_pair(
    classifiers: tuple[Classifier, ...], dataset: Any, params: TinyParams
) -> Iterator[Step[TinyResult]]:
    """The share of inputs on which all models agree."""
    x = dataset.array(None, classifiers[0].shape)
    answers = torch.stack([classifier.probs(x).argmax(1) for classifier in classifiers])
    agree = (answers == answers[0]).all(0).float().mean().cpu().numpy()
    yield Step(1, 1, TinyResult(np.array([0.0]), np.array([agree]), 1))


register(
    analysis(
        title="Tiny confidence",
        question="How sure is the model?",
        verdict=verdict,
        views=views,
        findings=findings,
    )(tiny_confidence)
)
register(
    analysis(
        title="Tiny pair",
        question="Do two models agree?",
        verdict=verdict,
        views=views,
        several_models=True,
        needs=frozenset({"gradients"}),
        kinds=frozenset({"table"}),
    )(tiny_pair)
)


def network(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))


def classifier(seed: int = 0, name: str = "tiny") -> Classifier:
    return Classifier.from_module(network(seed), (3,), name=name)


def inputs(count: int = 5) -> np.ndarray:
    return np.random.default_rng(0).random((count, 3), dtype=np.float32)
