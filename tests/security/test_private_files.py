"""What the program writes for the user is for the user, and a report tells nobody where files
lie.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest
from torch import nn

from robgui.core.dataset import open_dataset
from robgui.core.execution.request import Request, build_request
from robgui.core.files import create, write_whole
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import Workspace
from robgui.gui.app.settings import Settings, config_path, save_settings
from robgui.report.html import write_html
from robgui.core.text.places import without_places
from tests.inline import steps

POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@POSIX
def test_a_new_workspace_and_its_copies_are_readable_by_the_user_only(tmp_path):
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        workspace.add_run(Request(analysis="zonnscan"))
        for file in tmp_path.glob("w.robgui*"):
            if not file.name.endswith(".lock"):
                assert mode(file) == 0o600, file
        workspace.save_as(tmp_path / "copy.robgui")
    assert mode(tmp_path / "copy.robgui") == 0o600
    with Workspace.open(tmp_path / "copy.robgui") as copy:
        assert len(copy.runs()) == 1


@POSIX
def test_a_workspace_that_the_user_shares_stays_shared(tmp_path):
    Workspace.open(tmp_path / "w.robgui").close()
    (tmp_path / "w.robgui").chmod(0o664)
    Workspace.open(tmp_path / "w.robgui").close()
    assert mode(tmp_path / "w.robgui") == 0o664


@POSIX
def test_the_settings_of_the_window_are_readable_by_the_user_only():
    save_settings(Settings(recent=("/secret/model.pt2",)))
    assert mode(config_path()) == 0o600 and mode(config_path().parent) == 0o700
    assert [file.name for file in config_path().parent.iterdir()] == ["settings.json"]


@POSIX
def test_a_file_is_never_written_through_a_link_that_somebody_has_prepared(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "new").symlink_to(victim)
    with pytest.raises(FileExistsError):
        create(tmp_path / "new", b"theirs")
    assert victim.read_text() == "mine"
    write_whole(tmp_path / "new", b"ours")
    assert victim.read_text() == "mine" and (tmp_path / "new").read_bytes() == b"ours"


def test_the_tour_writes_its_report_where_nobody_can_guess(window):
    folder = window.guide.report.parent
    assert folder.name.startswith("robgui-tour-") and len(folder.name) > len("robgui-tour-") + 6
    if os.name != "nt":
        assert mode(folder) == 0o700


@pytest.fixture
def window(qtbot, tmp_path):
    from robgui.gui.app.app import application, leave, open_window

    application()
    made = open_window(tmp_path / "w.robgui")
    yield made
    made.close()
    assert leave(made, 0) == 0
    made.deleteLater()


def test_a_report_holds_no_absolute_path(tmp_path):
    folder = tmp_path / "my secret project"
    folder.mkdir()
    np.savez(folder / "images.npz", images=np.zeros((3, 4, 4), np.uint8), labels=[0, 1, 0])
    dataset = open_dataset(folder / "images.npz")
    classifier = Classifier.from_module(
        nn.Sequential(nn.Flatten(), nn.Linear(16, 2)), (1, 4, 4), name="net.pt2"
    )
    classifier.path = folder / "net.pt2"
    with Workspace.open(folder / "w.robgui") as workspace:
        request = build_request(
            "zonnscan", [classifier], dataset, {"samples": 16, "radii": (0.0, 0.1)}, indices=[0]
        )
        list(steps(request, workspace, [classifier], dataset))
        lost = workspace.add_run(request)
        error = (
            f"The model net.pt2 is no longer at {classifier.path}; {folder}/other.pth and"
            " /opt/x/y.pt are gone too."
        )
        workspace.update_run(lost.id, error=error)
        page = write_html(workspace, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "my secret project" not in page and str(tmp_path) not in page and "/opt/x" not in page
    assert "net.pt2" in page and "images.npz" in page and "other.pth" in page and "y.pt" in page


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at /home/me/net.pt2; gone", "at net.pt2; gone"),
        ("C:\\Users\\me\\net.pt2 is gone", "net.pt2 is gone"),
        ("~/models/net.pt2", "net.pt2"),
        ("3 of 4 and/or 1/2", "3 of 4 and/or 1/2"),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("0.5 / 0.7", "0.5 / 0.7"),
    ],
)
def test_only_the_place_of_a_file_is_left_out(text, expected):
    assert without_places(text) == expected
