"""The assembled window on a workspace of its own."""

from __future__ import annotations

import pytest


@pytest.fixture
def window(qapp, tmp_path):
    from tests.gui.opened import opened  # a widget's test needs no window

    with opened(tmp_path / "w.robgui") as made:
        yield made


@pytest.fixture(scope="module")
def lasting_window(qapp, tmp_path_factory):
    """One window for a file of tests that leave it as they found it."""
    from tests.gui.opened import opened

    with opened(tmp_path_factory.mktemp("lasting") / "w.robgui") as made:
        yield made
