"""Matches a classifier and a dataset: do they fit, and what does the classifier see?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from robgui.core.dataset.choosing import Indices
from robgui.core.dataset.classes import comparable_name
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.naming import Correspondence, correspond, in_words, numbered
from robgui.core.errors import DataError
from robgui.core.model.settings import Kind, ModelSettings
from robgui.core.text.words import count

#: How far rounding alone may push a value outside [0, 1].
_ROUNDING = 1e-5


class Model(Protocol):
    """What fitting data needs to know about a model: a Classifier, or its card."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> ModelSettings: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def kind(self) -> Kind: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def classes(self) -> int: ...

    @property
    def notice(self) -> Callable[[str], None]: ...

    def encode(self, values: Any) -> np.ndarray: ...

    def batch(self, wanted: int = 0) -> int: ...

    def with_settings(self, settings: ModelSettings) -> Any: ...


M = TypeVar("M", bound=Model)


def inputs(classifier: Model, dataset: Dataset, indices: Indices | None = None) -> np.ndarray:
    """Items as the classifier takes them: float32 ``(n, *classifier.shape)`` in [0, 1].

    Raises:
        DataError: An item cannot be read, or a value lies outside the classifier's range; the
            sentence names it.
    """
    fitting = _as_taken(classifier, dataset)
    return _in_unit(
        classifier, fitting, classifier.encode(fitting.array(indices, classifier.shape))
    )


def batches(
    classifier: Model, dataset: Dataset, size: int = 0, *, together: int = 1
) -> Iterator[tuple[list[int], np.ndarray]]:
    """Iterates over all readable items: indices and inputs in [0, 1].

    Bad items are listed in ``dataset.skipped``.

    Args:
        classifier: Who takes them.
        dataset: The items.
        size: Inputs in a batch at most; 0 lets the model choose.
        together: Number of batches given at once.
    """
    fitting = _as_taken(classifier, dataset)
    for indices, items in fitting.batches(together * classifier.batch(size), classifier.shape):
        yield indices, _in_unit(classifier, fitting, classifier.encode(items))


def match(classifier: M, dataset: Dataset, notice: Callable[[str], None] | None = None) -> M:
    """Checks that the two fit; returns the classifier.

    It has the dataset's class names and value ranges if it had none of its own.

    Args:
        classifier: The model, or its card.
        dataset: The data.
        notice: Called with what the user should know; by default the model's own.

    Raises:
        DataError: Kind or shape do not fit. Classes that do not fit are only reported, and leave
            the data without labels.
    """
    tell = notice or classifier.notice
    # Kind first: the sentences of the later checks assume it.
    _check_kind(classifier, dataset)
    fitting = align(classifier, dataset)
    _check_shape(classifier, fitting)
    _check_columns(classifier, fitting)
    classifier = _named(classifier, dataset, tell)
    _tell_strange_classes(classifier, dataset, tell)
    settings = classifier.settings
    # Images have their range by definition; a range that is not the default was said by somebody.
    if classifier.kind == "image" or (settings.low, settings.high) != ((0.0,), (1.0,)):
        return classifier
    low, high = fitting.bounds()
    # Values already in [0, 1] are taken as they are: rescaling them would change what the model
    # sees.
    if (low >= 0).all() and (high <= 1).all():
        return classifier
    if (low == high).all():
        raise DataError(
            f"{dataset.name} does not vary, so the value range of {classifier.name} cannot be told"
            " from it; set low and high of the model."
        )
    tell(
        f"{classifier.name} has no value range of its own; it takes the lowest and highest value of"
        f" each column of {dataset.name}."
    )
    ranged: M = classifier.with_settings(
        settings.change(low=tuple(map(float, low)), high=tuple(map(float, high)))
    )
    return ranged


def _named(classifier: M, dataset: Dataset, tell: Callable[[str], None]) -> M:
    """The classifier with the dataset's class names, if it has none and they match in number."""
    names = in_words(dataset.names)
    # Only if there is exactly one distinct, telling name for each class: anything else is a guess.
    if (
        classifier.settings.labels
        or len(names) != classifier.classes
        or len({comparable_name(name) for name in names}) != len(names)
        or numbered(names)
    ):
        return classifier
    tell(
        f"{classifier.name} has no class names of its own; it takes those of {dataset.name} in"
        f" their order: {_few(names, 6)}."
    )
    named: M = classifier.with_settings(classifier.settings.change(labels=names))
    return named


def _tell_strange_classes(classifier: Model, dataset: Dataset, tell: Callable[[str], None]) -> None:
    """Reports what becomes of dataset classes that the classifier does not have."""
    if not (used := _used(dataset)):
        return
    if not fits(classifier, dataset):
        own = _few(dataset.names) or f"labels up to {max(used)}"
        tell(
            f"The classes of {dataset.name} ({own}) are not those of {classifier.name}"
            f" ({_few(classifier.labels)}), so its labels are left out and nothing counts as wrong;"
            " if they belong together, say in the settings of the data which class is which."
        )
        return
    found = correspondence(classifier, dataset)
    if found is not None and found.how == "places":
        pairs = ((dataset.names[number], classifier.labels[number]) for number in sorted(used))
        name, label = next(
            pair for pair in pairs if comparable_name(pair[0]) != comparable_name(pair[1])
        )
        tell(
            f"What {dataset.name} calls “{name}” is taken for “{label}” of {classifier.name},"
            " because the other classes stand at the same places; if that is wrong, correct it in"
            " the settings of the data."
        )
    if found is None:
        strange = []
    else:
        strange = found.strange(used)
    if strange and strange[0] < len(dataset.names):
        tell(
            f"{classifier.name} knows no class “{dataset.names[strange[0]]}”, as {dataset.name}"
            " calls one; its inputs count as having no label, unless the settings of the data say"
            " which class it is."
        )


def _few(names: Sequence[str], most: int = 3) -> str:
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return ", ".join(names)


def fits(classifier: Model, dataset: Dataset) -> bool:
    """Whether the classes of the two agree, as far as their names and numbers tell."""
    used = _used(dataset)
    if not used:
        return True
    found = correspondence(classifier, dataset)
    if found is not None:
        return found.how != "none"
    # A model without names takes the data's in order, which says nothing if their numbers differ.
    # Names, but a model without any: only their number can agree.
    if dataset.names and not numbered(dataset.names):
        return len(dataset.names) == classifier.classes
    return max(used) < classifier.classes


def shown_names(classifier: Model, dataset: Dataset) -> tuple[str, ...]:
    """Display names for the data's classes: numbered or coded folders take the model's names."""
    found = correspondence(classifier, dataset)
    words = in_words(dataset.names)
    if found is None or not classifier.settings.labels:
        return words
    return tuple(
        classifier.labels[place] if place >= 0 and (numbered((name,)) or word != name) else word
        for name, word, place in zip(dataset.names, words, found.places, strict=True)
    )


def correspondence(classifier: Model, dataset: Dataset) -> Correspondence | None:
    """Which class is which, by name; None if either has no names."""
    if not dataset.names or not (classifier.settings.labels or numbered(dataset.names)):
        return None
    labels = tuple(classifier.labels)
    return correspond(tuple(dataset.names), labels, tuple(sorted(_used(dataset))))


def _used(dataset: Dataset) -> set[int]:
    """The numbers of the classes that the dataset uses."""
    if dataset.label_matrix is not None:
        # Each column counts, even one without a single True: it still stands for an output.
        return set(range(dataset.label_matrix.shape[1]))
    if dataset.labels is not None:
        return set(np.unique(dataset.labels).tolist()) - {-1}
    return set()


def align(classifier: Model, dataset: Dataset) -> Dataset:
    """The dataset with the classifier's class order and columns, matched by name.

    Class folders are numbered alphabetically, a model's outputs are not: without this a label would
    be the wrong class. A dataset without names adopts the classifier's. Classes the classifier does
    not know become unknown; if the classes do not fit at all, there are no labels.
    """
    fitting = _as_taken(classifier, dataset)
    if fitting.names == classifier.labels:
        return fitting
    if not fits(classifier, fitting):
        return fitting.unlabelled(classifier.labels)
    found = correspondence(classifier, fitting)
    if found is not None:
        return fitting.placed(found.places, classifier.labels)
    if not fitting.names and _used(fitting):
        return fitting.relabelled(classifier.labels)
    return fitting


def _as_taken(classifier: Model, dataset: Dataset) -> Dataset:
    """The data with the columns and the framing that the classifier takes."""
    if classifier.kind == "image":
        return dataset.framed(classifier.settings.framing)
    wanted = classifier.settings.features
    if wanted and wanted != dataset.features and set(wanted) <= set(dataset.features):
        return dataset.with_columns(wanted)
    return dataset


def _in_unit(classifier: Model, dataset: Dataset, x: np.ndarray) -> np.ndarray:
    if x.size == 0 or classifier.kind == "image":
        return x
    # ``not inside`` instead of ``outside``: NaN counts as outside too.
    outside = ~((x >= -_ROUNDING) & (x <= 1 + _ROUNDING))
    if outside.any():
        column = int(np.argwhere(outside)[0][-1])
        if column < len(dataset.features):
            name = dataset.features[column]
        else:
            name = f"column {column + 1}"
        raise DataError(
            f"{dataset.name}: {name} has values outside the range of {classifier.name}; set low and"
            " high of the model from the data."
        )
    return np.asarray(np.clip(x, 0, 1))


def _check_kind(classifier: Model, dataset: Dataset) -> None:
    if classifier.kind != dataset.kind:
        words = {"image": "images", "table": "table rows", "sequence": "sequences"}
        raise DataError(
            f"{classifier.name} takes {words[classifier.kind]}, but {dataset.name} holds"
            f" {words[dataset.kind]}; choose another dataset or set the kind."
        )


def _check_shape(classifier: Model, dataset: Dataset) -> None:
    if dataset.kind == "image":
        if dataset.shape:
            channels = dataset.shape[0]
        else:
            channels = 3
        if channels != classifier.shape[0] and {channels, classifier.shape[0]} != {1, 3}:
            raise DataError(
                f"{classifier.name} takes images of {count(classifier.shape[0], 'channel')}, but"
                f" those of {dataset.name} have {channels}; choose another dataset."
            )
    elif classifier.shape[-1] != len(dataset.features):
        raise DataError(
            f"{classifier.name} takes {count(classifier.shape[-1], 'column')}, but {dataset.name}"
            f" has {len(dataset.features)}; choose the columns with the option features.",
            option="features=A,B",
        )


def _check_columns(classifier: Model, dataset: Dataset) -> None:
    if dataset.label_matrix is None:
        columns = classifier.classes
    else:
        columns = dataset.label_matrix.shape[1]
    if columns != classifier.classes:
        raise DataError(
            f"{classifier.name} has {classifier.classes} classes, but {dataset.name} has {columns}"
            " columns of labels; choose the dataset the model was made for."
        )
