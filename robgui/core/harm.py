"""Harm: how bad it is to take one class for another, as the user sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from robgui.core.text.words import number, severity

if TYPE_CHECKING:
    from robgui.core.finding import Finding

#: The levels a user chooses from, by name.
LEVELS: Mapping[str, float] = {
    "worst": 1.0,
    "bad": 0.5,
    "nuisance": 0.25,
    "harmless": 0.0,
}
WORST = 1.0
#: Weight of every other confusion once one is named the worst.
OTHERS = 0.5
#: The severity scale, for a tool tip.
SCALE = (
    "From 0 to 1: near 1 a whole class is wrong, or a few pixels or a small change of every value"
    " flip the answer; a single wrong answer reaches 0.7; near 0 it fails only at the edge of what"
    " was tried."
)


@dataclass(frozen=True)
class Harm:
    """A weight between 0 and 1 for each confusion; unnamed ones weigh 1.

    Attributes:
        weights: By the name of the true class and the name it is taken for.
    """

    weights: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def of(self, taken: str, given: str) -> float:
        """How bad it is to take one class for the other."""
        return self.weights.get((taken, given), WORST)

    def severity(self, finding: Finding) -> float:
        """The severity of a finding weighted by the harm of its confusion."""
        confused = finding.confusion
        if confused is None:
            return finding.severity
        return finding.severity * self.of(*confused)

    def words(self, finding: Finding) -> str:
        """Explains how the severity of a finding comes about."""
        said = f"Severity {severity(self.severity(finding))}."
        confused = finding.confusion
        if confused is not None and self.of(*confused) < WORST:
            taken, given = confused
            weight = f"{number(self.of(taken, given))}, the harm of taking “{taken}” for “{given}”"
            said = f"{said} That is {severity(finding.severity)} times {weight}."
        return f"{said} {SCALE}"

    def with_weight(self, taken: str, given: str, weight: float) -> Harm:
        """A copy with another weight for one confusion."""
        changed = {**self.weights, (taken, given): min(1.0, max(0.0, weight))}
        return Harm({pair: each for pair, each in changed.items() if each != WORST})

    @classmethod
    def towards(cls, worst: str, names: Iterable[str]) -> Harm:
        """Taking anything for ``worst`` is as bad as it gets; every other confusion weighs half."""
        listed = list(dict.fromkeys(names))
        pairs = ((a, b) for a in listed for b in listed if a != b and b != worst)
        return cls(dict.fromkeys(pairs, OTHERS))

    def to_json(self) -> dict[str, dict[str, float]]:
        """As a workspace keeps it."""
        table: dict[str, dict[str, float]] = {}
        for (taken, given), weight in self.weights.items():
            table.setdefault(taken, {})[given] = weight
        return table

    @classmethod
    def from_json(cls, table: Any) -> Harm:
        """Reads what a workspace keeps; invalid entries are dropped."""
        rows = table.items() if isinstance(table, dict) else ()
        return cls(
            {
                (str(taken), str(given)): min(1.0, max(0.0, float(weight)))
                for taken, row in rows
                if isinstance(row, dict)
                for given, weight in row.items()
                if isinstance(weight, int | float)
            }
        )
