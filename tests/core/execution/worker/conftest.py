"""Models that misbehave, a real worker process, and a workspace."""

from __future__ import annotations

import pytest

from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Workers
from robgui.core.workspace import Workspace
from tests.core.execution.worker import foreign


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return foreign.write_files(tmp_path_factory.mktemp("foreign"))


@pytest.fixture(scope="module")
def workers():
    made = Workers([Place("cpu", 1)], Terms(pace=0.0, keep=True, memory=1_500_000_000))
    made.start()
    yield made
    made.close()


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(tmp_path / "w.robgui") as opened:
        yield opened
