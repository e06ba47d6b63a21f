"""The small analysis is known while the tests of the report run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from robgui.core.execution.registry import register, unregister
from robgui.core.workspace import Workspace
from robgui.report.kept import KEPT
from tests.report.small import SMALL


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    register(SMALL)
    yield
    unregister(SMALL.name)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """An empty workspace with a hostile name."""
    with Workspace.open(tmp_path / "a<b>.robgui") as workspace:
        yield workspace


@pytest.fixture(autouse=True)
def nothing_is_kept():
    """Each test draws for itself."""
    KEPT.clear()
