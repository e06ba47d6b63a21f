"""A ball around an input as a box of raw values, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robgui.batch.vnnlib.text import Property, Term
from robgui.core.errors import ModelError, ParamsError

if TYPE_CHECKING:
    from robgui.core.model.card import ModelCard

#: How many float32 roundings the ends of a box may be off by.
_ROUNDING = 4e-6


@dataclass(frozen=True)
class Ball:
    """All inputs whose values each differ by at most ``radius`` from those of ``centre``.

    Attributes:
        centre: float32 in [0, 1].
        radius: In the same units.
        label: Number of the class that is right.
    """

    centre: np.ndarray
    radius: float
    label: int


def to_property(card: ModelCard, outputs: int, ball: Ball) -> Property:
    """What a verifier is to prove: no raw input of the ball, within [0, 1], gets another class.

    Args:
        card: The model.
        outputs: How many numbers its file gives.
        ball: Around which input.

    Raises:
        ModelError: The outputs of the model say their class in a way VNN-LIB cannot.
    """
    centre = ball.centre.astype(np.float64)
    low, high = np.clip(centre - ball.radius, 0, 1), np.clip(centre + ball.radius, 0, 1)
    # Sorted below: a negative std turns the two ends round.
    ends = np.stack([_raw(card, low), _raw(card, high)])
    return Property(ends.min(0), ends.max(0), outputs, _unsafe(card, outputs, ball.label))


def from_property(card: ModelCard, outputs: int, found: Property) -> Ball:
    """The ball that a property is about.

    Args:
        card: The model.
        outputs: How many numbers its file gives.
        found: The property.

    Raises:
        ParamsError: It is about something else: another model, a box of unequal sides, or another
            condition than that one class wins.
    """
    size = int(np.prod(card.shape))
    if len(found.low) != size:
        raise ParamsError(
            f"The property has {len(found.low):,} inputs, but {card.name} takes {size:,}; name the"
            " model it was written for."
        )
    start, scale, order = _affine(card)
    ends = np.stack([(found.low - start) / scale, (found.high - start) / scale])
    low, high = np.empty(size), np.empty(size)
    low[order], high[order] = ends.min(0), ends.max(0)
    centre, radius = _centre(low, high)
    label = next(
        (
            label
            for label in range(card.classes)
            if _unordered(_unsafe(card, outputs, label)) == _unordered(found.unsafe)
        ),
        None,
    )
    if label is None:
        raise ParamsError(
            f"The property does not say that one class of {card.name} wins; only such properties"
            " can be looked at here."
        )
    return Ball(centre.reshape(card.shape).astype(np.float32), radius, label)


def _centre(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, float]:
    """Centre and radius; a side that ends at 0 or 1 may have been cut there."""
    if low.min() < -_ROUNDING or high.max() > 1 + _ROUNDING:
        raise ParamsError("The box of the property leaves the range of the model's inputs.")
    radius = float((high - low).max() / 2)
    # ``to_property`` clips a ball to [0, 1], so a side that ends there tells only one end.
    cut_low, cut_high = low <= _ROUNDING, high >= 1 - _ROUNDING
    whole = ~cut_low & ~cut_high
    if whole.any():
        radius = float((high - low)[whole].mean() / 2)
    elif (cut_low ^ cut_high).any():
        ends = np.where(cut_low, high, 1 - low)[cut_low ^ cut_high]
        radius = float(ends.min())  # With any larger one the centre would leave [0, 1].
    centre = (low + high) / 2
    centre = np.where(cut_low & ~cut_high, np.maximum(high - radius, 0), centre)
    centre = np.where(cut_high & ~cut_low, np.minimum(low + radius, 1), centre)
    again = np.stack([np.clip(centre - radius, 0, 1), np.clip(centre + radius, 0, 1)])
    if np.abs(again - np.stack([low, high])).max() > 10 * _ROUNDING:
        raise ParamsError(
            "The box of the property has sides of different length; only a ball around one input,"
            " with one radius for every value, can be looked at here."
        )
    return np.clip(centre, 0, 1), radius


def _unsafe(card: ModelCard, outputs: int, label: int) -> tuple[tuple[Term, ...], ...]:
    """Which outputs of the file mean another class."""
    settings = card.settings
    if settings.multi_label:
        raise ModelError(f"{card.name} gives several labels at once, and none of them wins.")
    if settings.lowest_wins:
        up, down = ("<=", ">=")
    else:
        up, down = (">=", "<=")
    if outputs == 1:  # One number decides between two classes.
        if settings.output == "probabilities":
            middle = 0.5
        else:
            middle = 0.0
        return ((Term(0, up if label == 0 else down, middle),),)
    others = [place for place in range(outputs) if place != label]
    return tuple((Term(other, up, label),) for other in others)


def _unordered(unsafe: tuple[tuple[Term, ...], ...]) -> set[frozenset[tuple[object, ...]]]:
    """The alternatives regardless of their order and of the sides of a comparison."""
    return {frozenset(_one_way(term) for term in one) for one in unsafe}


def _one_way(term: Term) -> tuple[object, ...]:
    # Y_a <= Y_b and Y_b >= Y_a are the same, and other tools write either.
    if isinstance(term.right, int) and term.sign == "<=":
        return term.right, ">=", term.left
    return term.left, term.sign, term.right


def _raw(card: ModelCard, x: np.ndarray) -> np.ndarray:
    """The raw values of an input, in the order in which the file takes them, float64 ``(n,)``."""
    start, scale, order = _affine(card)
    return np.asarray(start + x.reshape(-1)[order] * scale)


def _affine(card: ModelCard) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Raw values as ``start + x[order] * scale``."""
    import torch

    from robgui.core.model.convention import Convention

    cpu = torch.device("cpu")
    size = int(np.prod(card.shape))
    known = Convention(card.settings, cpu)
    zeros = torch.zeros((1, *card.shape))
    # Measured rather than derived: fed with zeros, ones and places, the convention itself tells its
    # offset, scale and order, whatever the layout.
    start = known.raw_input(zeros).reshape(-1).double().numpy()
    scale = known.raw_input(zeros + 1).reshape(-1).double().numpy() - start
    plain = card.settings.change(low=(0.0,), high=(1.0,), mean=(0.0,), std=(1.0,))
    places = torch.arange(size, dtype=torch.float32).reshape(1, *card.shape)
    order = Convention(plain, cpu).raw_input(places).reshape(-1).long().numpy()
    return start, scale, order
