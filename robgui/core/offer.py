"""Offer: inputs that a result holds and that another analysis may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Offer:
    """Inputs that a result shows and that another analysis may look at.

    Attributes:
        title: What to call them together, as it stands in a menu: ``The adversarial example``.
        names: What to call each.
        inputs: ``(n, *shape)`` as the model sees them, in [0, 1]; None when they are inputs of the
            run's own data.
        places: Number of each among the inputs that the run looked at; for new inputs, of the one
            it was made from (-1: of none).
        labels: True class of each; empty when unknown.
        params: Settings to put into the form of an analysis, by its name.
    """

    title: str
    names: tuple[str, ...]
    inputs: np.ndarray | None = None
    places: tuple[int, ...] = ()
    labels: tuple[int, ...] = ()
    params: Mapping[str, dict[str, Any]] = field(default_factory=dict)
