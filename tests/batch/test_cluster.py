"""Ray on this machine: real clusters of one and of two simulated nodes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from robgui.batch import Batch, cluster
from robgui.batch.cluster import Cluster
from robgui.core.errors import MissingExtraError, RobguiError
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from tests.batch import small

ROOT = Path(__file__).parent.parent.parent


def test_without_ray_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"robgui\[cluster\]"):
        Cluster("auto")


@pytest.mark.parametrize("version", ["2.40.0", "2.58.1", "1.13"])
def test_a_ray_that_would_start_a_cluster_open_to_everyone_is_refused(
    version, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(RobguiError, match="anyone in reach could run code"):
        cluster.prepare_token(version)
    for newer in ("2.59.0", "2.60.0rc1", "3.0"):
        cluster.prepare_token(newer)
    assert (tmp_path / ".ray").stat().st_mode & 0o777 == 0o700


@pytest.mark.ray
@pytest.mark.parametrize("before", [None, "disabled"])
def test_a_cluster_that_we_start_takes_orders_with_the_token_and_none_without(
    ray, monkeypatch, before
):
    """Whatever the environment says, and though Ray was imported before."""
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    if before is not None:
        monkeypatch.setenv("RAY_AUTH_MODE", before)
    made = Cluster("local", "cpu")
    try:
        address = ray.get_runtime_context().gcs_address
        code = f"import ray; ray.init(address={address!r}); print('let in')"

        def join(**variables):
            return subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                check=False,
                timeout=240,
                env={**os.environ, **variables},
            ).stdout

        assert "let in" in join(RAY_AUTH_MODE="token")
        assert "let in" not in join(RAY_AUTH_MODE="disabled", RAY_AUTH_TOKEN="")
        assert "let in" not in join(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="0" * 64)
    finally:
        made.close()
    token = Path.home() / ".ray" / "auth_token"
    assert token.is_file() and token.parent.stat().st_mode & 0o77 == 0


@pytest.fixture(scope="module")
def ray():
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    return pytest.importorskip(
        "ray",
        reason=(
            "Ray is not installed; install it with: pip install -c packaging/constraints.txt"
            " 'robgui[cluster]'"
        ),
    )


@pytest.fixture
def nodes(ray):
    """A head without room for tasks, and two nodes of two tasks each that can be taken away."""
    from ray.cluster_utils import Cluster as Nodes

    made = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    made.workers = [made.add_node(num_cpus=2) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


#: Four long requests first, one for each place, then the many.
SUITE = small.LONG.format(samples=1_000_000, seeds=[0, 1, 2, 3]) + small.MANY


@pytest.fixture(scope="module")
def expected(files, tmp_path_factory):
    with Workspace.open(tmp_path_factory.mktemp("alone") / "alone.robgui") as alone:
        small.run(small.plan(files, SUITE), alone, Inline(LoadedCache("cpu")))
        return small.results(alone)


pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)


@pytest.mark.ray
def test_a_node_killed_in_the_middle_loses_nothing_and_doubles_nothing(
    files, nodes, workspace, expected
):
    killed = False
    for progress in Batch(small.plan(files, SUITE), workspace, Cluster("auto", "cpu")):
        if not killed and progress.count(RunState.RUNNING) >= 3:
            nodes.remove_node(nodes.workers[0], allow_graceful=False)
            killed = True
    assert any(entry.attempts > 1 for entry in progress.entries)
    assert set(small.states(progress)) == {"done"}
    assert len(workspace.runs()) == len(progress.entries) == 67
    small.assert_same(expected, small.results(workspace))


@pytest.mark.ray
def test_files_are_shipped_and_a_failure_is_its_own(files, nodes, workspace):
    plan = small.plan(
        files,
        '[[analyses]]\nname = "zonnscan"\nindex = "0:2"\nparams = { samples = 64 }\nmodels ='
        ' ["net_1*"]\n',
    )
    wrong = type(plan.requests[0])(
        plan.requests[0].request.model_copy(update={"indices": (99,)}), "wrong"
    )
    progress = small.run(
        type(plan)((*plan.requests, wrong)), workspace, Cluster("auto", "cpu", ship="always")
    )
    assert small.states(progress) == ["done", "done", "failed"]
    assert "there is no item 99" in progress.entries[-1].error
    assert workspace.runs()[-1].request.models[0].path == str(files / "net_1.safetensors")


@pytest.mark.ray
def test_a_stop_cancels_every_task_and_keeps_what_is_done(files, nodes, workspace):
    batch = Batch(
        small.plan(files, small.MANY + small.LONG.format(samples=1_000_000, seeds=[7, 8, 9])),
        workspace,
        Cluster("auto", "cpu"),
    )
    for progress in batch:
        if progress.count(RunState.DONE) >= 3:
            batch.stop()
    assert progress.count(RunState.DONE) >= 3
    assert progress.count(RunState.FAILED) == progress.count(RunState.RUNNING) == 0
    assert progress.count(RunState.QUEUED) > 0
    assert sum(run.state is RunState.DONE for run in workspace.runs()) == progress.count(
        RunState.DONE
    )
    assert all(run.state.ended for run in workspace.runs())


@pytest.mark.ray
def test_a_driver_killed_in_the_middle_is_resumed_on_the_same_cluster(
    files, nodes, tmp_path, expected
):
    """What was done stays, what was running is done again, and the tasks of the dead driver take
    no place.
    """
    suite, kept = small.write_suite(files, SUITE, "killed.toml"), tmp_path / "killed.robgui"
    words = [
        sys.executable,
        "-m",
        "robgui",
        "batch",
        "--trust",
        str(suite),
        "--cluster",
        nodes.address,
        "--device",
        "cpu",
    ]
    words += ["--workspace", str(kept)]
    with (tmp_path / "said.txt").open("w") as said:
        driver = subprocess.Popen(
            words, cwd=ROOT, stderr=said, env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
        )
        while driver.poll() is None and _done(kept) < 3:
            time.sleep(0.02)
        driver.kill()
        driver.wait()
    assert driver.returncode == -signal.SIGKILL, (tmp_path / "said.txt").read_text()
    with Workspace.open(kept) as workspace:
        before = sum(run.state is RunState.DONE for run in workspace.runs())
        assert before >= 3
        progress = small.run(small.plan(files, SUITE), workspace, Cluster("auto", "cpu"))
        assert set(small.states(progress)) == {"done"}
        assert sum(entry.reused for entry in progress.entries) == before
        small.assert_same(expected, small.results(workspace))


def _done(path: Path) -> int:
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        try:
            return int(
                database.execute("select count(*) from runs where state = 'done'").fetchone()[0]
            )
        except sqlite3.OperationalError:  # it is just being made
            return 0
