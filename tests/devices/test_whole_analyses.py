"""Every analysis runs whole on a device that is not the processor, says the same there, reads as
little as it must, and survives running out of memory.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from robgui.core.execution.inline import Inline
from robgui.core.execution.method import methods
from robgui.core.execution.registry import find
from robgui.core.execution.run import RunState
from robgui.selftest.differences import difference
from robgui.selftest.jobs import JOBS
from tests.devices import whole
from tests.devices.bounds import BOUNDS
from tests.methods import OUR_METHODS

#: Batches of another size round differently, but by no more than this.
TOLERANCE = 1e-5
NAMES = [job.analysis for job in JOBS]
NUMBERS = pytest.mark.parametrize("number", range(len(JOBS)), ids=NAMES)


def test_no_analysis_of_ours_is_left_out():
    ours = {
        known.name
        for method in methods()
        if method.name in OUR_METHODS
        for known in method.analyses
    }
    assert set(NAMES) == ours
    assert set(BOUNDS) == set(NAMES)


@NUMBERS
def test_it_says_the_same_as_on_the_processor_reads_little_and_survives_a_cap(number):
    job = JOBS[number]
    seen = whole.whole(job)
    assert seen.execution.state is RunState.DONE, seen.execution.error + seen.execution.details
    assert seen.execution.device == str(whole.PLACE)
    here, there = whole.on_cpu(number), seen.execution
    assert difference(here.newest.result, there.newest.result) <= TOLERANCE
    assert here.verdict.status is there.verdict.status

    bound = BOUNDS[job.analysis]
    most = seen.steps + bound.per_call * seen.batches + bound.once
    assert seen.reads <= most, sorted(seen.sites.items(), key=lambda site: -site[1])[:8]

    short = whole.capped(job, seen)
    assert short.state in (RunState.DONE, RunState.FAILED)
    if short.state is RunState.DONE:
        assert difference(here.newest.result, short.newest.result) <= TOLERANCE
    else:
        assert "memory" in short.error and short.error.endswith(".") and "\n" not in short.error
        assert not short.details, "a full device is no bug"


@pytest.mark.parametrize("number", [5, 9], ids=lambda number: NAMES[number])
def test_the_command_line_carries_it_out_on_the_device(number, capsys):
    execution = whole.by_command(JOBS[number])
    assert execution.state is RunState.DONE and execution.device == str(whole.PLACE)
    assert difference(whole.on_cpu(number).newest.result, execution.newest.result) <= TOLERANCE
    capsys.readouterr()


#: Where the job ends with its first Step there is nothing to pause: one input more than is looked
#: at together, and as little as can be of each.
LIVE = {
    "tolerance": {"indices": range(6), "params": {"prove": False, "largest": 0.01, "hold": 0.01}},
    "corruptions": {
        "indices": range(9),
        "params": {"kinds": ("brightness",), "severities": (1,)},
    },
    "pipeline_audit": {"indices": range(17), "params": {"pictures": 17}},
}


@NUMBERS
def test_pause_holds_it_and_stop_keeps_what_is_computed(number):
    job = replace(JOBS[number], **LIVE.get(NAMES[number], {}))
    execution, shelf = whole.bench(str(whole.PLACE)).execution(job)
    executor = Inline(shelf)
    executor.submit(execution)
    with whole.every_step():
        while execution.newest is None:
            executor.work(0.0)
        execution.pause()
        held = execution.newest
        executor.work(0.01)
        assert execution.state is RunState.PAUSED and execution.newest is held
        execution.resume()
        while execution.newest is held:
            executor.work(0.0)
        shown = execution.newest
        execution.stop()
        while not execution.state.ended:
            executor.work(0.0)
    assert execution.state is RunState.CANCELLED
    assert execution.newest is shown and execution.verdict is not None


def test_the_document_has_a_row_for_every_analysis_in_their_order():
    text = (Path(__file__).parents[2] / "docs" / "cuda.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    head, told = rows[0], [row for row in rows[1:] if row[0] != "---"]
    assert head == list(whole.HEAD)
    assert [row[0] for row in told] == [find(name).title for name in NAMES]
    assert {len(row) for row in told} == {len(whole.HEAD)} and {row[1] for row in told} == {"done"}


def test_scores_that_are_no_numbers_fail_the_run_before_its_step_is_shown():
    job = JOBS[NAMES.index("feature_game_batch")]
    execution, shelf = whole.bench(str(whole.PLACE)).execution(job)
    (model,) = shelf.loaded
    weights = next(model.backend.module.parameters())
    kept = weights.clone()
    executor = Inline(shelf)
    try:
        weights.fill_(torch.nan)
        executor.submit(execution)
        while not execution.state.ended:
            executor.work(0.0)
    finally:
        weights.copy_(kept)
    assert execution.state is RunState.FAILED and "not finite" in execution.error
    assert execution.newest is None


def test_a_recurrent_model_is_differentiated_although_cudnn_cannot():
    bench = whole.bench(str(whole.PLACE))
    model = bench.model("fashion_rnn.pt")
    x = torch.rand(2, *model.shape, device=whole.PLACE).requires_grad_()
    (gradient,) = torch.autograd.grad(model.logits(x).sum(), x)
    assert bool(gradient.abs().sum() > 0)
    assert torch.backends.cudnn.enabled
