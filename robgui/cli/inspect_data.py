"""``robgui inspect`` on data: what a dataset holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robgui.cli.printing import print_json, print_line
from robgui.core.text.words import count

if TYPE_CHECKING:
    from robgui.cli.opening import Executor
    from robgui.core.model.answers import DataCard

#: Most classes listed.
_LISTED = 50


def inspect_data(executor: Executor, path: str, options: dict[str, Any], as_json: bool) -> int:
    """Prints what data hold, as they are opened where the executor computes."""
    card: DataCard = executor.ask("data", path=path, options=options, query=None)
    if as_json:
        print_json(_document(card))
        return 0
    for name, value in facts(card).items():
        print_line(f"{name + ':':<14}{value}")
    for name, many in list(zip(card.names, card.counts, strict=False))[:_LISTED]:
        print_line(f"  {many:>9,}  {name}")
    if len(card.names) > _LISTED:
        print_line(f"  … and {len(card.names) - _LISTED:,} more classes")
    return 0


def facts(card: DataCard) -> dict[str, str]:
    """What is known about data, in words."""
    if card.shape:
        shape = " x ".join(map(str, card.shape))
    else:
        shape = "different sizes"
    found = {
        "data": card.reference.name,
        "format": card.format,
        "inputs": f"{count(card.inputs, 'input')} of kind {card.kind}, {shape}",
        "parts": ", ".join(card.parts),
        "labels": _labels(card),
        "notes": " ".join(card.notes),
        "left out": card.left_out,
        "fingerprint": card.reference.fingerprint,
    }
    return {name: value for name, value in found.items() if value}


def _labels(card: DataCard) -> str:
    if not card.counts:
        return "none"
    known = sum(card.counts)
    if known < card.inputs:
        some = f", {card.inputs - known:,} inputs without one"
    else:
        some = ""
    return f"{count(sum(many > 0 for many in card.counts), 'class')}{some}"


def _document(card: DataCard) -> dict[str, object]:
    return {
        "data": card.reference.name,
        "format": card.format,
        "inputs": card.inputs,
        "kind": card.kind,
        "shape": card.shape,
        "parts": card.parts,
        "classes": card.names,
        "counts": card.counts,
        "notes": card.notes,
        "left_out": card.left_out,
        "fingerprint": card.reference.fingerprint,
    }
