"""Counts over some of the inputs, to be merged or continued."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.core.dataset import Skipped


@dataclass(frozen=True, slots=True)
class TallyPart:
    """A Tally over some of the inputs, on the host; fields as there."""

    counts: np.ndarray
    active: np.ndarray
    seen: int
    layers: tuple[str, ...]
    layer_sizes: np.ndarray
    members: np.ndarray
    predicted: np.ndarray
    bits: np.ndarray
    type2: np.ndarray
    group_counts: np.ndarray
    group_members: np.ndarray


@dataclass(frozen=True, slots=True)
class InspectionPart:
    """What was counted over a range of the inputs; ``skipped`` are those that could not be read."""

    tally: TallyPart
    skipped: tuple[Skipped, ...]
