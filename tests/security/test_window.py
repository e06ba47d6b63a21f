"""A short round of hostile files that are dropped onto a window one after the other.

``python -m tests.security.window FOLDER --minutes 30`` is the long one, on a real display.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes, devices and confinement")


@pytest.fixture(scope="module")
def round_(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Where it was, and how it ended."""
    folder = tmp_path_factory.mktemp("window") / "round"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("ROBGUI_INLINE", None)  # the window as its users start it, with its workers
    words = ["--minutes", "0", "--files", "11", "--kind", "onnx", "--kind", "table"]
    command = [sys.executable, "-m", "tests.security.window", str(folder), *words]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    return folder, ended


def test_the_window_outlives_hostile_files_and_its_workspace_stays_whole(round_):
    _, ended = round_
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    assert "Alive, every message one sentence" in ended.stdout


def test_every_hostile_file_was_dropped_and_the_trust_question_was_reached(round_):
    told = json.loads((round_[0] / "said.json").read_text(encoding="utf-8"))
    assert told["dropped"] == told["files"] >= 9
    asked = [each["said"] for each in told["said"] if each["level"] == "question"]
    assert any(words.startswith("Do you trust this file?") for words in asked), asked
    assert not [each for each in told["said"] if each["level"] == "stop"], "nobody lost patience"
