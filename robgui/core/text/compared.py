"""Says which of two runs does better, claiming no more than their numbers tell."""

from __future__ import annotations

import math

from robgui.core.text.words import number
from robgui.core.verdict import Quantity


def compared(names: tuple[str, str], numbers: tuple[Quantity | None, Quantity | None]) -> str:
    """Which does better, by how much, and whether that may be chance; empty if nothing can be said.

    Args:
        names: Their names; the same name twice means the first and the second run.
        numbers: What their results come down to.
    """
    first, second = numbers
    if first is None or second is None or not _alike(first, second):
        return ""
    if names[0] != names[1]:
        called = names
    else:
        called = ("the first run", "the second")
    if _exact(first) and _exact(second) and first.value == second.value:
        return f"{_capital(called[0])} and {called[1]} do equally well: {_what(first)}."
    each = f"{_name(first)} {first.words} for {called[0]}, {second.words} for {called[1]}"
    overlap = _overlap(first, second)
    if overlap is None:
        return f"No difference is known: {each}; neither comes with an interval."
    if overlap:
        return f"No difference is proven: {each}; the intervals overlap."
    if first.words == second.words:
        return f"No difference is known: {each}."
    ahead = (second.value > first.value) == (first.better == "high")
    if ahead:
        winner, loser = (called[1], called[0])
        best, other = (second, first)
    else:
        winner, loser = called
        best, other = (first, second)
    against = f"{_name(best)} {best.words} against {other.words}"
    return (
        f"{_capital(winner)} does better than {loser}: {against}; the 95 % intervals do not meet."
    )


def _exact(quantity: Quantity) -> bool:
    """Whether nothing is left open."""
    return quantity.low == quantity.high == quantity.value


def _alike(first: Quantity, second: Quantity) -> bool:
    """Whether both count the same and say which way is good."""
    known = math.isfinite(first.value) and math.isfinite(second.value)
    return known and first.name == second.name and first.better == second.better != "neither"


def _overlap(first: Quantity, second: Quantity) -> bool | None:
    """Whether their intervals overlap; None without intervals."""
    ends = (first.low, first.high, second.low, second.high)
    if not all(map(math.isfinite, ends)):
        return None
    return first.low <= second.high and second.low <= first.high


def _what(quantity: Quantity) -> str:
    return f"{_name(quantity)} {quantity.words or number(quantity.value)}"


def _name(quantity: Quantity) -> str:
    """The name within a sentence."""
    return quantity.name[:1].lower() + quantity.name[1:]


def _capital(words: str) -> str:
    """Capitalises a name at the start of a sentence, unless it is a file name."""
    if words.startswith("the "):
        return words[:1].upper() + words[1:]
    return words
