"""Sentences about what an inspection left out and what is unsure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.deepinspect.counting.tally import InspectionSums
from robgui.core.dataset import Dataset
from robgui.core.text.words import count

#: A class with fewer predicted members than this gets a warning.
FEW_MEMBERS = 10
#: Most classes named in a sentence.
_NAMED = 8


def remarks_on(
    tally: InspectionSums, dataset: Dataset, classes: Sequence[str], mode_seen: bool
) -> tuple[str, ...]:
    """Sentences about what was left out and what is unsure."""
    counts = tally.members()
    empty, few = np.flatnonzero(counts == 0), np.flatnonzero((counts > 0) & (counts < FEW_MEMBERS))
    said = []
    # A class that is never predicted has no members, and rho would be 0 / 0.
    if len(empty):
        said.append(f"Never predicted and so left out of every pair: {_listed(empty, classes)}.")
    if len(few):
        said.append(
            f"Fewer than {FEW_MEMBERS} predicted members, so their distances are unsure:"
            f" {_listed(few, classes)}."
        )
    # Only multi-label models: an arg max always predicts something.
    if tally.without():
        if tally.without() == 1:
            they = "it counts"
        else:
            they = "they count"
        said.append(
            f"For {count(tally.without(), 'input')} the model predicts no class at all; {they}"
            " nowhere."
        )
    if not tally.labelled:
        said.append(
            "The inputs have no labels, so it is unknown how many of the reported pairs are true."
        )
    elif not mode_seen:
        said.append(
            "The weights of the last layer cannot be seen, so there is no comparison with MODE."
        )
    if dataset.skipped:
        if len(dataset.skipped) == 1:
            verb = "was"
        else:
            verb = "were"
        said.append(
            f"{count(len(dataset.skipped), 'input')} could not be read and {verb} left out."
        )
    return tuple(said)


def _listed(places: np.ndarray, classes: Sequence[str]) -> str:
    names = ", ".join(classes[c] for c in places[:_NAMED])
    if len(places) <= _NAMED:
        return names
    return f"{names} and {len(places) - _NAMED:,} more"
