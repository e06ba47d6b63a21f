"""A sweep that stays in the picture, so the next one can be compared with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robgui.analyses.zonnscan.views.samples import radius_words
from robgui.analyses.zonnscan.views.sweep import told
from robgui.core.view import Curves, Ink, Line

if TYPE_CHECKING:
    from robgui.analyses.zonnscan import ZonnscanResult


@dataclass(frozen=True)
class PinnedSweep:
    """A result and what to call it."""

    result: ZonnscanResult
    name: str

    def behind(self, view: Curves) -> Curves:
        """The picture of another sweep with the thin lines of this one behind it."""
        result = self.result
        lines = (
            Line(
                "reference: uncertainty",
                told(result, result.index),
                Ink("quiet"),
                x=result.radii,
            ),
            Line(
                "reference: change class",
                result.crossing,
                Ink("quiet"),
                x=result.radii,
                symbol="diamond",
            ),
        )
        note = f"{view.note} Reference: {self.name}."
        return replace(view, lines=(*view.lines, *lines), note=note)

    def words(self, radius: float) -> str:
        """What it knows at the radius nearest to ``radius``."""
        place = int(np.abs(self.result.radii - radius).argmin())
        return f"Reference, {self.name}: {radius_words(self.result, place)}"
