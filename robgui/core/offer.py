"""Offer: inputs in a result that another analysis may examine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Offer:
    """Inputs in a result that another analysis may examine.

    Attributes:
        title: Name of the set, as it stands in a menu: ``The adversarial example``.
        names: Name of each.
        inputs: ``(n, *shape)`` as the model sees them, in [0, 1]; None if they are inputs of the
            run's own data.
        places: Number of each among the run's inputs; for new inputs, of the one each was made from
            (-1 for none).
        labels: True class of each; empty when unknown.
        params: Settings to put into the form of an analysis, by its name.
    """

    title: str
    names: tuple[str, ...]
    inputs: np.ndarray | None = None
    places: tuple[int, ...] = ()
    labels: tuple[int, ...] = ()
    params: Mapping[str, dict[str, Any]] = field(default_factory=dict)
