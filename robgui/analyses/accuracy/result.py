"""The counts of right and wrong answers, by label."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robgui.core.class_errors import ClassErrors, class_errors
from robgui.core.intervals import clopper_pearson

#: Bins of the calibration curve, as Guo et al. (2017) draw it.
BINS = 10


@dataclass(frozen=True, slots=True)
class Shown:
    """One input worth looking at.

    Attributes:
        place: Its number among the inputs of the run.
        name: What it is called.
        truth: Its class by its label.
        predicted: What the model says.
        confidence: With which probability.
        picture: ``(h, w, 3)`` uint8.
        input: What the model gets, in [0, 1].
    """

    place: int
    name: str
    truth: int
    predicted: int
    confidence: float
    picture: np.ndarray
    input: np.ndarray


@dataclass(frozen=True, slots=True)
class Slice:
    """Inputs that have something in common.

    Attributes:
        name: What they share, for example ``brightness: lowest third``.
        members: ``(k,)`` rows of the result.
        right: How many of them are right.
        chance: How often chance alone gives as many errors, times the number of slices.
    """

    name: str
    members: np.ndarray
    right: int
    chance: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often the model is right where it claims some probability.

    Attributes:
        claimed: ``(b,)`` mean claimed probability of each bin; nan without inputs.
        right: ``(b,)`` share that is right.
        low: Lower ends of its exact 95 % interval.
        high: Upper ends.
        members: ``(b,)`` inputs of each bin.
        error: Expected calibration error: the mean gap, weighted by the members.
    """

    claimed: np.ndarray
    right: np.ndarray
    low: np.ndarray
    high: np.ndarray
    members: np.ndarray
    error: float


@dataclass(frozen=True, slots=True)
class Compared:
    """What is known once all inputs are counted and compared with each other.

    Attributes:
        slices: Parts of the data with more errors than the rest, the weakest first.
        tried: How many slices were compared.
        features: What inputs are compared by; empty if they are too few.
        spots: ``(k, 2)`` where the first k inputs stand on the map.
        suspects: Inputs whose label should be checked, the surest first: the model and the nearest
            inputs contradict it.
        doubtful: How many such inputs there are; not all are kept.
        twins: ``(t, 2)`` rows of inputs that are nearly the same.
    """

    slices: tuple[Slice, ...] = ()
    tried: int = 0
    features: str = ""
    spots: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.float32))
    suspects: tuple[Shown, ...] = ()
    doubtful: int = 0
    twins: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int64))


@dataclass(frozen=True, slots=True)
class AccuracyResult:
    """Answers to n labelled inputs, in the random order in which they were asked.

    Attributes:
        places: ``(n,)`` numbers among the inputs of the run.
        truth: ``(n,)`` true classes.
        predicted: ``(n,)`` predicted classes.
        confidence: ``(n,)`` probability of the predicted class.
        classes: Class names.
        dataset: What the data are called.
        total: How many inputs will be counted.
        labelled: How many of the data have a label that the model knows.
        mistakes: The wrong answers that the model is surest of, the surest first.
        compared: What needs all inputs; empty until the end.
        model_calls: Inputs the model has seen.
    """

    places: np.ndarray
    truth: np.ndarray
    predicted: np.ndarray
    confidence: np.ndarray
    classes: tuple[str, ...]
    dataset: str
    total: int
    labelled: int
    mistakes: tuple[Shown, ...]
    compared: Compared
    model_calls: int

    @property
    def done(self) -> int:
        """How many inputs were counted so far."""
        return len(self.truth)

    @property
    def complete(self) -> bool:
        """Whether every input was counted."""
        return self.done >= self.total

    @property
    def right(self) -> np.ndarray:
        """``(n,)`` whether the model is right."""
        return np.asarray(self.predicted == self.truth)

    def accuracy(self) -> tuple[float, float, float]:
        """The share that is right and its exact 95 % interval."""
        low, high = clopper_pearson(int(self.right.sum()), self.done)
        return float(self.right.mean()) if self.done else np.nan, float(low), float(high)

    def errors(self) -> ClassErrors | None:
        """Errors per class; None before anything is counted."""
        return class_errors(self.truth, self.predicted, len(self.classes))

    def confident(self, sure: float) -> int:
        """How many wrong answers the model gives with at least this probability."""
        return int((~self.right & (self.confidence >= sure)).sum())


def precision(errors: ClassErrors) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``(m,)`` share of each class's predictions that are right, with its 95 % interval.

    Nan where the model never predicts the class.
    """
    # (true, predicted): a column holds everything the model calls by this name.
    answers = errors.table.sum(0)
    hits = np.diag(errors.table)
    low, high = clopper_pearson(hits, answers)
    return hits / np.where(answers > 0, answers, np.nan), low, high


def calibration(result: AccuracyResult) -> Calibration:
    """Claimed against observed, in bins of equal width (Guo et al. 2017, equations 2 and 3)."""
    # A confidence of exactly 1 belongs to the last bin.
    bins = np.minimum((result.confidence * BINS).astype(int), BINS - 1)
    members = np.bincount(bins, minlength=BINS)
    hits = np.bincount(bins, weights=result.right, minlength=BINS)
    sums = np.bincount(bins, weights=result.confidence, minlength=BINS)
    known = np.where(members > 0, members, np.nan)
    claimed, right = sums / known, hits / known
    low, high = clopper_pearson(hits, members)
    # Expected calibration error (Guo et al., 2017): gaps weighted by the inputs in their bins.
    gaps = np.nan_to_num(np.abs(claimed - right)) * members
    if result.done:
        error = float(gaps.sum() / max(1, result.done))
    else:
        error = np.nan
    return Calibration(claimed, right, low, high, members, error)
