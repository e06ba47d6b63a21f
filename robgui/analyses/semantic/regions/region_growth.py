"""Grows regions of a space: the grower asks, the network answers in batches."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.semantic.regions.params import METHODS, GrowParams, Mode
from robgui.analyses.semantic.regions.region_api import Grown, grown_of
from robgui.analyses.semantic.regions.region_step import WEAKEST, Grower
from robgui.analyses.semantic.regions.rules import Rules
from robgui.analyses.semantic.scene.space import Space
from robgui.core.text import words


class Growth:
    """All regions of one space: every start with every method, one batch of points per step.

    Attributes:
        grower: The regions, once ``begin`` is through.
        score: ``(P,)`` score at each start.
        top1: ``(P,)`` class there.
        calls: Images that the network has seen.
    """

    def __init__(self, space: Space, target: int, params: GrowParams, mode: Mode) -> None:
        self._space, self._target, self._params, self._mode = space, target, params, mode
        self._autograd = (
            "oir_w" in params.methods and space.chosen_gradient(params.gradient) == "autograd"
        )
        self.calls = 0
        self.grower: Grower
        self.score: Tensor
        self.top1: Tensor

    def begin(self, starts: Tensor) -> Iterator[None]:
        """Evaluates the starts ``(P, n)``; yields between batches."""
        self.score, self.top1 = yield from self._space.scores(
            starts, self._target, self._params.batch
        )
        self.calls += len(starts)
        held = (self.top1 == self._target) == (self._mode == "robust")
        if self._params.preset == "default":
            able = held
        else:
            # As published: from any start, whatever it shows.
            able = torch.ones_like(held)
        methods = tuple(method for method in METHODS if method in self._params.methods)
        space, rules = self._space, Rules.of(self._params, self._autograd)
        self.grower = Grower(
            starts,
            self._sided(self.score),
            space.low,
            space.high,
            space.periodic,
            methods,
            rules,
            able,
        )

    @property
    def able(self) -> np.ndarray:
        """Which regions ``(S,)`` are allowed to grow."""
        return self.grower.able

    @property
    def grown(self) -> Grown:
        """The current regions."""
        return grown_of(self.grower)

    @property
    def progress(self) -> float:
        """Steps taken, as a share of all."""
        return self.grower.steps / self._params.iterations

    def grow(self) -> Iterator[None]:
        """Takes all steps; yields after every batch."""
        while not self.grower.done:
            yield from self.advance()
            yield

    def advance(self) -> Generator[None, None, None]:
        """Takes one step; yields between its batches."""
        asked = self.grower.ask()
        batch = self._params.batch
        scores, _ = yield from self._space.scores(asked.points, self._target, batch)
        self.calls += len(asked.points) + len(asked.sloped)
        if not self._autograd:
            self.grower.tell(self._sided(scores))
            return
        sloped, gradients = yield from self._space.slopes(asked.sloped, self._target, batch)
        # The slope of 1 - f.
        sign = 1 if self._mode == "robust" else -1
        self.grower.tell(self._sided(scores), self._sided(sloped), sign * gradients)

    def _sided(self, scores: Tensor) -> Tensor:
        """The score that should stay high: f, or 1 - f for adversarial regions (equation 4)."""
        if self._mode == "robust":
            return scores
        return 1 - scores


def start_warning(
    mode: Mode, number: int, score: float, seen: str, wanted: str, holds: bool
) -> str:
    """What is wrong with a start, in one sentence; empty if nothing is."""
    if mode == "robust" and (score < WEAKEST or not holds):
        return (
            f"Start {number}: the network sees “{seen}” there and gives “{wanted}” a score of"
            f" {words.number(score)}; choose another start."
        )
    if mode == "adversarial" and (score > 1 - WEAKEST or holds):
        return (
            f"Start {number}: the class “{wanted}” holds there with a score of"
            f" {words.number(score)}; start where it fails."
        )
    return ""
