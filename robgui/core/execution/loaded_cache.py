"""LoadedCache: the models and datasets in memory, each loaded once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from robgui.core.errors import DataError, ModelError, RobguiError
from robgui.core.execution.request import Reference, Request
from robgui.core.model.card import fingerprint
from robgui.core.model.settings import ModelSettings

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.classifier import Classifier
    from robgui.core.workspace import Workspace

T = TypeVar("T")

#: How many models, and datasets, stay loaded; the least recently used go first.
#: Enough to compare several models without reading one twice.
_KEPT = 8


class LoadedCache:
    """Finds or loads what a request names, and checks that a file is still the one it means.

    Args:
        device: Where models are put; by default where the request says.
        workspace: Knows where moved files are now, and holds derived inputs.
        models: Models that are loaded already.
        datasets: Data that are open already.
        notice: Called with what the user should know about a loaded model.
    """

    def __init__(
        self,
        device: str = "",
        workspace: Workspace | None = None,
        models: Sequence[Classifier] = (),
        datasets: Sequence[Dataset] = (),
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self._device = device
        self._workspace = workspace
        self._notice = notice
        self._given_models = {model.fingerprint: model for model in models}
        self._given_datasets = {dataset.fingerprint: dataset for dataset in datasets}
        self._models: OrderedDict[str, Classifier] = OrderedDict()
        self._datasets: OrderedDict[str, Dataset] = OrderedDict()
        self._lock = threading.RLock()

    @property
    def loaded(self) -> list[Classifier]:
        """The models in memory."""
        with self._lock:
            return [*self._given_models.values(), *self._models.values()]

    def models(
        self, request: Request, trusted: frozenset[str] = frozenset()
    ) -> tuple[Classifier, ...]:
        """The models of a request, in its order.

        Code runs if its digest is ``trusted`` or the user trusts it anyway.
        """
        return tuple(self.model(model, request.device, trusted) for model in request.models)

    def dataset(self, request: Request) -> Dataset | None:
        """The dataset of a request, whole."""
        wanted = request.dataset
        if wanted is None:
            return None
        if wanted.fingerprint in self._given_datasets:
            return self._given_datasets[wanted.fingerprint]
        return _kept(self._datasets, wanted.fingerprint, partial(self._open, wanted))

    def data(self, wanted: Reference) -> Dataset:
        """Data already open, or opened now."""
        with self._lock:
            return _kept(self._datasets, wanted.fingerprint, partial(self._open, wanted))

    def add_model(self, classifier: Classifier) -> None:
        """Keeps a model that is loaded already."""
        if self._notice is not None:
            classifier.notice = self._notice
        with self._lock:
            # In place of an older object of the same fingerprint, which may lie on another device.
            self._models.pop(classifier.fingerprint, None)
            _kept(self._models, classifier.fingerprint, lambda: classifier)

    def add_dataset(self, dataset: Dataset, name: str = "") -> None:
        """Keeps data that are open already, under the fingerprint ``name`` if it is given."""
        _kept(self._datasets, name or dataset.fingerprint, lambda: dataset)

    def let_go(self, content: str, kept: Collection[str]) -> None:
        """Forgets the models of this content, but those with the fingerprints ``kept``."""
        with self._lock:
            for name, model in list(self._models.items()):
                if model.content == content and name not in kept:
                    del self._models[name]

    def model_at_hand(self, fingerprint: str) -> Classifier:
        """A model that is loaded."""
        if fingerprint not in self._models:
            raise ModelError("The model is no longer loaded; open it again.")
        return self._models[fingerprint]

    def dataset_at_hand(self, fingerprint: str) -> Dataset:
        """Data that are open."""
        if fingerprint not in self._datasets:
            raise DataError("The data are no longer open; open them again.")
        return self._datasets[fingerprint]

    def model(self, wanted: Reference, device: str, trusted: frozenset[str]) -> Classifier:
        """A model in memory, one derived from it by its settings, or one loaded now.

        Code runs as in ``models``.
        """
        with self._lock:
            # Models given from outside (a notebook) are never dropped:
            # they may exist in memory only.
            if wanted.fingerprint in self._given_models:
                return self._given_models[wanted.fingerprint]
            make = partial(self._load, wanted, self._device or device, trusted)
            return _kept(
                self._models, wanted.fingerprint, lambda: self._with_settings(wanted) or make()
            )

    def _with_settings(self, wanted: Reference) -> Classifier | None:
        """A loaded model of the same content, given the settings that are wanted."""
        settings = ModelSettings.model_validate(wanted.options)
        for known in (*self._given_models.values(), *self._models.values()):
            if (
                # The same weights under other settings are cheap to derive; only settings fixed
                # while reading (the network, the chosen output) need the file again.
                fingerprint(known.content, settings) == wanted.fingerprint
                and known.settings.settled == settings.settled
            ):
                return known.with_settings(settings)
        return None

    def _load(self, wanted: Reference, device: str, trusted: frozenset[str]) -> Classifier:
        from robgui.core.loading import load

        options: dict[str, Any] = dict(wanted.options)
        classifier = load(
            find_file(wanted, self._workspace), trust=trusted, device=device or None, **options
        )
        # The file may have been replaced since the request was made.
        _check_unchanged(wanted, classifier.fingerprint)
        if self._notice is not None:
            classifier.notice = self._notice
        return classifier

    def _open(self, wanted: Reference) -> Dataset:
        from robgui.core.dataset import open_dataset

        if isinstance(ids := wanted.options.get("derived"), list):
            dataset = self._derived(wanted, ids)
        else:
            dataset = open_dataset(find_file(wanted, self._workspace), **wanted.options)
        _check_unchanged(wanted, dataset.fingerprint)
        return dataset

    def _derived(self, wanted: Reference, ids: list[Any]) -> Dataset:
        from robgui.core.dataset.derived import DerivedDataset

        if self._workspace is None:
            raise DataError(
                f"The inputs {wanted.name} live in a workspace; open that workspace and start the"
                " run there."
            )
        return DerivedDataset(self._workspace.derived([int(id_) for id_ in ids]))


def find_file(wanted: Reference, workspace: Workspace | None = None) -> Path:
    """The file of a reference: at its path, or where the workspace knows it was moved."""
    if workspace is not None:
        known = workspace.files.references(wanted.kind, every=True)
    else:
        known = []
    # Where the request says first; then wherever the workspace has seen the same content since.
    paths = [
        wanted.path,
        *(other.path for other in known if other.fingerprint == wanted.fingerprint),
    ]
    for path in paths:
        if path and Path(path).exists():
            return Path(path)
    error = _error(wanted)
    if not any(paths):
        raise error(
            f"The {wanted.kind} {wanted.name} lived in memory only and is gone; open it from a file"
            " and start the run again."
        )
    raise error(
        f"The {wanted.kind} {wanted.name} is no longer at {wanted.path}; put it back or say where"
        " it is now, and start the run again."
    )


def _check_unchanged(wanted: Reference, fingerprint: str) -> None:
    if fingerprint != wanted.fingerprint:
        raise _error(wanted)(
            f"The {wanted.kind} {wanted.name} has changed since this run was asked for; start a new"
            " run with it as it is now."
        )


def _error(wanted: Reference) -> type[RobguiError]:
    if wanted.kind == "model":
        return ModelError
    return DataError


def _kept(shelf: OrderedDict[str, T], key: str, make: Callable[[], T]) -> T:
    if key not in shelf:
        shelf[key] = make()
        while len(shelf) > _KEPT:
            shelf.popitem(last=False)
    shelf.move_to_end(key)
    return shelf[key]
