"""Whether a model's class names stand in another order than its outputs.

Folders are numbered alphabetically, training scripts number classes as they like. With names in the
wrong order, most inputs of one class are given one and the same other class, all around a ring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robgui.core.intervals import chance_of_heads
from robgui.core.text.words import count, percent

#: Fewer labelled inputs of a class than this say nothing about its name.
ENOUGH = 8
#: How likely luck may be, at most, to make another order look as much better.
_LUCK = 0.001


@dataclass(frozen=True, slots=True)
class ClassOrder:
    """Another order of a model's class names.

    Attributes:
        labels: The names of the outputs in that order.
        places: For each class the output that shows it.
        before: Inputs that are right with the present order.
        right: Inputs that are right with the other order, each judged by an order that other inputs
            chose.
        counted: How many inputs were asked about.
    """

    labels: tuple[str, ...]
    places: tuple[int, ...]
    before: int
    right: int
    counted: int

    @property
    def sentence(self) -> str:
        """What seems to be, and what it would change."""
        return (
            "Class names seem to be in another order: with them re-ordered"
            f" {percent(self.right / self.counted)} are right, now"
            f" {percent(self.before / self.counted)}."
        )


def other_order(
    labels: Sequence[str], truths: np.ndarray, guesses: np.ndarray
) -> ClassOrder | None:
    """The order that answers suggest; None if the present one is right, or nothing can be told.

    Args:
        labels: The names of the outputs as they are.
        truths: The class of each input, by the place of its name in ``labels``.
        guesses: The output that the model chose for each.
    """
    places = _places(_table(truths, guesses, len(labels)), ENOUGH)
    if (places == np.arange(len(labels))).all():
        return None
    # Inputs that chose an order would flatter it: each half is judged by the order of the other.
    half = _every_second(truths)
    moved = np.empty_like(truths)
    for judged in (half, ~half):
        table = _table(truths[~judged], guesses[~judged], len(labels))
        moved[judged] = _places(table, ENOUGH // 2)[truths[judged]]
    now, then = guesses == truths, guesses == moved
    won, lost = int((then & ~now).sum()), int((now & ~then).sum())
    # McNemar's exact test: only inputs on which the two orders disagree count.
    if chance_of_heads(won, won + lost) > _LUCK:
        return None
    names = list(labels)
    for number, place in enumerate(places):
        names[place] = labels[number]
    return ClassOrder(
        tuple(names), tuple(map(int, places)), int(now.sum()), int(then.sum()), len(truths)
    )


def untold(truths: np.ndarray, classes: int) -> str:
    """Why the order of the class names cannot be told; empty if it can."""
    few = int((np.bincount(truths, minlength=classes) < ENOUGH).sum())
    if not few:
        return ""
    return (
        "Whether the class names are in the right order cannot be told for"
        f" {few:,} of {count(classes, 'class')}: they have fewer than {ENOUGH} labelled inputs."
    )


def _every_second(truths: np.ndarray) -> np.ndarray:
    """Which inputs are the first, third, … of their class: both halves hold all classes alike."""
    chosen = np.empty(len(truths), bool)
    chosen[np.argsort(truths, kind="stable")] = np.arange(len(truths)) % 2 == 0
    return chosen


def _table(truths: np.ndarray, guesses: np.ndarray, classes: int) -> np.ndarray:
    """How often each class (row) was given each output (column)."""
    # A pair of numbers as one, which counts the whole table in a single pass.
    table = np.bincount(truths * classes + guesses, minlength=classes * classes)
    return table.reshape(classes, classes)


def _places(table: np.ndarray, enough: int) -> np.ndarray:
    """The output that shows each class; its own unless a ring of classes clearly has others."""
    own = np.arange(len(table))
    places = table.argmax(1)
    known = table.sum(1)
    clear = (places != own) & (known >= enough) & (2 * table[own, places] > known)
    kept = own.copy()
    for start in np.flatnonzero(clear):
        ring = [int(start)]
        while clear[ring[-1]] and (following := int(places[ring[-1]])) not in ring:
            ring.append(following)
        # A chain that does not return would give two classes one output.
        if clear[ring[-1]] and places[ring[-1]] == start:
            kept[ring] = places[ring]
    return kept
