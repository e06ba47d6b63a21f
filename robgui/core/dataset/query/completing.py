"""Completes a query while it is being typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from robgui.core.dataset.query.expression import FIELDS, JOINING, KEYWORDS

#: The words offered: a field with its usual sign.
OFFERED = (
    *("label:", "predicted:", "confidence<", "margin<", "loss>", "name:", "index<", "tag:"),
    "finding:",
    *KEYWORDS,
    *JOINING,
)
_MOST = 50
# A quote that is still open belongs to the word: the value is being typed.
_LAST = re.compile(r"(?:[^\s()\"']|\"[^\"]*\"?|'[^']*'?)*$")
_WITH_SIGN = re.compile(r"([^\s=!<>~:]+)(!=|<=|>=|=|<|>|~|:)([\"']?)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The values that a query can name.

    Attributes:
        classes: Class names of data and model.
        tags: What inputs are tagged with.
        findings: Kinds of what was found.
    """

    classes: Sequence[str] = ()
    tags: Sequence[str] = ()
    findings: Sequence[str] = ()

    def of(self, field: str) -> Sequence[str]:
        """The values of a field; empty if any would do."""
        known = {"label": self.classes, "predicted": self.classes, "tag": self.tags}
        if field == "finding":
            return self.findings
        return known.get(field, ())


def completions(text: str, cursor: int, words: Vocabulary) -> tuple[int, list[str]]:
    """Where the word before the cursor begins, and what it may become.

    Args:
        text: The whole line.
        cursor: How many letters stand before the cursor.
        words: The values that there are.
    """
    before = text[:cursor]
    found = _LAST.search(before)
    if found is not None:
        start = found.start()
    else:
        start = cursor
    token = before[start:]
    # A leading minus negates: the word behind it is what is being typed.
    if token.startswith("-"):
        start, token = start + 1, token[1:]
    signed = _WITH_SIGN.match(token)
    if signed is None:
        return start, [word for word in OFFERED if word.startswith(token.casefold())][:_MOST]
    field, sign, _, typed = signed.groups()
    if field.casefold() not in FIELDS:
        return start, []
    # The closing quote may stand there already.
    wanted = typed.rstrip("\"'").casefold()
    values = [value for value in words.of(field.casefold()) if wanted in value.casefold()]
    # What begins with the typed letters first; the sort is stable, so the rest keeps its order.
    values.sort(key=lambda value: not value.casefold().startswith(wanted))
    return start, [f"{field}{sign}{quoted(value)}" for value in values[:_MOST]]


def quoted(value: str) -> str:
    """A value as written in a query: in quotes if it contains blanks or signs."""
    if re.fullmatch(r"[^\s()\"'=!<>~:]+", value) and value.casefold() not in JOINING:
        return value
    if '"' in value:
        # The language has no escapes: a value with
        # both kinds of quotes cannot be written.
        return f"'{value}'"
    return f'"{value}"'
