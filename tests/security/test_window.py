"""A short round of hostile files in a window; ``python -m tests.security.window`` is the long one."""

from __future__ import annotations

import json
import sys

import pytest

from tests.security.window import drop_all

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes and devices are of Linux")


def test_the_window_lives_through_hostile_files_and_loses_nothing(qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBGUI_CONFIG", str(tmp_path / "settings.json"))
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "user"))
    made = drop_all(
        tmp_path / "round", count=24, seed=5, minutes=0, kinds=("table", "image", "array", "names")
    )
    assert made.wrong == []
    told = json.loads((tmp_path / "round" / "said.json").read_text(encoding="utf-8"))
    assert told["dropped"] == told["files"] >= 24
    assert {"error", "question"} <= {each["level"] for each in told["said"]}
