"""A kind of quantity has one formatter: what people read is written by core/text/words.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import robgui

ROOT = Path(robgui.__file__).parent
#: Digits after the point, significant digits or per cent, chosen on the spot.
BY_HAND = re.compile(r"\{[^{}\"']*:[,+]?\.\d*[efg%][^{}]*\}|\{[^{}\"']*:\.\d+\}")
#: What is not read: a number rounded to be used as a number, and what a file holds.
ALLOWED = ("float(f", 'value="{', "min=", "points=", "viewBox", "font-size", "(1 - risk)")
PLACES = [
    *(ROOT / "gui").rglob("*.py"),
    *(path for path in (ROOT / "analyses").rglob("*.py") if "words" in str(path)),
    *(path for path in (ROOT / "analyses").rglob("*.py") if "views" in str(path)),
    *(path for path in (ROOT / "analyses").rglob("findings.py")),
    *(ROOT / "report").glob("*.py"),
    ROOT / "cli" / "running.py",
    ROOT / "cli" / "progress.py",
    ROOT / "cli" / "inspect.py",
]


@pytest.mark.parametrize("path", PLACES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_number_is_formatted_by_hand(path):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if BY_HAND.search(line) and not any(part in line for part in ALLOWED)
    ]
    assert not found, found
