from __future__ import annotations

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_public_name_has_its_signature_and_docstring_on_the_page_of_its_module(
    tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    pages = importlib.import_module("api_pages")
    monkeypatch.delitem(sys.modules, "api_pages")
    written = pages.write(ROOT / "robgui" / "core", tmp_path / "api")
    page = (tmp_path / "api" / "core.intervals.md").read_text(encoding="utf-8")
    assert "## `chance_of_heads(heads: int, tosses: int) -> float`" in page
    assert "one-sided exact sign test" in page
    index = (tmp_path / "api" / "index.md").read_text(encoding="utf-8")
    assert index.count("](core.") == written > 100
