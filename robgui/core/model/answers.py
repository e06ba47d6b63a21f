"""What whoever holds the models answers, as plain values that travel between processes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.core.execution.request import Reference


@dataclass(frozen=True, slots=True)
class DataCard:
    """What is known of data that are open in a worker.

    Attributes:
        chosen: The inputs that a query has found; None without a query.
        notes: What was guessed or left out while reading, for people.
        format: What the file is, in words.
        kind: What one input is.
        shape: Of one input; empty where they differ.
        names: Of the classes; their numbers where they have no names.
        counts: Inputs of each class; empty without labels.
        parts: Among which the option split chooses.
        left_out: What could not be read so far, in words.
    """

    reference: Reference
    inputs: int
    chosen: list[int] | None
    notes: tuple[str, ...]
    format: str = ""
    kind: str = ""
    shape: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    parts: tuple[str, ...] = ()
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Scores:
    """What a model says of some inputs.

    Attributes:
        probabilities: ``(n, classes)``.
        looks: What its own answers look like, ``logits`` or ``probabilities``; empty where nobody
            asked.
    """

    probabilities: np.ndarray
    looks: str = ""


@dataclass(frozen=True, slots=True)
class Speed:
    """One way to compute: inputs per second and the largest change of a probability it brings."""

    name: str
    inputs_per_second: float
    largest_change: float
