"""Answers questions in the process that holds the models; see ``questions``."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from robgui.core.devices import devices as known_devices
from robgui.core.errors import DataError, ModelError, ParamsError
from robgui.core.execution.request import Reference, reference
from robgui.core.identify import identify
from robgui.core.loading import load
from robgui.core.model.answers import DataCard, Scores, Speed
from robgui.core.model.card import ModelCard, card_of
from robgui.core.model.doubt.trying import WaysTried, try_ways
from robgui.core.model.guessing import output_kind
from robgui.core.model.settings import ModelSettings
from robgui.core.model.trial import Trial, try_on

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.loaded_cache import LoadedCache
    from robgui.core.model.classifier import Classifier


def devices(shelf: LoadedCache) -> list[tuple[str, str]]:
    """The devices that models can use, as ``(id, name for people)``, the default first."""
    return known_devices()


def model(
    shelf: LoadedCache,
    path: str,
    trust: bool | list[str],
    device: str,
    autocast: bool,
    settings: dict[str, Any],
) -> ModelCard:
    """Opens a model file and keeps it loaded; ``trust`` as in ``load``."""
    classifier = load(path, trust=trust, device=_device(device), **settings)
    if autocast:
        classifier.to(classifier.device, autocast=True)
    shelf.add_model(classifier)
    return card_of(classifier)


def data(shelf: LoadedCache, path: str, options: dict[str, Any], query: str | None) -> DataCard:
    """Opens data and keeps them open; says which inputs match a query."""
    from robgui.core.dataset import open_dataset

    dataset = open_dataset(path, **options)
    shelf.add_dataset(dataset)
    counts = _counts(dataset)
    return DataCard(
        reference(dataset),
        len(dataset),
        _chosen(dataset, query),
        tuple(dataset.notes),
        str(identify(Path(path)).words),
        dataset.kind,
        dataset.shape or (),
        dataset.names or tuple(map(str, range(len(counts)))),
        counts,
        dataset.parts,
        dataset.left_out(),
    )


def _counts(dataset: Dataset) -> tuple[int, ...]:
    """Inputs of each class; empty without labels."""
    if dataset.labels is None:
        return ()
    # bincount refuses negative numbers, and -1 means no label.
    known = dataset.labels[dataset.labels >= 0]
    return tuple(np.bincount(known, minlength=len(dataset.names)).tolist())


def trial(shelf: LoadedCache, model: str, data: str) -> Trial:
    """Tries a loaded model on open data, both given by fingerprint."""
    return try_on(shelf.model_at_hand(model), shelf.dataset_at_hand(data))


def ways(shelf: LoadedCache, model: str, data: str) -> WaysTried:
    """Tries the usual ways of feeding a loaded model on open data, as ``try_ways``."""
    return try_ways(shelf.model_at_hand(model), shelf.dataset_at_hand(data))


def left_out(shelf: LoadedCache, data: str) -> str:
    """Describes what could not be read from open data so far."""
    return shelf.dataset_at_hand(data).left_out()


def card(
    shelf: LoadedCache, model: dict[str, Any], settings: dict[str, Any] | None = None
) -> ModelCard:
    """A model with other ``settings``, tried out.

    On the device and with the precision ``model`` asks for.
    """
    classifier = loaded(shelf, model)
    if settings is None:
        return card_of(classifier)
    wanted = ModelSettings.model_validate(settings)
    if wanted.settled == classifier.settings.settled:
        other = classifier.with_settings(wanted)
    else:
        other = _read_again(classifier, wanted, model)
    shelf.add_model(other)
    return card_of(other)


def _read_again(classifier: Classifier, wanted: ModelSettings, model: dict[str, Any]) -> Classifier:
    """Opens the file of a model again with other settings.

    The network and the chosen output are settled while the file is read.
    """
    if classifier.path is None:
        raise ModelError(
            f"{classifier.name} is not from a file; which of its outputs holds the scores is said"
            " where it is made."
        )
    # Trusted is what the user trusted when it was first opened, and nothing more.
    trusted, settings = frozenset(model["trusted"]), wanted.model_dump()
    again = load(classifier.path, trust=trusted, device=classifier.device, **settings)
    _place(again, model)
    return again


def let_go(shelf: LoadedCache, content: str, kept: list[str]) -> bool:
    """Drops this content's models, except those with the fingerprints ``kept``, to free memory."""
    shelf.let_go(content, kept)
    # Networks hold rings of references, whose memory would stay until some later collection.
    gc.collect()
    return True


def scores(
    shelf: LoadedCache,
    model: dict[str, Any],
    x: np.ndarray,
    raw: bool = False,
    settings: dict[str, Any] | None = None,
) -> Scores:
    """The probabilities of inputs ``(n, *shape)`` in [0, 1].

    ``raw`` also returns the model's own output; other ``settings`` are tried once and not kept.
    """
    classifier = loaded(shelf, model)
    if settings is not None:
        classifier = classifier.with_settings(ModelSettings.model_validate(settings))
    # Half precision under autocast: NumPy has no bfloat16.
    probabilities = classifier.probs(x).float().cpu().numpy()
    if not raw:
        return Scores(probabilities)
    looks = output_kind(classifier.raw(x).float(), classifier.settings.multi_label)
    return Scores(probabilities, looks)


def outputs(shelf: LoadedCache, model: dict[str, Any]) -> int:
    """Length of the model's own output for one input."""
    classifier = loaded(shelf, model)
    return int(classifier.raw(np.zeros((1, *classifier.shape), np.float32)).shape[1])


def speed(shelf: LoadedCache, model: dict[str, Any]) -> list[Speed]:
    """How fast a model is in each precision and memory layout."""
    from robgui.core.model.timing.speed import measure

    return measure(loaded(shelf, model))


def loaded(shelf: LoadedCache, model: dict[str, Any]) -> Classifier:
    """The model a question is about, on the device and with the precision asked for.

    Loaded again if this process has not seen it yet. See ``ModelCard.asked``.
    """
    wanted = Reference.model_validate(model["reference"])
    classifier = shelf.model(wanted, model["device"], frozenset(model["trusted"]))
    _place(classifier, model)
    return classifier


def _place(classifier: Classifier, model: dict[str, Any]) -> None:
    device, precision = model["device"], (model["autocast"], model["channels_last"])
    if torch.device(device) != classifier.device or precision != classifier.precision:
        classifier.to(device, autocast=precision[0], channels_last=precision[1])


def _chosen(dataset: Dataset, query: str | None) -> list[int] | None:
    if query is None:
        return None
    found = dataset.select(query)
    if not found:
        raise DataError(f"No input of {dataset.name} fits the query {query!r}; choose another one.")
    return [int(place) for place in found]


def _device(name: str) -> str | None:
    known = [device for device, _ in known_devices()]
    # "cuda" alone means the first card.
    if name and name not in known and name != known[0].partition(":")[0]:
        raise ParamsError(f"There is no device {name!r} here; choose one of: {', '.join(known)}.")
    return name or None
