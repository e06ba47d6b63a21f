"""What the library has to say of data, in words."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.card import ModelCard


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


def reading_messages(dataset: Dataset, *, quiet: bool) -> list[tuple[str, str, str]]:
    """What was guessed or left out while reading: level, sentence and details of each message.

    A guess about data that a workspace brings along is for the log only.
    """
    words = remarks(dataset)
    if not words:
        return []
    sentence = f"{dataset.name}: {words}"
    if dataset.skipped:
        return [("warning", sentence, listed(dataset.skipped))]
    if quiet:
        logging.getLogger("robgui").info("%s", sentence)
        return []
    return [("info", sentence, "")]


def misfit(model: ModelCard, dataset: Dataset, sentence: str) -> str:
    """What to do about a model and data of another kind or width; empty for any other trouble.

    Data are often opened before their model, so this is no error; the log has the whole sentence.
    """
    if model.kind == dataset.kind and (
        model.kind == "image" or model.shape[-1] == len(dataset.features)
    ):
        return ""
    logging.getLogger("robgui").info("%s", sentence)
    # Our sentences say what is wrong before the semicolon, and behind it what to do.
    reason = sentence.partition(";")[0]
    return f"{reason}; open the model for {dataset.name}, or data for {model.name}."


def listed(skipped: Sequence[Any]) -> str:
    """What was left out and why, a line each."""
    # As many lines as the log shows of one message.
    return "\n".join(f"{item.path}: {item.reason}" for item in skipped[:200])
