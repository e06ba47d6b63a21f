"""Corrects the settings of a model, runs, quits; in a new process the same numbers come out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gui.state.test_restoring import LABELS, save_data, save_onnx


def session(*arguments: object) -> dict[str, Any]:
    """One start of the program, from its first window to its end."""
    command = [sys.executable, "-m", "tests.e2e.reopening_alone", *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


@pytest.mark.slow  # several windows; tests/gui/state/test_restoring.py has each return by itself
def test_corrected_settings_give_the_same_number_after_every_kind_of_return(tmp_path: Path):
    model = save_onnx(tmp_path / "net.onnx")
    data = save_data(tmp_path / "data.npz", names=None)
    first = session("first", data, model)
    assert first["accuracy"][0] > 0.9 and first["labels"] == list(LABELS)

    def same(seen: dict[str, Any], runs: int) -> None:
        for name in ("mean", "labels", "accuracy", "verdict", "model"):
            assert seen[name] == first[name], name
        assert seen["runs"] == runs and not seen["missing"]

    again = session("again")
    same(again, 2)
    assert again["drawn"], "the run of the chosen input is on show before Run is pressed"
    same(session("save_as", tmp_path / "study.robgui"), 3)
    after = session("again")
    same(after, 4)
    assert after["workspace"] == str(tmp_path / "study.robgui")

    (tmp_path / "elsewhere").mkdir()
    for path in (model, data):
        path.rename(tmp_path / "elsewhere" / path.name)
    moved = [tmp_path / "elsewhere" / path.name for path in (data, model)]
    returned = session("open", *moved)
    same(returned, 5)
    assert returned["file"] == str(tmp_path / "elsewhere" / "net.onnx")
    same(session("new", tmp_path / "second.robgui", *moved), 1)
