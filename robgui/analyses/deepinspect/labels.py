"""What the labels say about each class, as DeepInspect counted them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robgui.core.class_errors import FEWEST, ClassErrors, class_errors
from robgui.core.intervals import clopper_pearson
from robgui.core.text.words import percent

if TYPE_CHECKING:
    from robgui.analyses.deepinspect.result import DeepInspectResult

__all__ = ["FEWEST", "ClassErrors", "errors_of", "mixed_up"]


def errors_of(result: DeepInspectResult) -> ClassErrors | None:
    """Errors per class; None without labels and for a multi-label model."""
    if result.multi_label or not len(result.true):
        return None
    return class_errors(result.true, result.predicted, len(result.classes))


def mixed_up(errors: ClassErrors, a: np.ndarray, b: np.ndarray) -> tuple[str, ...]:
    """``7 of 200 (1.4 % to 7.1 %)`` for each pair: inputs of either class taken for the other."""
    # Both directions, as type 1 confusion has them (Section 4.2.1).
    wrong = errors.table[a, b] + errors.table[b, a]
    members = errors.members[a] + errors.members[b]
    # Rounded outwards: the interval shown contains the one known.
    low, high = clopper_pearson(wrong, members)
    least, most = np.floor(1000 * low) / 1000, np.ceil(1000 * high) / 1000
    told = zip(wrong.tolist(), members.tolist(), least.tolist(), most.tolist(), strict=True)
    return tuple(
        f"{k:,} of {n:,} ({percent(ends[0])} to {percent(ends[1])})" if n else "no labels"
        for k, n, *ends in told
    )
