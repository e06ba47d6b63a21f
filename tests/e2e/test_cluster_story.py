"""A person has a Ray cluster compute: the same live picture, a node killed meanwhile, a stop."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from robgui.core.execution.run import RunState
from robgui.gui.app import cluster_dialog
from tests.e2e.steps import load_demo, press

pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
    ),
]
#: Ray takes its time where a machine is busy, but not for ever.
PATIENCE = 240_000
#: No statistics, loopback only, and tasks that begin though the machine is busy.
RAY = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_worker_niceness": "0",
}
LONG = {"samples": 1_000_000, "target_half_width": 0, "batch": 64}


@pytest.fixture(scope="module")
def nodes():
    """A head without room for tasks and two nodes of one task each, reached by loopback only."""
    os.environ.update(RAY)
    pytest.importorskip("ray", reason="Ray is not installed")
    from ray.cluster_utils import Cluster as Nodes

    made = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    made.workers = [made.add_node(num_cpus=1) for _ in range(2)]
    assert made.address.startswith("127.0.0.1:")
    yield made
    made.shutdown()


@pytest.fixture
def window(qtbot, nodes, processes, start, monkeypatch):
    """The window with its demo, and the cluster chosen in the device menu."""
    made = start()
    qtbot.waitUntil(lambda: bool(made.store.library.devices))
    load_demo(qtbot, made)
    said = []
    made.store.said.connect(lambda level, sentence, details: said.append(sentence))
    made.sentences = said

    def choose(dialog):
        dialog.address.setText("nowhere")
        assert not dialog.use.isEnabled() and "no address of a Ray cluster" in dialog.problem.text()
        dialog.address.setText(nodes.address)
        assert dialog.use.isEnabled()
        return True

    monkeypatch.setattr(cluster_dialog.ClusterDialog, "exec", choose)
    menu = made.status.device.menu()
    menu.aboutToShow.emit()
    next(one for one in menu.actions() if one.text() == "Ray cluster …").trigger()
    qtbot.waitUntil(lambda: made.store.processes.cluster == nodes.address)
    menu.aboutToShow.emit()
    assert any(
        one.isChecked() and one.text() == f"Ray cluster {nodes.address}" for one in menu.actions()
    )
    qtbot.waitUntil(lambda: made.status.device.text() == f"Ray: {nodes.address}")
    return made


def begin(qtbot, window, **values):
    window.show_panel("zonnscan")
    window.run_pane.form().set_values(values)
    press(qtbot, window.run_pane.run)
    return window.store.runner.executions[-1]


def processes_called(start):
    """Processes whose command begins so, with the number of who has started them."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_text().replace("\0", " ")
            if words.startswith(start):
                found[int(folder.name)] = int((folder / "stat").read_text().split()[3])
        except OSError:
            continue
    return found


def node_at_work(nodes):
    """The node that computes."""
    parents = set(processes_called("ray::_stream").values())
    for node in nodes.workers:
        raylet = node.all_processes["raylet"][0].process.pid
        if raylet in parents:
            return node
    return None


def test_a_run_on_two_nodes_is_drawn_live_survives_the_loss_of_one_and_can_be_stopped(
    qtbot, window, nodes
):
    store, panel = window.store, window.panel("zonnscan")
    steps = []
    store.job_stepped.connect(lambda one: steps.append((time.monotonic(), one.newest.done)))
    job = begin(qtbot, window, **LONG)
    qtbot.waitUntil(lambda: len(steps) >= 10 or job.state.ended)
    assert job.state is RunState.RUNNING, job.error
    assert panel.result is not None and panel.request is job.request
    pace = (steps[9][0] - steps[0][0]) / 9
    assert pace < 1.0, "a picture is drawn live, not now and then"
    assert nodes.address in job.device
    qtbot.waitUntil(lambda: "Ray cluster" in window.status.runs.toolTip())

    states = []
    store.job_changed.connect(lambda one: states.append((one.state, one.error)))
    node = node_at_work(nodes)
    assert node is not None
    done = job.newest.done
    nodes.workers.remove(node)
    nodes.remove_node(node, allow_graceful=False)
    began = time.monotonic()
    qtbot.waitUntil(lambda: any(state is RunState.QUEUED for state, _ in states))
    lost_after = time.monotonic() - began
    why = next(error for state, error in states if state is RunState.QUEUED)
    assert why, "it is said what has happened"
    assert panel.result is not None, "the picture so far stays"
    assert "A node of the cluster was lost" in why and why in window.sentences
    assert window.run_pane.stop.isEnabled(), "it can be stopped while it waits for another node"
    steps.clear()
    qtbot.waitUntil(lambda: len(steps) >= 3)
    print(f"lost after {lost_after:.1f} s at {done}, again after {time.monotonic() - began:.1f} s")
    assert job.state is RunState.RUNNING and node_at_work(nodes) is nodes.workers[0]

    press(qtbot, window.run_pane.pause)
    qtbot.waitUntil(lambda: job.state is RunState.PAUSED)
    qtbot.wait(2000)
    before = job.newest.done
    qtbot.wait(2000)
    assert job.newest.done == before, "a pause holds"
    press(qtbot, window.run_pane.pause)
    qtbot.waitUntil(lambda: job.newest.done > before)

    began = time.monotonic()
    press(qtbot, window.run_pane.stop)
    qtbot.waitUntil(lambda: job.state.ended)
    print(f"stopped after {time.monotonic() - began:.2f} s: {job.error or 'politely'}")
    assert time.monotonic() - began < 4
    assert job.state is RunState.CANCELLED
    qtbot.waitUntil(lambda: not store.runner.busy and not store.keeping.busy)
    kept = store.history.workspace.run(job.run_id)
    assert kept.has_result and nodes.address in kept.device

    again = begin(qtbot, window, samples=256, target_half_width=0.05)
    qtbot.waitUntil(lambda: again.state.ended)
    assert (again.state, again.error) == (RunState.DONE, "")
    here = store.runner.doings
    assert [doing.place.cluster for doing in here] == ["", nodes.address]


def test_the_result_of_the_cluster_is_that_of_this_machine(qtbot, window, nodes):
    store = window.store
    there = begin(qtbot, window, samples=256, target_half_width=0.05)
    qtbot.waitUntil(lambda: there.state.ended and not store.runner.busy)
    menu = window.status.device.menu()
    menu.aboutToShow.emit()
    next(one for one in menu.actions() if one.text().startswith("cpu")).trigger()
    assert store.processes.cluster == ""
    here = begin(qtbot, window, samples=256, target_half_width=0.05)
    qtbot.waitUntil(lambda: here.state.ended)
    assert (there.state, here.state) == (RunState.DONE,) * 2, (there.error, here.error)
    assert (there.newest.result.index == here.newest.result.index).all()
    qtbot.waitUntil(lambda: not processes_called("ray::_stream"))


def test_a_cluster_that_is_gone_is_one_sentence_and_this_machine_goes_on(
    qtbot, window, nodes, monkeypatch
):
    store = window.store
    job = begin(qtbot, window, **LONG)
    qtbot.waitUntil(lambda: job.newest is not None)
    nodes.shutdown()
    job.stop()
    qtbot.waitUntil(lambda: job.state.ended and not store.runner.busy)
    after = begin(qtbot, window, samples=256)
    qtbot.waitUntil(lambda: after.state.ended)
    assert after.state is RunState.FAILED and after.error.count("\n") == 0
    print(after.error)
    store.processes.set_cluster("")
    here = begin(qtbot, window, samples=256)
    qtbot.waitUntil(lambda: here.state.ended)
    assert here.state is RunState.DONE
