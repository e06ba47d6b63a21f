"""Inputs sent by value, to a process that cannot open the data they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.derived import Named
from robgui.core.dataset.formats.stacked import from_arrays


def by_value(dataset: Dataset, indices: Sequence[int], shape: tuple[int, ...]) -> dict[str, Any]:
    """These inputs as arrays and plain values, for ``from_value``.

    Args:
        dataset: Where they are.
        indices: Which.
        shape: Shape of one input that the receiver wants.
    """
    chosen = dataset.subset(indices)
    return {
        "array": chosen.array(shape=shape),
        "kind": chosen.kind,
        "name": chosen.name,
        "keys": [chosen.key(place) for place in range(len(chosen))],
        "labels": chosen.labels,
        "matrix": chosen.label_matrix,
        "names": list(chosen.names),
        "features": list(chosen.features),
    }


def from_value(value: Mapping[str, Any]) -> Dataset:
    """The inputs that ``by_value`` took apart."""
    return Dataset(
        Named(from_arrays(value["array"], kind=value["kind"]), value["keys"]),
        name=value["name"],
        labels=value["labels"],
        label_matrix=value["matrix"],
        names=value["names"],
        features=value["features"],
    )
