"""Every analysis by the command line, in a batch over two devices that are not the processor, in
real worker processes.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from robgui.batch import places
from robgui.cli import main
from robgui.core.execution.registry import find
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from robgui.selftest.differences import difference
from robgui.selftest.jobs import JOBS, Job
from tests.devices import whole

ROOT = Path(__file__).parents[2]
#: What every worker process imports first.
DEVICES = "tests.devices.pretend.always"


@pytest.mark.slow  # nineteen analyses in three processes; each is compared in this process too
def test_a_batch_of_every_analysis_goes_to_both_devices_and_says_what_the_processor_says(
    tmp_path, monkeypatch, capsys
):
    suite, kept = tmp_path / "suite.toml", tmp_path / "runs.robgui"
    suite.write_text(_suite())
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))))
    monkeypatch.setitem(sys.modules, DEVICES, ModuleType(DEVICES))  # here they are already
    monkeypatch.setattr(places, "graphics_devices", lambda: ["/dev/pretend"])
    words = ["--device", "pretend", "--import", DEVICES, "--workspace", str(kept), "--trust"]
    assert main(["batch", str(suite), *words]) == 0, capsys.readouterr().err
    with Workspace.open(kept) as workspace:
        done = {run.request.analysis: run for run in workspace.runs()}
        assert {run.state for run in done.values()} == {RunState.DONE}
        assert done.keys() == {job.analysis for job in JOBS}
        assert {run.device for run in done.values()} == {"pretend:0", "pretend:1"}
        for number, job in enumerate(JOBS):
            result = workspace.result(done[job.analysis].id)
            here = whole.on_cpu(number).newest
            assert difference(here.result, result) <= 1e-5, job.analysis


def _suite() -> str:
    """The jobs of the self-test; what can be split is split."""
    models = sorted({name for job in JOBS for name in job.models})
    data = sorted({job.data for job in JOBS})
    tables = [f'[[models]]\npath = "demo:{name}"' for name in models]
    tables += [f'[[datasets]]\npath = "demo:{name}"' for name in data]
    return "\n\n".join([*tables, *map(_table, JOBS)])


def _table(job: Job) -> str:
    shards = 1 if find(job.analysis).shards is None else 2
    fields = {
        "name": job.analysis,
        "models": job.models,
        "datasets": (job.data,),
        "index": tuple(job.indices),
        "params": dict(job.params),
        "shards": shards,
    }
    return "\n".join(["[[analyses]]", *(f"{name} = {_toml(v)}" for name, v in fields.items())])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + " }"
    return json.dumps(value)
