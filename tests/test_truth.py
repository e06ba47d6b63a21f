"""The table of truth.md names tests that exist, and leaves no point of the reviews out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROWS = [
    [cell.strip() for cell in line.strip("|\n ").split("|")]
    for line in (HERE / "truth.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [A-DLSZ]\d* ", line)
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_the_test_that_a_point_names_exists(row):
    if row[2] == "open":
        return
    path, name = row[2].split("::")
    assert f"def {name}(" in (HERE.parent / path).read_text(encoding="utf-8")


def test_every_point_of_the_reviews_has_a_row():
    points = {row[0] for row in ROWS}
    expected = {f"A{n}" for n in range(1, 14)} | {f"S{n}" for n in range(1, 12)}
    assert points >= expected | {f"Z{n}" for n in range(1, 13)}
