"""Merges the comparisons of parts of two sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from robgui.analyses.zonnscan.populations import compare, notable_places
from robgui.analyses.zonnscan.result import PopulationsResult

#: Fields with one entry per input.
_PER_INPUT = (
    "index",
    "half_width",
    "crossing",
    "second",
    "predicted",
    "numbers",
    "thumbnails",
    "samples",
)


def merged(results: Sequence[PopulationsResult]) -> PopulationsResult:
    """The first sets of all parts in order, then the second ones.

    Summaries are recomputed. The worst inputs of the whole are among the worst of the parts, so
    their pictures are at hand.
    """
    second = np.concatenate([result.second for result in results])
    # Stable: the inputs of each set stay in the order of the data, as in a run that was not split.
    order = np.argsort(second, kind="stable")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(result, name) for result in results])[order]
        for name in _PER_INPUT
    }
    keys = [key for result in results for key in result.keys]
    notable = notable_places(columns["index"], columns["crossing"], ~columns["second"])
    return replace(
        results[0],
        **columns,
        keys=tuple(keys[place] for place in order),
        notable=notable,
        # ``order`` leads back to the numbering before sorting, in
        # which the parts' inputs are known.
        notable_inputs=_inputs(results)[np.searchsorted(_places(results), order[notable])],
        **asdict(
            compare(columns["index"][~columns["second"]], columns["index"][columns["second"]])
        ),
        model_calls=sum(result.model_calls for result in results),
        finished=all(result.finished for result in results),
    )


def _places(results: Sequence[PopulationsResult]) -> np.ndarray:
    """Positions of the parts' worst inputs among all inputs, part after part, rising."""
    starts = np.cumsum([0, *(len(result.index) for result in results)])
    return np.concatenate(
        [start + np.sort(result.notable) for start, result in zip(starts, results, strict=False)]
    )


def _inputs(results: Sequence[PopulationsResult]) -> np.ndarray:
    """These inputs in the same order."""
    return np.concatenate([result.notable_inputs[np.argsort(result.notable)] for result in results])
