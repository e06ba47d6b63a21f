"""The pages for contributors name what is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = re.findall(
    r"^\| .*\| `(\S+\.py)` \| `(\w+)` \|$",
    (ROOT / "docs" / "equations.md").read_text(),
    re.MULTILINE,
)


@pytest.mark.parametrize(("file", "name"), ROWS)
def test_the_name_beside_a_formula_is_defined_in_its_file(file, name):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {getattr(node, "name", None) for node in tree.body}


def test_every_file_that_a_page_names_exists():
    assert len(ROWS) > 10
    for page in [*(ROOT / "docs").rglob("*.md"), ROOT / ".github" / "CONTRIBUTING.md"]:
        text = page.read_text(encoding="utf-8")
        for path in re.findall(r"`((?:robgui|tests|packaging|docs)/[\w/.]+)`", text):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
