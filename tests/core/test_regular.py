"""Paths across the drives of Windows, tried with its rules on every system."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from robgui.batch.suite import without_anchor
from robgui.core.errors import ModelError
from robgui.core.model import pairing
from robgui.core.regular import common_folder, stays_below

WINDOWS = PureWindowsPath


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        ([PurePosixPath("/a/b/x"), PurePosixPath("/a/c/y")], PurePosixPath("/a")),
        ([PurePosixPath("/a/b"), PurePosixPath("/a/b")], PurePosixPath("/a")),
        ([PurePosixPath("/x"), PurePosixPath("/a/y")], PurePosixPath("/")),
        ([WINDOWS("C:/a/b/x"), WINDOWS("c:/A/c/y")], WINDOWS("C:/a")),
        ([WINDOWS("C:/a/x"), WINDOWS("D:/a/y")], None),
        ([WINDOWS("//server/one/x"), WINDOWS("//server/two/y")], None),
    ],
)
def test_files_share_a_folder_unless_they_lie_on_two_drives(files, folder):
    assert common_folder(files) == folder


@pytest.mark.parametrize("name", ["nets.py", "code/nets.py"])
def test_a_plain_name_stays_in_its_folder(name):
    assert stays_below(PurePosixPath(name)) and stays_below(WINDOWS(name))


@pytest.mark.parametrize("name", ["C:/nets.py", "D:nets.py", "\\nets.py", "..\\nets.py"])
def test_a_name_with_a_drive_or_a_root_leads_out_of_its_folder(name):
    assert not stays_below(WINDOWS(name))
    assert not stays_below(PurePosixPath("/nets.py"))


@pytest.mark.parametrize(
    ("pattern", "start", "rest"),
    [
        ("nets\\*.pt", "C:\\suites", "nets\\*.pt"),
        ("D:\\nets\\*.pt", "D:\\", "nets\\*.pt"),
        ("\\nets\\*.pt", "C:\\", "nets\\*.pt"),
        ("D:nets\\*.pt", "D:", "nets\\*.pt"),
    ],
)
def test_a_pattern_on_another_drive_is_looked_for_there(pattern, start, rest):
    found = without_anchor(WINDOWS("C:\\suites"), WINDOWS(pattern))
    assert found == (WINDOWS(start), rest)
    assert not WINDOWS(found[1]).anchor


def test_models_on_two_drives_are_no_pair_and_the_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setattr(pairing, "common_folder", lambda files: None)
    with pytest.raises(ModelError, match="two drives; copy one of them"):
        pairing.usual_place(Path("a.pt"), Path("b.pt"))
