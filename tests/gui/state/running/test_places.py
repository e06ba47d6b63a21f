"""Where the window's runs compute."""

from __future__ import annotations

import pytest

from robgui.core.execution.worker.process import Place
from robgui.gui.state.running import places
from robgui.gui.state.running.places import window_places


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.setattr(places, "cores", lambda: 8)


def test_one_worker_takes_whatever_its_run_asks_for():
    assert window_places(1, "cuda:0", ["cuda:0", "cpu"]) == [Place()]


def test_on_the_processor_runs_beside_each_other_share_the_cores():
    assert window_places(2, "cpu", ["cuda:0", "cpu"]) == [Place("cpu", 4)] * 2
    assert window_places(3, "", []) == [Place("cpu", 2)] * 3
    assert window_places(16, "cpu", ["cpu"]) == [Place("cpu", 1)] * 16


def test_a_device_that_runs_are_sent_to_has_a_worker_beside_the_others():
    devices = ["cuda:0", "cuda:1", "cpu"]
    assert window_places(1, "cuda:0", devices, "cuda:1") == [Place(), Place("cuda:1", asked=True)]
    assert window_places(1, "cuda:0", devices, "cuda:0") == [Place()], "its own worker has it"
    two = [Place("cuda:0"), Place("cuda:1")]
    assert window_places(2, "cuda:0", devices, "cuda:1") == two
    assert window_places(2, "cuda:0", devices, "cpu") == [*two, Place("cpu", asked=True)]


def test_a_second_run_goes_to_another_device_and_to_the_processor_last():
    devices = ["cuda:0", "cuda:1", "cpu"]
    assert window_places(2, "cuda:1", devices) == [Place("cuda:1"), Place("cuda:0")]
    assert window_places(3, "cuda:0", devices)[2] == Place("cpu", 8)
    assert window_places(4, "cuda:0", devices)[2:] == [Place("cpu", 4)] * 2
    assert window_places(2, "mps", ["mps", "cpu"]) == [Place("mps"), Place("cpu", 8)]
