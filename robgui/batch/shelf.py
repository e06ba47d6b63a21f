"""Shelf: the models and datasets a worker has at hand, each loaded once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from robgui.core.errors import DataError, ModelError
from robgui.core.execution.drive import check_unchanged
from robgui.core.execution.request import Reference, Request

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.classifier import Classifier

T = TypeVar("T")

#: So many models, and so many datasets, are kept; those not used for longest go first.
_KEPT = 8


def shared_path(reference: Reference) -> Path:
    """Where the reference says its file is; an error in one sentence when it is not there."""
    if reference.path and Path(reference.path).exists():
        return Path(reference.path)
    error = ModelError if reference.kind == "model" else DataError
    if not reference.path:
        raise error(f"The {reference.kind} {reference.name} lived in memory only; a batch needs it as a file.")
    raise error(f"The {reference.kind} {reference.name} is no longer at {reference.path}; put it back or correct the suite.")


class Shelf:
    """Loads what requests name and keeps the last few; checks that a file is still what the request means.

    Args:
        device: Where models go.
        find: Reference -> where its file is on this machine.
    """

    def __init__(self, device: str, find: Callable[[Reference], Path] = shared_path) -> None:
        self._device = device
        self._find = find
        self._models: OrderedDict[str, Classifier] = OrderedDict()
        self._datasets: OrderedDict[str, Dataset] = OrderedDict()

    def models(self, request: Request, trusted: frozenset[str] = frozenset()) -> tuple[Classifier, ...]:
        """The models of a request, in its order; code runs if its digest is ``trusted`` or the user trusts it anyway."""
        return tuple(_kept(self._models, model.fingerprint, partial(self._load, model, trusted)) for model in request.models)

    def dataset(self, request: Request) -> Dataset | None:
        """The dataset of a request, whole."""
        wanted = request.dataset
        return None if wanted is None else _kept(self._datasets, wanted.fingerprint, partial(self._open, wanted))

    def _load(self, wanted: Reference, trusted: frozenset[str]) -> Classifier:
        from robgui.core.loading import load

        options: dict[str, Any] = dict(wanted.options)
        classifier = load(self._find(wanted), trust=trusted, device=self._device or None, **options)
        check_unchanged(wanted, classifier.fingerprint, ModelError)
        return classifier

    def _open(self, wanted: Reference) -> Dataset:
        from robgui.core.dataset import open_dataset

        dataset = open_dataset(self._find(wanted), **wanted.options)
        check_unchanged(wanted, dataset.fingerprint, DataError)
        return dataset


def _kept(shelf: OrderedDict[str, T], key: str, make: Callable[[], T]) -> T:
    if key not in shelf:
        shelf[key] = make()
        while len(shelf) > _KEPT:
            shelf.popitem(last=False)
    shelf.move_to_end(key)
    return shelf[key]
