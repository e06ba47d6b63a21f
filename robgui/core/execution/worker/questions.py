"""What a worker can be asked besides running an analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from robgui.core.errors import DataError, ParamsError
from robgui.core.execution.request import Reference, reference
from robgui.core.model.card import ModelCard, card_of
from robgui.core.model.preprocessing import Tried, try_presets
from robgui.core.model.trial import Trial, try_on

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.shelf import Shelf


@dataclass(frozen=True, slots=True)
class DataCard:
    """What is known of data that are open in a worker.

    Attributes:
        chosen: The inputs that a query has found; None without a query.
        notes: What was guessed or left out while reading, for people.
    """

    reference: Reference
    inputs: int
    chosen: list[int] | None
    notes: tuple[str, ...]


def answer(shelf: Shelf, what: str, values: Mapping[str, Any]) -> Any:
    """The answer to a question, computed here; what goes wrong is raised."""
    return _ANSWERS[what](shelf, **values)


def _model(
    shelf: Shelf, path: str, trust: bool, device: str, autocast: bool, settings: dict[str, Any]
) -> ModelCard:
    """Opens a model file, which stays loaded."""
    from robgui.core.loading import load

    classifier = load(path, trust=trust, device=_device(device), **settings)
    if autocast:
        classifier.to(classifier.device, autocast=True)
    shelf.add_model(classifier)
    return card_of(classifier)


def _data(shelf: Shelf, path: str, options: dict[str, Any], query: str | None) -> DataCard:
    """Opens data, which stay open; says which inputs a query finds."""
    from robgui.core.dataset import open_dataset

    dataset = open_dataset(path, **options)
    shelf.add_dataset(dataset)
    return DataCard(reference(dataset), len(dataset), _chosen(dataset, query), tuple(dataset.notes))


def _trial(shelf: Shelf, model: str, data: str) -> Trial:
    """Tries a loaded model on open data, both by their fingerprints."""
    return try_on(shelf.model_at_hand(model), shelf.dataset_at_hand(data))


def _ways(shelf: Shelf, model: str, data: str) -> list[Tried]:
    """The usual ways of feeding a loaded model, tried on open data; best first."""
    return try_presets(shelf.model_at_hand(model), shelf.dataset_at_hand(data))


def _left_out(shelf: Shelf, data: str) -> str:
    """What could not be read of open data so far, in words."""
    return shelf.dataset_at_hand(data).left_out()


def _chosen(dataset: Dataset, query: str | None) -> list[int] | None:
    if query is None:
        return None
    found = dataset.select(query)
    if not found:
        raise DataError(f"No input of {dataset.name} fits the query {query!r}; choose another one.")
    return [int(place) for place in found]


def _device(name: str) -> str | None:
    from robgui.core.loading import devices

    known = [device for device, _ in devices()]
    if name and name not in known and name != known[0].partition(":")[0]:
        raise ParamsError(f"There is no device {name!r} here; choose one of: {', '.join(known)}.")
    return name or None


_ANSWERS: dict[str, Callable[..., Any]] = {
    "model": _model,
    "data": _data,
    "trial": _trial,
    "ways": _ways,
    "left_out": _left_out,
}
#: The type of the answer to each question, by which what a worker sends is checked.
ANSWERS: dict[str, Any] = {
    "model": ModelCard,
    "data": DataCard,
    "trial": Trial,
    "ways": list[Tried],
    "left_out": str,
}
