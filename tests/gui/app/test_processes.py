"""The window with its real worker processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import LONGEST

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")


def test_the_window_opens_a_model_runs_and_previews_it_without_importing_torch_or_onnxruntime():
    environment = {name: value for name, value in os.environ.items() if name != "ROBGUI_INLINE"}
    ended = subprocess.run(
        [sys.executable, "-m", "tests.gui.app.window_alone"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr + ended.stdout
    seen = json.loads(ended.stdout.splitlines()[-1])
    assert seen["foreign"] == []
    assert (seen["zonnscan_state"], seen["semantic_map_state"]) == ("done", "done"), seen
    assert seen["exit"] == 0
