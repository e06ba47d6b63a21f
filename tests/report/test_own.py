from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from robgui.core.errors import DataError
from robgui.report.html import write_html
from robgui.report.own import Own, read_logo, read_own, write_own
from robgui.report.pdf import write_pdf
from tests.report.small import EVIL, run


def test_title_text_and_logo_stand_on_top_of_the_report(workspace, tmp_path):
    Image.fromarray(np.full((900, 900, 3), 60, np.uint8)).save(tmp_path / "logo.png")
    run(workspace, says="fails")
    logo = read_logo(tmp_path / "logo.png")
    write_own(workspace, Own(f"For the board {EVIL}", f"We asked twice.\n\n{EVIL}", logo))
    assert read_own(workspace).paragraphs == ["We asked twice.", EVIL]
    page = write_html(workspace, tmp_path / "r.html").read_text(encoding="utf-8")
    head = page[: page.index("Bottom line")]
    assert "<h1>For the board" in head and "<p>We asked twice.</p>" in head
    assert 'class="logo"' in head and "<script>" not in page
    assert write_pdf(workspace, tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")


def test_without_own_words_the_report_makes_its_own_title(workspace, tmp_path):
    run(workspace)
    page = write_html(workspace, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>Robustness of net</h1>" in page and 'class="logo"' not in page


def test_nonsense_in_a_workspace_or_a_file_is_no_logo(workspace, tmp_path):
    workspace.values.set("report", {"title": 3, "text": ["x"], "logo": "no base64 !"})
    assert read_own(workspace) == Own()
    workspace.values.set("report", {"logo": "aGVsbG8="})
    assert read_own(workspace).pixels() is None
    (tmp_path / "x.png").write_bytes(b"no picture")
    with pytest.raises(DataError, match="no picture"):
        read_logo(tmp_path / "x.png")
