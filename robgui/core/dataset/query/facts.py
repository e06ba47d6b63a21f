"""What a query can ask about inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

#: Stand in for a predicted class: not predicted yet, and an unreadable file.
UNKNOWN, UNREADABLE = -1, -2


@dataclass(frozen=True, slots=True)
class Predicted:
    """What a model says about the inputs; all arrays ``(n,)``.

    Attributes:
        classes: Predicted class; UNKNOWN and UNREADABLE if there is none.
        confidence: Probability of that class; nan where unknown.
        margin: How much more probable it is than the next one.
        loss: Minus the logarithm of the probability of the label; nan without a label.
        labels: The labels, numbered like the model's classes; None without any.
        names: The model's class names.
    """

    classes: np.ndarray
    confidence: np.ndarray
    margin: np.ndarray
    loss: np.ndarray
    labels: np.ndarray | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InputFacts:
    """What is known of a dataset's inputs.

    Attributes:
        count: How many inputs there are.
        name: The dataset's name.
        item_names: Returns the name of each input; called only for queries about names.
        labels: Class of each input, -1 for unknown; None without labels.
        names: Class names of the dataset.
        shown: The same classes for people: names for numbered folders, words for ids.
        predicted: What the model in use says; None without a model.
        tags: Inputs by tag.
        findings: Kind and title of what runs have found, by input.
    """

    count: int
    name: str
    item_names: Callable[[], Sequence[str]]
    labels: np.ndarray | None = None
    names: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    predicted: Predicted | None = None
    tags: Mapping[str, Sequence[int]] = field(default_factory=dict)
    findings: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict)

    def label_schemes(self) -> list[tuple[np.ndarray, tuple[str, ...]]]:
        """The labels with their names, by the dataset and, where it numbers them, by the model."""
        both = (self.names, self.shown) if self.shown else (self.names,)
        if self.labels is None:
            found = []
        else:
            found = [(self.labels, names) for names in both]
        if self.predicted is not None and self.predicted.labels is not None:
            found.append((self.predicted.labels, self.predicted.names))
        return found

    def at(self, indices: Sequence[int]) -> np.ndarray:
        """True at these inputs, False elsewhere; numbers out of range are ignored."""
        there = np.zeros(self.count, dtype=bool)
        there[[index for index in indices if 0 <= index < self.count]] = True
        return there
