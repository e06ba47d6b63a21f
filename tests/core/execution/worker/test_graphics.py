"""How full a graphics card is reaches the window through real processes; without one nothing is
said. The card itself is pretended, since tests run on machines without one.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from robgui.core.execution.asking.service import Service
from robgui.core.execution.worker.frames import FrameError
from robgui.core.execution.worker.graphics import Graphics, GraphicsLook, read_graphics
from robgui.core.execution.worker.terms import Terms

ROOT = Path(__file__).parents[4]


def service(imports=()):
    return Service(Terms(imports=imports))


@pytest.mark.skipif(not Path("/proc").exists(), reason="real processes as on Linux")
def test_a_worker_that_uses_a_card_says_how_full_it_is_and_the_status_bar_shows_it(
    monkeypatch, qtbot
):
    from robgui.gui.app.status import StatusBar
    from robgui.gui.state.store import Store

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))))
    store = Store()
    status = StatusBar(store, None)
    qtbot.addWidget(status)
    asked = service(("tests.core.execution.worker.pretended_card",))
    try:
        assert asked.ask("devices")
        assert asked.graphics.of("cuda:0") == (3_100_000_000, 24_000_000_000)
        store.answers.service = asked
        store.library.device = "cuda:0"
        status.look()
        assert status.memory.text().endswith("GPU 3.1 GB of 24.0 GB")
        store.library.device = "cpu"
        status.look()
        assert "GPU" not in status.memory.text(), "the processor has no such memory"
    finally:
        assert store.shutdown()


def test_without_a_card_nothing_is_sent_and_nothing_is_said():
    import torch

    if torch.cuda.is_initialized():
        pytest.skip("this machine has a card in use")
    assert GraphicsLook().header() == {}
    assert Graphics().of("cuda:0") is None


def test_the_cards_are_looked_at_once_a_second_at_most(monkeypatch):
    import torch

    importlib.import_module("robgui.core.devices")  # as every worker has that uses a card
    looks = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda index: looks.append(index) or (1, 4))
    look = GraphicsLook()
    assert look.header() == {"graphics": [["cuda:0", 3, 4], ["cuda:1", 3, 4]]}
    assert look.header() == {} and looks == [0, 1]


@pytest.mark.parametrize(
    "value", [None, "cuda", [["cuda:0", 1]], [["cuda:0", 1.5, 2]], [[0, 1, 2]], [["c", 1, 2]] * 65]
)
def test_what_a_worker_says_of_cards_is_checked(value):
    with pytest.raises(FrameError):
        read_graphics(value)
