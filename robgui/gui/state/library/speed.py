"""How fast the model in use is, measured for the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robgui.core.text.words import number, probability

if TYPE_CHECKING:
    from robgui.core.model.answers import Speed
    from robgui.gui.state.library.library import Library


def measure_speed(library: Library) -> None:
    """Says how fast the model in use is each way, and how much the answers change."""
    model = library.model
    if model is None:
        return

    def measured(speeds: list[Speed]) -> None:
        library.said.emit("info", f"{model.name} on {model.device}. {_in_words(speeds)}.", "")

    def measure() -> list[Speed]:
        found: list[Speed] = library.answers.ask("speed", model=model, topic="speed")
        return found

    library.pending.run("Measuring …", measure, measured, asks=True)


def _in_words(speeds: Sequence[Speed]) -> str:
    """How fast a model is each way, and how much its answers change."""
    lines = [
        f"{s.name}: {number(round(s.inputs_per_second))} inputs/s (largest change of a probability"
        f" {probability(s.largest_change, 2)})"
        for s in speeds
    ]
    return "; ".join(lines)
