"""Every analysis that can be split gives through a batch what it gives whole, and fails or stops
as one request.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from robgui.batch import Batch
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.registry import analyses
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from tests.batch import small

#: Settings that keep each small.
SMALL = {
    "zonnscan_populations": "{ samples = 16 }",
    "semantic_map": "{ step = { rotation = 60, scale = 25 } }",
    "feature_game_batch": "{ max_calls = 60, images = 4 }",
    "deepinspect": "{ }",
    "last_particle_table": (
        "{ most = 4, radii = [0.1], samples = 9, steps = 3, critical = 0.01, attack_steps = 1,"
        ' truth = "predicted"}'
    ),
}


def suite(name: str, shards: int) -> str:
    index = '"0:3"' if name == "semantic_map" else '"0:9"'
    return (
        f'[[analyses]]\nname = "{name}"\nindex = {index}\nmodels = ["net_0*"]\nparams ='
        f" {SMALL[name]}\nshards = {shards}\n"
    )


def test_all_that_can_be_split_are_here():
    assert set(SMALL) == {name for name, known in analyses().items() if known.shards is not None}


@pytest.mark.parametrize("name", SMALL)
def test_a_split_request_ends_with_one_result_of_every_part(files, tmp_path, name):
    shapes = []
    for shards in (1, 2, 3):
        with Workspace.open(tmp_path / f"{shards}.robgui") as workspace:
            plan = small.plan(files, suite(name, shards))
            assert len(plan.requests[0].parts) == (shards if shards > 1 else 0)
            progress = small.run(plan, workspace, Inline(LoadedCache("cpu")))
            assert small.states(progress) == ["done"] and progress.entries[0].verdict
            ((document, arrays),) = small.results(workspace).values()
            shapes.append(
                (document["fields"].keys(), {key: array.shape for key, array in arrays.items()})
            )
    assert shapes[0] == shapes[1] == shapes[2]


@pytest.mark.parametrize("name", SMALL)
def test_a_part_that_fails_fails_its_request_in_one_sentence(files, workspace, name):
    plan = small.plan(files, suite(name, 2))
    wrong = replace(
        plan.requests[0], request=plan.requests[0].request.model_copy(update={"indices": (0, 99)})
    )
    progress = small.run(
        replace(plan, requests=(wrong, *plan.requests)), workspace, Inline(LoadedCache("cpu"))
    )
    assert (
        small.states(progress) == ["failed", "done"]
        and "there is no item 99" in progress.entries[0].error
    )


@pytest.mark.parametrize("name", SMALL)
def test_a_stop_between_parts_cancels_the_request_without_half_a_result(files, workspace, name):
    batch = Batch(small.plan(files, suite(name, 3)), workspace, Inline(LoadedCache("cpu")))
    while batch.go_on() and not batch.entries[0].done:
        pass
    batch.close()
    assert [entry.state for entry in batch.entries] == [RunState.CANCELLED]
    assert [(run.state, run.has_result) for run in workspace.runs()] == [
        (RunState.CANCELLED, False)
    ]
