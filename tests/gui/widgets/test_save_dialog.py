"""Asking where a file goes: its ending, and no file is replaced without a question about it."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from robgui.gui.widgets.save_dialog import ask_file

HTML = "HTML (*.html)"


@pytest.fixture
def parent(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


def choose(monkeypatch, path, answer=None):
    """The user types ``path``; an ``answer`` of None means that no question may come."""
    asked = []

    def question(box):
        asked.append(box.text())
        return answer

    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(path), HTML))
    monkeypatch.setattr(QMessageBox, "exec", question)
    return asked


def test_a_name_without_an_ending_gets_that_of_its_kind_and_a_forced_one_is_appended(
    parent, tmp_path, monkeypatch
):
    choose(monkeypatch, tmp_path / "report")
    assert ask_file(parent, "Save", "", HTML) == tmp_path / "report.html"
    choose(monkeypatch, tmp_path / "v1.2")
    assert ask_file(parent, "Save", "", HTML, ending=".toml") == tmp_path / "v1.2.toml"
    choose(monkeypatch, "")
    assert ask_file(parent, "Save", "", HTML) is None


def test_a_file_that_the_ending_leads_to_is_replaced_only_if_the_user_says_so(
    parent, tmp_path, monkeypatch
):
    (tmp_path / "report.html").write_text("mine")
    buttons = QMessageBox.StandardButton
    for answer, path in ((buttons.No, None), (buttons.Yes, tmp_path / "report.html")):
        asked = choose(monkeypatch, tmp_path / "report", answer)
        assert ask_file(parent, "Save", "", HTML) == path
        assert asked and "report.html exists already" in asked[0]


def test_what_qt_has_asked_about_is_not_asked_again(parent, tmp_path, monkeypatch):
    (tmp_path / "report.html").write_text("mine")
    asked = choose(monkeypatch, tmp_path / "report.html")
    assert ask_file(parent, "Save", "", HTML) == tmp_path / "report.html" and not asked
