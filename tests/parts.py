"""A request computed whole and in parts, for the tests which say that the two are the same."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from robgui.core.codec import encode
from robgui.core.execution.registry import find
from robgui.core.execution.step import Step
from robgui.core.npz import unzip


def whole_and_merged(
    name: str, models: Any, data: Any, parts: int, **values: object
) -> tuple[Step[Any], Step[Any]]:
    """The last Step of the analysis of the whole, and the Step that merges its ``parts`` parts."""
    known = find(name)
    params = known.params.parse(values)
    assert known.shards is not None
    ranges = known.shards.split(params, 0 if data is None else len(data), parts)
    assert len(ranges) == parts
    whole = list(known.engine(models, data, params))[-1]
    steps = [list(known.part(part).engine(models, data, params))[-1] for part in ranges]
    (merged,) = known.merging(steps).engine(models, data, params)
    return whole, merged


def assert_same(whole: Step[Any], merged: Step[Any], but: Collection[str] = ()) -> None:
    """Bit for bit the same in every field of the result ``but`` these."""
    assert (merged.done, merged.total, merged.note) == (whole.done, whole.total, whole.note)
    (one, arrays), (two, others) = _flat(whole.result), _flat(merged.result)
    for field in one:
        if field not in but:
            left, right = _filled(one[field], arrays), _filled(two[field], others)
            np.testing.assert_equal(right, left, err_msg=field)


def _flat(result: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    document, blob = encode(result)
    return document["fields"], unzip(blob)


def _filled(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The value of a document with its arrays in place."""
    if isinstance(value, dict):
        return (
            arrays[value["$array"]]
            if "$array" in value
            else {key: _filled(each, arrays) for key, each in value.items()}
        )
    return [_filled(each, arrays) for each in value] if isinstance(value, list) else value
