"""A short round of each long one, as it is started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import LONGEST

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")


def stress(*words):
    ended = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_nothing_is_lost_when_the_worker_is_killed():
    said = stress("tests.stress.kills", "--workers", "1", "--windows", "0")
    assert "1 kills" in said and "0 of them missing" in said
    assert said.count("0 too old") == said.count("too old")
