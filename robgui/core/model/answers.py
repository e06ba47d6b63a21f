"""Answers about models and data, as plain values that travel between processes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.core.execution.request import Reference


@dataclass(frozen=True, slots=True)
class DataCard:
    """What is known about data that are open in a worker.

    Attributes:
        chosen: The inputs that match the query; None without one.
        notes: What was guessed or left out while reading, for people.
        format: What the file is, in words.
        kind: What one input is.
        shape: Shape of one input; empty if they differ.
        names: Class names, or numbers for classes without names.
        counts: Inputs of each class; empty without labels.
        parts: The parts that the option split chooses from.
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
        looks: What the raw answers look like, ``logits`` or ``probabilities``; empty if not asked.
    """

    probabilities: np.ndarray
    looks: str = ""


@dataclass(frozen=True, slots=True)
class Speed:
    """One way to compute: inputs per second, and the largest change of a probability it causes."""

    name: str
    inputs_per_second: float
    largest_change: float
