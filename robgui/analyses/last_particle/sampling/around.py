"""Failures that the particles may have missed.

With gradients they are measured around the likeliest failing points; without, they are looked for
class by class.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.pair_tests import JointOutcome, PairTests
from robgui.analyses.last_particle.params import MethodParams
from robgui.analyses.last_particle.sampling.gradients import no_way
from robgui.analyses.last_particle.sampling.importance import Importance, Measured
from robgui.analyses.last_particle.sampling.likeliest import MOST_RIVALS, likeliest
from robgui.analyses.last_particle.tested_inputs import Chosen
from robgui.core.dataset import Dataset
from robgui.core.model.classifier import Classifier

#: Linearisation steps in the search for the likeliest failing points.
STEPS = 25


@dataclass(frozen=True, slots=True)
class Around:
    """What was found around the likeliest failures of one pair.

    Attributes:
        measured: Their probability.
        centres: ``(k, dim)`` failing latent points in units of their standard deviation.
        rivals: Classes that were searched for.
    """

    measured: Measured = field(default_factory=Measured)
    centres: Tensor | None = None
    rivals: tuple[int, ...] = ()

    @property
    def found(self) -> bool:
        """Whether gradients led to any failure."""
        return self.centres is not None and len(self.centres) > 0


def unmeasurable(classifier: Classifier, params: MethodParams) -> str:
    """Why nothing is sampled around failures; empty if it is."""
    if params.importance == 0:
        return "No samples around failures were asked for."
    lack = no_way(classifier, params)
    if lack:
        return f"No samples around failures: {lack}"
    return ""


def measure(
    classifier: Classifier,
    run: PairTests,
    params: MethodParams,
    pair: int,
    example: np.ndarray | None,
    *,
    within: float = math.inf,
) -> Generator[None, None, Around]:
    """Searches for the likeliest failing points of a pair and samples around them.

    Args:
        classifier: The model.
        run: Its tests.
        params: The settings.
        pair: Which pair.
        example: ``(*shape)`` a known failing input, as another starting point.
        within: Failing points further from 0 than this are ignored.
    """
    prior, own = run.prior, int(run.classes[pair])
    start = None
    if example is not None:
        x = torch.from_numpy(example)[None].to(classifier.device)
        latent = prior.latent_of(x, torch.tensor([pair], device=classifier.device))
        if latent is None:
            start = None
        else:
            start = latent[0]
    centres, rivals = yield from likeliest(
        classifier, prior, pair, own, start, STEPS, params.seed, within
    )
    if not len(centres):
        return Around(rivals=tuple(rivals))
    importance = Importance(run.any_rival, pair, centres, params.importance, params.seed, run.rows)
    yield from importance.run()
    return Around(importance.measured, centres, tuple(rivals))


@dataclass(frozen=True, slots=True)
class Screened:
    """The outcome of one repetition of the test for each rival.

    Attributes:
        rivals: ``(q,)`` the classes.
        joint: What the tests say together.
        failure: A failing input and its class, if any was met.
        calls: Model calls.
    """

    rivals: np.ndarray
    joint: JointOutcome
    failure: tuple[np.ndarray, int] | None
    calls: int


def screenable(classifier: Classifier, params: MethodParams) -> bool:
    """Whether rivals could hide behind each other, and are few enough to test."""
    return not params.class_wise and 1 < classifier.classes - 1 <= MOST_RIVALS


def screen(
    classifier: Classifier, dataset: Dataset, params: MethodParams, chosen: Chosen, size: float
) -> Generator[None, None, Screened]:
    """Tests every rival by itself, once: a class whose score rises first cannot hide another."""
    alone = params.model_copy(
        # Another seed: the screening must not repeat the luck of the test that it checks.
        update={"class_wise": True, "replicas": 1, "seed": (params.seed + 1) % 2**63}
    )
    run = PairTests(classifier, dataset, alone, chosen, (size,), trace=False)
    yield from run.rounds()
    return Screened(run.rivals[0], run.joint(0), run.failure(0), int(run.calls[0]))
