"""What belongs together: a model and data, two records of one model, inputs of one family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.core.model.card import ModelCard, fingerprint
from robgui.core.model.settings import ModelSettings

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.request import Reference


def looks_alike(classifier: ModelCard, dataset: Dataset) -> bool:
    """A cheap guess whether the two belong together: kind, size and class names."""
    if classifier.kind != dataset.kind:
        return False
    if dataset.shape is not None and dataset.shape != classifier.shape:
        return False
    if not classifier.settings.labels and dataset.names:
        # A model without names of its own will take those of the data: only the count can disagree.
        return len(dataset.names) == classifier.classes
    from robgui.core.dataset.matching import fits

    return fits(classifier, dataset)


def same_file(one: ModelCard, other: ModelCard) -> bool:
    """Whether two models are one file, wherever it lies and whatever their settings."""
    if one.path is None or other.path is None:
        return one == other
    return one.path == other.path or one.content == other.content


def is_of(reference: Reference, item: ModelCard | Dataset) -> bool:
    """Whether a reference means this model, with whatever settings, or these data.

    Wherever their file lies.
    """
    if not isinstance(item, ModelCard):
        return reference.fingerprint == item.fingerprint
    try:
        settings = ModelSettings.model_validate(reference.options)
    except ValueError:  # of another version of the program
        return False
    return reference.fingerprint == fingerprint(item.content, settings)


def relatives(dataset: Dataset) -> object:
    """Which family of derived inputs a dataset is; empty for any other."""
    items = getattr(dataset, "items", ())
    if items:
        return items[0].relatives
    return ()
