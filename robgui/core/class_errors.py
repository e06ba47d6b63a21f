"""What the labels say of each class: how often it is right, and what it is taken for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.core.intervals import clopper_pearson

#: Fewer labelled inputs of a class than this say nothing about it.
FEWEST = 10

#: Matrices of confusions reach their darkest colour at this share or above, whatever their own
#: largest: a model whose worst cell is 5 % must not look like one that mixes up half a class.
DARKEST = 0.25


@dataclass(frozen=True, slots=True)
class ClassErrors:
    """Errors per class of a single-label model, by the labels.

    Attributes:
        table: ``(m, m)`` int64, counts by true class (row) and predicted class (column).
        members: ``(m,)`` labelled inputs of each class.
        wrong: ``(m,)`` how many of them the model gets wrong.
        share: ``(m,)`` wrong / members; nan without members.
        low: ``(m,)`` lower end of its exact 95 % interval.
        high: ``(m,)`` upper end.
        taken_for: ``(m,)`` the most frequent wrong answer; -1 if there is none.
        order: ``(m,)`` the weakest class first: by ``share``, where fewer than ``FEWEST`` inputs
            have a label by ``low``, since a few wrong answers prove no weak class.
    """

    table: np.ndarray
    members: np.ndarray
    wrong: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    taken_for: np.ndarray
    order: np.ndarray

    def failing(self, limit: float) -> np.ndarray:
        """Classes with more than this share wrong, at 95 % confidence; worst first."""
        return np.asarray(self.order[np.nan_to_num(self.low[self.order]) > limit])

    @property
    def directed(self) -> np.ndarray:
        """``(m, m)`` share of a true class (row) that the model takes for another (column).

        Nan on the diagonal.
        """
        shares = self.table / np.where(self.members > 0, self.members, np.nan)[:, None]
        np.fill_diagonal(shares, np.nan)
        return shares


def class_errors(true: np.ndarray, predicted: np.ndarray, classes: int) -> ClassErrors | None:
    """Errors per class; None if no input has a label.

    Args:
        true: ``(n,)`` true classes, -1 for unknown.
        predicted: ``(n,)`` predicted classes, -1 for none.
        classes: How many classes there are.
    """
    known = (true >= 0) & (predicted >= 0)
    if not known.any():
        return None
    pairs = true[known].astype(np.int64) * classes + predicted[known]
    table = np.bincount(pairs, minlength=classes * classes).reshape(classes, classes)
    members = table.sum(1)
    wrong = members - np.diag(table)
    low, high = clopper_pearson(wrong, members)
    others = table.copy()
    np.fill_diagonal(others, 0)
    share = wrong / np.where(members > 0, members, np.nan)
    weakness = np.nan_to_num(np.where(members < FEWEST, low, share))
    # lexsort sorts by its last key first.
    order = np.lexsort((-np.nan_to_num(low), -weakness))
    return ClassErrors(
        table, members, wrong, share, low, high, np.where(wrong > 0, others.argmax(1), -1), order
    )
