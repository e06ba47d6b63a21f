"""What the library has to say of data and models, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robgui.core.text.words import number, probability

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.answers import Speed


def remarks(dataset: Dataset) -> str:
    """What was guessed while reading data, and how much was left out."""
    said = list(dataset.notes)
    if many := len(dataset.skipped):
        if many == 1:
            were = "file or row was"
        else:
            were = "files or rows were"
        said.append(f"{many:,} {were} skipped; the log says why.")
    return " ".join(said)


def listed(skipped: Sequence[Any]) -> str:
    """What was left out and why, a line each."""
    return "\n".join(f"{item.path}: {item.reason}" for item in skipped[:200])


def speeds_in_words(speeds: Sequence[Speed]) -> str:
    """How fast a model is each way, and how much its answers change."""
    lines = [
        f"{s.name}: {number(round(s.inputs_per_second))} inputs/s (largest change of a probability"
        f" {probability(s.largest_change, 2)})"
        for s in speeds
    ]
    return "; ".join(lines)
