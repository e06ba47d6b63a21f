"""Axis: what runs along one side of a picture, and how its numbers read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from robgui.core.text.words import number, percent, probability

Kind = Literal["number", "share", "probability", "count"]


@dataclass(frozen=True, slots=True)
class Axis:
    """The name, unit and range of an axis.

    Attributes:
        name: What the numbers are.
        unit: Their unit; empty for a plain number or a share.
        low: Where the axis begins; nan leaves it to the data.
        high: Where it ends.
        kind: ``share`` is 0 to 1 and reads as per cent, ``count`` takes whole numbers only.
        log: Powers of ten at equal distances.
        better: Which way is good; ``neither`` if the axis says nothing about quality.
        remark: Text in brackets after the name that is not a unit and not read with numbers.
    """

    name: str
    unit: str = ""
    low: float = math.nan
    high: float = math.nan
    kind: Kind = "number"
    log: bool = False
    better: Literal["low", "high", "neither"] = "neither"
    remark: str = ""

    @property
    def title(self) -> str:
        """Name and unit as shown beside the axis."""
        if self.unit or self.remark:
            return f"{self.name} ({self.unit or self.remark})"
        return self.name

    def words(self, value: float) -> str:
        """One of its numbers as a person reads it, with its unit."""
        # Their words carry the per cent sign or the power already.
        if self.kind in ("share", "probability"):
            return self.plain(value)
        return f"{self.plain(value)} {self.unit}".rstrip()

    def plain(self, value: float) -> str:
        """One of its numbers without the unit that its title says."""
        if self.kind == "share":
            return percent(value)
        if self.kind == "probability":
            return probability(value, 2)
        return number(value)
