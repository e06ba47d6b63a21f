"""What a model says about the current inputs with other settings, and what looks wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.errors import RobguiError
from robgui.core.execution.worker.asked import LostError

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.answers import Scores
    from robgui.core.model.card import ModelCard
    from robgui.core.model.settings import ModelSettings

Ask = Callable[..., Any]

SHOWN = 8
TOP = 3


@dataclass(frozen=True)
class Guess:
    """One input with what the model says about it.

    Attributes:
        label: Name of its true class; empty when unknown.
        top: The most probable classes with their probabilities.
        right: None when the label is unknown.
    """

    key: str
    picture: np.ndarray
    label: str
    top: tuple[tuple[str, float], ...]
    right: bool | None


@dataclass(frozen=True)
class Preview:
    """The answer to one change of settings.

    Attributes:
        classifier: The model with these settings; None when they cannot work.
        problem: Why it cannot be used or shown, one sentence.
        warnings: What is probably wrong.
        notes: What is good to know.
    """

    classifier: ModelCard | None = None
    problem: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    guesses: tuple[Guess, ...] = ()


@dataclass
class _Talk:
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def has_several_outputs(classifier: ModelCard) -> bool:
    """Whether the model has more outputs than the scores; the loader remarks on it."""
    return bool(classifier.settings.scores) or any(
        "is taken for the scores" in remark for remark in classifier.remarks
    )


def preview(
    ask: Ask, classifier: ModelCard, values: dict[str, Any], dataset: Dataset | None
) -> Preview:
    """Eight predictions with ``values`` as settings; called away from the GUI thread.

    Args:
        ask: Asks whoever has the model, as Models does.
        classifier: The model.
        values: The settings.
        dataset: Where the eight inputs come from; None without.
    """
    talk = _Talk()
    try:
        settings = classifier.settings.change(**values)
        candidate: ModelCard = ask("card", model=classifier, settings=settings.model_dump())
    except RobguiError as error:
        return Preview(problem=_refusal(classifier, values, error))
    if dataset is None or not len(dataset):
        return Preview(candidate)
    try:
        fitted = _match(candidate, dataset, talk)
        guesses = _guess(ask, fitted, dataset, talk)
    # Without its process the candidate could not be used.
    except LostError as error:
        return Preview(problem=str(error))
    except RobguiError as error:
        return Preview(candidate, str(error), tuple(talk.warnings), tuple(talk.notes))
    return Preview(fitted, "", tuple(talk.warnings), tuple(talk.notes), guesses)


def from_data(settings: ModelSettings, dataset: Dataset) -> dict[str, tuple[float, ...]]:
    """Value range, mean and std as the dataset has them, per channel or column."""
    count = min(len(dataset), 500)
    indices = np.linspace(0, len(dataset) - 1, count).astype(int)
    if settings.kind == "image":
        _, items = dataset.readable(indices, settings.shape)
        # Over inputs, rows and columns: one number for each channel.
        axes: tuple[int, ...] = (0, 2, 3)
        # Pictures are read into [0, 1], whatever their files hold.
        low, high = np.zeros(1), np.ones(1)
    else:
        _, items = dataset.readable(
            indices, settings.shape if settings.kind == "sequence" else None
        )
        axes = tuple(range(items.ndim - 1))
        low, high = dataset.bounds()
    std = items.std(axes)
    found = {
        "low": low,
        "high": high,
        "mean": items.mean(axes),
        # A constant column is only shifted; divided by 0 it would be nan.
        "std": np.where(std < 1e-8, 1.0, std),
    }
    # Five digits can be read and typed; the range must hold every value, so it stays exact.
    return {
        name: tuple(
            float(f"{value:.5g}") if name in ("mean", "std") else float(value) for value in array
        )
        for name, array in found.items()
    }


def _refusal(classifier: ModelCard, values: dict[str, Any], error: RobguiError) -> str:
    """Why these settings cannot work.

    A foreign error about matrices is introduced by what it means.
    """
    shape = tuple(values.get("shape", classifier.shape))
    if "the model raised" in str(error) and (shape, values.get("layout")) != (
        classifier.shape,
        classifier.settings.layout,
    ):
        return f"The model does not take inputs of shape {times(shape)} in this layout ({error})"
    return str(error)


def _match(candidate: ModelCard, dataset: Dataset, talk: _Talk) -> ModelCard:
    """Adopts the data's value range if the model has none; warns about what does not fit."""
    from robgui.core.dataset import match
    from robgui.core.dataset.matching import fits

    if candidate.kind == dataset.kind == "image" and dataset.shape not in (None, candidate.shape):
        talk.notes.append(
            f"The images of {dataset.name} are converted from {times(dataset.shape)} to"
            f" {times(candidate.shape)}."
        )
    if fits(candidate, dataset):
        said = talk.notes
    else:
        said = talk.warnings
    try:
        return match(candidate, dataset, said.append)
    except RobguiError as error:
        if candidate.kind != dataset.kind:
            raise
        # It may still answer, and its answers help to see which setting is wrong.
        talk.warnings.append(str(error))
        return candidate


def _guess(ask: Ask, candidate: ModelCard, dataset: Dataset, talk: _Talk) -> tuple[Guess, ...]:
    from robgui.core.dataset import align, batches

    chosen = spread(dataset)
    fitting = align(candidate, dataset)
    guesses: list[Guess] = []
    for places, x in batches(candidate, dataset.subset(chosen), SHOWN):
        scores: Scores = ask("scores", model=candidate, x=x, raw=True)
        if warning := _output_warning(candidate, scores):
            talk.warnings.append(warning)
        for place, row in zip(places, scores.probabilities, strict=True):
            index = int(chosen[place])
            if fitting.labels is None:
                label = -1
            else:
                label = int(fitting.labels[index])
            # Stable: of equal probabilities the first class, as argmax has it.
            best = np.argsort(-row, kind="stable")[:TOP]
            top = tuple((candidate.labels[int(c)], float(row[c])) for c in best)
            name = "" if label < 0 else str(label)
            if 0 <= label < candidate.classes:
                name = candidate.labels[label]
            if label < 0:
                right = None
            else:
                right = int(best[0]) == label
            guesses.append(
                Guess(dataset.key(index), dataset.thumbnail(index, 256), name, top, right)
            )
    if not guesses:
        talk.warnings.append(f"None of the inputs of {dataset.name} that were tried can be read.")
    return tuple(guesses)


def spread(dataset: Dataset, count: int = SHOWN) -> np.ndarray:
    """Inputs of as many classes as possible, from the beginning of the dataset."""
    labels = dataset.labels
    if labels is None:
        return np.unique(np.linspace(0, len(dataset) - 1, min(count, len(dataset))).astype(int))
    # The k-th input of each class comes before the (k + 1)-th of any.
    order = np.argsort(labels, kind="stable")
    sorted_labels = labels[order]
    starts = np.searchsorted(sorted_labels, sorted_labels, side="left")
    rank = np.empty(len(labels), np.int64)
    rank[order] = np.arange(len(labels)) - starts
    return np.sort(np.lexsort((np.arange(len(labels)), rank))[:count])


def _output_warning(candidate: ModelCard, scores: Scores) -> str:
    """Logits taken for probabilities, or the other way round."""
    settings = candidate.settings
    if settings.output == "logits" and scores.looks == "probabilities":
        if settings.multi_label:
            why = "all lie between 0 and 1"
        else:
            why = "every row sums to 1"
        return (
            f"The outputs look like probabilities ({why}) but are read as logits; set Output to"
            " probabilities."
        )
    if settings.output == "probabilities" and scores.looks == "logits":
        return (
            "The outputs are read as probabilities but are not (below 0, above 1, or rows that do"
            " not sum to 1); set Output to logits."
        )
    return ""


def times(shape: tuple[int, ...] | None) -> str:
    """A shape in words: ``3 × 224 × 224``."""
    if shape:
        return " × ".join(f"{side:,}" for side in shape)
    return "different sizes"
