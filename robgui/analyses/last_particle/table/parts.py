"""Merges tables of some inputs each into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robgui.analyses.last_particle.result import LastParticleTableResult

#: Fields ``(E, n)``, fields ``(n,)``, and the seconds ``(E,)``, which add up however many machines
#: spent them.
_PER_PAIR = (
    *(
        "validated",
        "inconclusive",
        "finished",
        "p_estimate",
        "p_low",
        "p_high",
        "killed",
        "mixed",
        "calls",
    ),
    *("certified", "certified_lower", "monte_carlo_failures", "counterexample", "attacked"),
    *("passed", "looked"),
)
_PER_INPUT = ("places", "classes")
_SECONDS = ("seconds", "certified_seconds", "monte_carlo_seconds")


def merged(results: Sequence[LastParticleTableResult], most_shown: int) -> LastParticleTableResult:
    """The inputs of all parts in order.

    The worst failures of the whole are among the worst of the parts.
    """
    fields: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in results], axis=1)
        for name in _PER_PAIR
    }
    fields |= {
        name: np.concatenate([getattr(each, name) for each in results]) for name in _PER_INPUT
    }
    fields |= {name: np.sum([getattr(each, name) for each in results], axis=0) for name in _SECONDS}
    reason = next((each.certified_reason for each in results if each.certified_reason), "")
    if reason:  # What one part finds against the proof holds for all.
        fields["certified"] = np.zeros_like(fields["certified"])
        fields["certified_lower"] = np.full_like(fields["certified_lower"], np.nan)
    return replace(
        results[0],
        **fields,
        **_shown(results, fields["p_estimate"], most_shown),
        certified_reason=reason,
        names=tuple(name for each in results for name in each.names),
        model_calls=sum(each.model_calls for each in results),
    )


def _shown(results: Sequence[LastParticleTableResult], p: np.ndarray, most: int) -> dict[str, Any]:
    """The failures kept for showing, smallest noise first, then likeliest."""
    starts = np.cumsum([0, *(len(each.places) for each in results)])
    pairs = np.concatenate(
        [each.shown + np.array([0, start]) for each, start in zip(results, starts, strict=False)]
    )
    # The last key counts first: smallest noise, then likeliest, then the order of the inputs.
    order = np.lexsort((pairs[:, 1], -p[pairs[:, 0], pairs[:, 1]], pairs[:, 0]))[:most]
    rows = {
        name: np.concatenate([getattr(each, name) for each in results])
        for name in ("shown_failure", "shown_input", "shown_class")
    }
    return {"shown": pairs[order]} | {name: values[order] for name, values in rows.items()}
