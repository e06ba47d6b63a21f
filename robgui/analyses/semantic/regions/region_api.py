"""grow: a region around each start in which a score stays high (Section 3 of the paper).

The public kernel of the method: any score over any box, without scenes or networks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.semantic.params import Preset
from robgui.analyses.semantic.regions.params import METHODS, PAPER, GrowMethod
from robgui.analyses.semantic.regions.region_step import Grower
from robgui.analyses.semantic.regions.rules import Rules
from robgui.core.errors import ParamsError

Score = Callable[[Tensor], Tensor]
_OPTIONS = ("iterations", "eta", "alpha", "beta", "lam", "epsilon", "clip", "nodes")


@dataclass(frozen=True, slots=True)
class Grown:
    """S regions (every start with every method) in n dimensions after T steps.

    Attributes:
        low: ``(S, n)`` lower bounds; on a periodic axis they may lie outside the range.
        high: ``(S, n)`` upper bounds.
        trace: ``(S, T + 1, 2, n)`` the bounds after every step, first those at the start.
        loss: ``(S, T)`` the loss each step began with; nan once a region has come to rest.
        method: ``(S,)`` naive, oir_b or oir_w.
        start: ``(S, n)`` where each grew from.
        start_number: ``(S,)`` number of that start.
        start_score: ``(S,)`` score there.
        converged: ``(S,)`` bool, whether all bounds have come to rest.
        hit_domain: ``(S,)`` bool, whether a bound is at the end of its range.
        never_grew: ``(S,)`` bool, whether it is no larger than at the start.
        volume: ``(S,)`` share of the whole range that it fills.
    """

    low: np.ndarray
    high: np.ndarray
    trace: np.ndarray
    loss: np.ndarray
    method: tuple[str, ...]
    start: np.ndarray
    start_number: np.ndarray
    start_score: np.ndarray
    converged: np.ndarray
    hit_domain: np.ndarray
    never_grew: np.ndarray
    volume: np.ndarray


def grow(
    score: Score,
    starts: Any,
    low: Any,
    high: Any,
    method: str = "oir_b",
    gradient: Score | None = None,
    periodic: Sequence[bool] | None = None,
    preset: Preset = "default",
    **params: Any,
) -> Grown:
    """Grows a region from every start to its end.

    Args:
        score: Points ``(m, n)`` -> scores ``(m,)`` in [0, 1].
        starts: ``(S, n)`` or one point ``(n,)``; a tensor sets the device.
        low: ``(n,)`` where the ranges begin.
        high: ``(n,)`` where they end.
        method: naive, oir_b or oir_w.
        gradient: Points ``(m, n)`` -> gradients of the score ``(m, n)``, for oir_w; without it
            differences of scores are taken.
        periodic: ``(n,)`` which ranges lead back to their beginning; none by default.
        preset: default, or paper for the published steps and constants.
        **params: iterations, eta, alpha, beta, lam, epsilon, clip, nodes.
    """
    grower = _begin(score, starts, low, high, (method,), gradient, periodic, preset, params)
    while not grower.done:
        _advance(grower, score, gradient)
    return grown_of(grower)


def growing(
    score: Score,
    starts: Any,
    low: Any,
    high: Any,
    methods: Sequence[str] = METHODS,
    gradient: Score | None = None,
    periodic: Sequence[bool] | None = None,
    preset: Preset = "default",
    **params: Any,
) -> Iterator[Grown]:
    """Grows several methods at once.

    Yields all regions at the start and after every step, each step one batch of points.
    """
    grower = _begin(score, starts, low, high, methods, gradient, periodic, preset, params)
    yield grown_of(grower)
    while not grower.done:
        _advance(grower, score, gradient)
        yield grown_of(grower)


def grown_of(grower: Grower) -> Grown:
    """The current regions."""
    bounds, count = grower.bounds, len(grower.method)
    return Grown(
        low=bounds[:, 0],
        high=bounds[:, 1],
        trace=np.stack(grower.trace, 1),
        loss=np.stack(grower.losses, 1) if grower.losses else np.zeros((count, 0)),
        method=tuple(grower.method),
        start=grower.start,
        start_number=grower.number,
        start_score=grower.started,
        converged=grower.converged.copy(),
        hit_domain=grower.hit_domain,
        never_grew=grower.never_grew,
        volume=grower.volume,
    )


def _begin(
    score: Score,
    starts: Any,
    low: Any,
    high: Any,
    methods: Sequence[str],
    gradient: Score | None,
    periodic: Sequence[bool] | None,
    preset: Preset,
    params: dict[str, Any],
) -> Grower:
    chosen = _methods(methods)
    first, bottom, top, turns = _domain(starts, low, high, periodic)
    rules = _rules(preset, params, gradient is not None)
    return Grower(first, _checked(score(first), len(first)), bottom, top, turns, chosen, rules)


def _advance(grower: Grower, score: Score, gradient: Score | None) -> None:
    asked = grower.ask()
    plain = len(asked.points)
    scores = _checked(score(torch.cat([asked.points, asked.sloped])), plain + len(asked.sloped))
    if gradient is None:
        grower.tell(scores)
    else:
        grower.tell(
            scores[:plain],
            scores[plain:],
            gradient(asked.sloped).detach() if len(asked.sloped) else asked.sloped,
        )


def _methods(methods: Sequence[str]) -> tuple[GrowMethod, ...]:
    for method in methods:
        if method not in METHODS:
            raise ParamsError(
                f"There is no method {method!r} to grow regions with; choose one of:"
                f" {', '.join(METHODS)}."
            )
    return tuple(known for known in METHODS if known in methods)


def _rules(preset: Preset, params: dict[str, Any], autograd: bool) -> Rules:
    if preset not in get_args(Preset):
        raise ParamsError(f"There is no preset {preset!r}; choose default or paper.")
    for name in params:
        if name not in _OPTIONS:
            raise ParamsError(
                f"There is no setting {name!r} of growing; the settings are: {', '.join(_OPTIONS)}."
            )
    if preset == "paper":
        published = {**PAPER, "nodes": 2}
    else:
        published = {}
    return Rules(preset=preset, autograd=autograd, **{**published, **params})


def _domain(
    starts: Any, low: Any, high: Any, periodic: Sequence[bool] | None
) -> tuple[Tensor, Tensor, Tensor, list[bool]]:
    first = _numbers(starts)
    if first.ndim == 1:
        first = first[None]
    bottom, top = (_numbers(values).reshape(-1).to(first.device) for values in (low, high))
    if periodic is None:
        turns = [False] * len(bottom)
    else:
        turns = [bool(on) for on in periodic]
    if (
        not len(first)
        or first.shape[1:] != bottom.shape
        or bottom.shape != top.shape
        or len(turns) != len(bottom)
    ):
        shapes = (
            f"starts {tuple(first.shape)}, low {tuple(bottom.shape)}, high {tuple(top.shape)},"
            f" periodic {len(turns)}"
        )
        raise ParamsError(
            "Regions need at least one start and as many numbers in a start as ranges; these have"
            f" {shapes}."
        )
    if not bool((bottom < top).all()):
        raise ParamsError(
            "Every range must go from a smaller to a larger number; exchange low and high."
        )
    if not bool(((first >= bottom) & (first <= top)).all()):
        raise ParamsError("A start lies outside the ranges; choose starts between low and high.")
    return first, bottom, top, turns


def _numbers(values: Any) -> Tensor:
    """Double precision, on the device where the values are."""
    if isinstance(values, Tensor):
        return values.double()
    # A copy: the caller's array may change while regions grow.
    return torch.from_numpy(np.array(values, dtype=np.float64))


def _checked(scores: Tensor, count: int) -> Tensor:
    if tuple(scores.shape) != (count,):
        raise ParamsError(
            f"The score must give one number for each of {count} points; it gave"
            f" {tuple(scores.shape)}."
        )
    return scores.detach()
