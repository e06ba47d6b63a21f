"""The question which Ray cluster computes."""

from __future__ import annotations

import pytest

from robgui.core.errors import ParamsError
from robgui.gui.app import cluster_dialog
from robgui.gui.app.cluster_dialog import ClusterDialog, answers


@pytest.fixture
def with_ray(monkeypatch):
    monkeypatch.setattr(cluster_dialog, "find_spec", lambda name: object())


def test_without_ray_the_dialog_says_what_to_install(qtbot, monkeypatch):
    monkeypatch.setattr(cluster_dialog, "find_spec", lambda name: None)
    dialog = ClusterDialog("")
    qtbot.addWidget(dialog)
    assert "robgui[cluster]" in dialog.problem.text() and not dialog.use.isEnabled()


@pytest.mark.parametrize("address", ["auto", "local", "127.0.0.1:6379", "[::1]:6379"])
def test_an_address_can_be_used(qtbot, with_ray, address):
    dialog = ClusterDialog(address)
    qtbot.addWidget(dialog)
    assert dialog.chosen == address and dialog.use.isEnabled() and not dialog.problem.text()


@pytest.mark.parametrize(
    ("address", "words"),
    [("", "no address"), ("somewhere", "no address"), ("ray://1.2.3.4:5", "cannot stream")],
)
def test_what_is_no_address_is_said_while_it_is_typed(qtbot, with_ray, address, words):
    dialog = ClusterDialog("auto")
    qtbot.addWidget(dialog)
    dialog.address.setText(address)
    assert words in dialog.problem.text() and not dialog.use.isEnabled()


def test_where_nothing_answers_is_one_sentence():
    with pytest.raises(ParamsError, match=r"There is no Ray cluster at 127\.0\.0\.1:1 "):
        answers("127.0.0.1:1")
