"""The next run of the same request resumes a stopped one, with the same answer."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robgui
from robgui.analyses.deepinspect import inspection
from robgui.analyses.deepinspect.counting import streaming
from robgui.analyses.deepinspect.counting.parts import InspectionPart
from robgui.core.codec import decode, encode
from robgui.core.dataset import Dataset
from robgui.core.execution.inline import Steps
from robgui.core.execution.registry import find
from robgui.core.execution.run import RunState
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import Workspace
from tests.analyses.deepinspect.nets import images, run, small_cnn


@pytest.fixture(autouse=True)
def kept_after_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "KEEP_SECONDS", 0.0)
    monkeypatch.setattr(streaming, "KEEP_BYTES", 1e12)


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal to the last bit."""
    if is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(
            one, other, equal_nan=one.dtype.kind == "f"
        )
    return bool(one == other or (one != one and other != other))


def kept_parts(classifier: Classifier, dataset: Dataset, **params: Any) -> list[InspectionPart]:
    return [step.kept for step in run("deepinspect", classifier, dataset, **params) if step.kept]


def going(classifier: Classifier, dataset: Dataset, kept: InspectionPart, **params: Any) -> Any:
    known = find("deepinspect")
    steps = list(inspection.go_on(classifier, dataset, known.params.parse(params), kept))
    return steps[-1]


@pytest.mark.parametrize("multi_label", [False, True])
def test_going_on_from_any_moment_gives_the_answer_of_a_whole_run(multi_label):
    classifier, dataset = small_cnn(multi_label=multi_label), images(90)
    whole = run("deepinspect", classifier, dataset, batch=16)[-1]
    parts = kept_parts(classifier, dataset, batch=16)
    assert [len(part.tally.predicted) for part in parts] == [16, 32, 48, 64, 80, 90]
    for part in parts:
        stored = decode(InspectionPart, *encode(part))
        last = going(classifier, dataset, stored, batch=16)
        assert same(last.result, whole.result)
        assert f"first {len(part.tally.predicted)} inputs" in last.note


def test_what_is_kept_does_not_change_while_counting_goes_on():
    first = kept_parts(small_cnn(), images(90), batch=16)[0]
    assert first.tally.seen == first.tally.members.sum() == 16
    assert first.tally.counts.max() <= 16


def test_only_the_rest_is_shown_to_the_model():
    classifier, dataset = small_cnn(), images(90, labels=False)
    part = kept_parts(classifier, dataset, batch=16)[3]
    before = classifier.calls
    going(classifier, dataset, part, batch=16)
    assert classifier.calls - before == 90 - 64


@pytest.mark.parametrize(
    "spoiled",
    [
        {"counts": np.zeros((1, 3, 14), dtype=np.float32)},
        {"members": np.zeros(3, dtype=np.float32)},
        {"predicted": np.zeros(91, dtype=np.int32)},
        {"predicted": np.full(16, 4, dtype=np.int32)},
        {"group_counts": np.zeros((0, 0), dtype=np.float32)},
    ],
)
def test_counts_of_something_else_are_left_alone(spoiled):
    classifier, dataset = small_cnn(), images(90)
    part = kept_parts(classifier, dataset, batch=16)[0]
    last = going(classifier, dataset, replace(part, tally=replace(part.tally, **spoiled)), batch=16)
    assert last.note == ""
    assert same(last.result, run("deepinspect", classifier, dataset, batch=16)[-1].result)


def stopped_after(steps: Steps, inputs: int) -> None:
    with steps:
        for step in steps:
            if step.done >= inputs:
                return


def test_the_next_run_of_the_same_request_goes_on_in_its_workspace(tmp_path: Path):
    classifier, dataset = small_cnn(), images(90, labels=False)
    whole = robgui.run("deepinspect", classifier, dataset, batch=16)
    path = tmp_path / "work.robgui"
    with Workspace.open(path) as workspace:
        stopped_after(
            robgui.steps("deepinspect", classifier, dataset, workspace=workspace, batch=16), 40
        )
        assert workspace.runs()[0].state is RunState.CANCELLED
    before = classifier.calls
    with Workspace.open(path) as workspace:
        steps = robgui.steps("deepinspect", classifier, dataset, workspace=workspace, batch=16)
        last = list(steps)[-1]
        assert same(last.result, whole)
        assert 90 - 64 <= classifier.calls - before < 90
        assert last.kept is None
        # it has been computed to the end, so that the third run begins anew
        before = classifier.calls
        list(robgui.steps("deepinspect", classifier, dataset, workspace=workspace, batch=16))
        assert classifier.calls - before == 90


def test_another_request_begins_anew(tmp_path: Path):
    classifier, dataset = small_cnn(), images(90, labels=False)
    with Workspace.open(tmp_path / "work.robgui") as workspace:
        stopped_after(
            robgui.steps("deepinspect", classifier, dataset, workspace=workspace, batch=16), 40
        )
        before = classifier.calls
        other = {"batch": 16, "threshold": 0.6}
        list(robgui.steps("deepinspect", classifier, dataset, workspace=workspace, **other))
        assert classifier.calls - before == 90


def test_a_deleted_run_takes_what_it_has_kept_along(tmp_path: Path):
    classifier, dataset = small_cnn(), images(90, labels=False)
    with Workspace.open(tmp_path / "work.robgui") as workspace:
        stopped_after(
            robgui.steps("deepinspect", classifier, dataset, workspace=workspace, batch=16), 40
        )
        workspace.delete_run(workspace.runs()[0].id)
        before = classifier.calls
        list(robgui.steps("deepinspect", classifier, dataset, workspace=workspace, batch=16))
        assert classifier.calls - before == 90
