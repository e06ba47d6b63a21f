from __future__ import annotations

import pytest

from robgui.core.workspace import Workspace
from tests.batch import small


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return small.write_files(tmp_path_factory.mktemp("suite"))


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(tmp_path / "w.robgui") as opened:
        yield opened
