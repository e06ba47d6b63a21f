"""A batch over two devices that are not the processor, in real worker processes."""

from __future__ import annotations

import os
from pathlib import Path

from robgui.batch import Place, expand, local_workers, read_suite
from robgui.core.execution.inline import Inline
from robgui.core.execution.shelf import Shelf
from robgui.core.workspace import Workspace
from robgui.selftest.differences import difference
from tests.batch import small
from tests.pretend_device import pretending

ROOT = Path(__file__).parents[2]
SUITE = """
[[analyses]]
name = "zonnscan"
index = "0:4"
params = { samples = 64, radii = [0.0, 0.3] }

[[analyses]]
name = "zonnscan_populations"
params = { samples = 64 }
shards = 2
"""


def test_requests_and_parts_go_to_both_devices_and_say_what_the_processor_says(
    files, tmp_path, workspace, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))))
    suite = read_suite(small.write_suite(files, SUITE))
    with pretending():
        plan = expand(suite, "pretend", trust=True)
    places = [Place("pretend:0", 1), Place("pretend:1", 1)]
    executor = local_workers(places, imports=("tests.pretend_always",))
    assert set(small.states(small.run(plan, workspace, executor))) == {"done"}
    assert {run.device for run in workspace.runs()} == {"pretend:0", "pretend:1"}
    with Workspace.open(tmp_path / "alone.robgui") as alone:
        small.run(expand(suite, "cpu", trust=True), alone, Inline(Shelf("cpu")))
        theirs = _by_request(alone)
        ours = _by_request(workspace)
        assert ours.keys() == theirs.keys() and len(ours) == 15
        for request, result in ours.items():
            assert difference(theirs[request], result) < 1e-5


def _by_request(workspace: Workspace) -> dict[str, object]:
    """Results by what was asked, wherever it was computed."""
    return {
        run.request.model_copy(update={"device": ""}).model_dump_json(): workspace.result(run.id)
        for run in workspace.runs()
    }
