"""Orders in which inputs are shown."""

from __future__ import annotations

import numpy as np

from robgui.core.dataset.query.facts import InputFacts

#: What inputs can be sorted by, as people read it.
ORDERS = {
    "index": "order of the data",
    "name": "name",
    "label": "label",
    "predicted": "prediction",
    "confidence": "confidence",
    "margin": "margin",
    "loss": "loss",
    "findings": "findings",
}
#: The largest come first in these orders, being the ones to look at.
LARGEST_FIRST = ("loss", "findings")
#: Orders that depend on the model's answers.
OF_MODEL = ("predicted", "confidence", "margin", "loss")


def arranged(rows: np.ndarray, facts: InputFacts, by: str, *, turned: bool = False) -> np.ndarray:
    """``rows`` in another order; unknown ones come last, and ties keep their order.

    Args:
        rows: Numbers of inputs.
        facts: What is known of all inputs.
        by: One of ORDERS.
        turned: The other way round.
    """
    if by == "index":
        if turned:
            return rows[::-1]
        return rows
    if by == "name":
        keys = facts.item_names()
        order = sorted(rows.tolist(), key=lambda index: keys[index].casefold(), reverse=turned)
        return np.asarray(order, dtype=np.int64)
    values = _values(facts, by)
    if values is None:
        return rows
    chosen = values[rows]
    known = np.isfinite(chosen)
    largest_first = (by in LARGEST_FIRST) != turned
    if largest_first:
        signed = -chosen[known]
    else:
        signed = chosen[known]
    return np.concatenate([rows[known][np.argsort(signed, kind="stable")], rows[~known]])


def _values(facts: InputFacts, by: str) -> np.ndarray | None:
    """A number for each input, nan if unknown; None if no input has one."""
    if by == "findings":
        found = np.zeros(facts.count)
        for index, each in facts.findings.items():
            if 0 <= index < facts.count:
                found[index] = len(each)
        return found
    if by == "label":
        if facts.labels is None:
            return None
        return np.where(facts.labels < 0, np.nan, facts.labels)
    if facts.predicted is None:
        return None
    if by == "predicted":
        return np.where(facts.predicted.classes < 0, np.nan, facts.predicted.classes)
    values: np.ndarray = getattr(facts.predicted, by)
    return values
