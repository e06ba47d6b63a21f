from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from robgui.batch import Batch, BatchEntry, Gate, Progress, judge
from robgui.batch.summary import document, junit, passed, sentences
from robgui.core.errors import ParamsError
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.run import RunState
from tests.batch import small


@dataclass
class Anything:
    auc: float = 0.5
    index: np.ndarray = field(default_factory=lambda: np.array([0.25, 0.75]))


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("zonnscan_populations.auc<0.6", True),
        ("zonnscan-populations.auc < 0.5", False),
        ("zonnscan_populations.auc<=0.5", True),
        ("zonnscan_populations.auc == 5e-1", True),
        ("zonnscan_populations.auc!=0.5", False),
        ("zonnscan.index.mean>0.4", True),
        ("zonnscan.index.min>0.4", False),
        ("zonnscan.index.max>=0.75", True),
    ],
)
def test_a_gate_compares_a_scalar_or_a_reduced_array(text, broken):
    gate = Gate.parse(text)
    assert gate.breaks(gate.value(Anything())) is broken


def test_what_is_not_a_number_breaks_every_gate():
    gate = Gate.parse("zonnscan_populations.auc<0")
    assert gate.breaks(gate.value(Anything(auc=float("nan"))))
    assert gate.breaks(Gate.parse("zonnscan.index.mean<0").value(Anything(index=np.zeros(0))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "not understood"),
        ("auc<1", "not understood"),
        ("zonnscan.index.mean~1", "not understood"),
        ("zonnscan.index.mean<many", "not a number"),
        ("guess.auc<1", "no analysis 'guess'"),
        ("zonnscan.colour<1", "no field 'colour'"),
        ("zonnscan.index<1", "add .mean, .min or .max"),
        ("zonnscan.kind<1", "not a number"),
        ("zonnscan.index.median<1", "no field 'median'"),
    ],
)
def test_a_gate_that_is_not_understood_is_one_sentence(text, expected):
    with pytest.raises(ParamsError, match=expected):
        Gate.parse(text)


@pytest.fixture(scope="module")
def finished(files, tmp_path_factory):
    """A suite in which one request fails, with a title that XML cannot hold as it is."""
    from robgui.core.workspace import Workspace

    plan = small.plan(
        files,
        '[[analyses]]\nname = "zonnscan"\nindex = "0:2"\nparams = { samples = 32, radii = [0.0,'
        " 0.2] }\n",
    )
    wrong = plan.requests[0]
    lost = wrong.request.model_copy(update={"indices": (99,)})
    plan = replace(
        plan, requests=(*plan.requests, type(wrong)(lost, "out of <range> \x00 & \ud800"))
    )
    with Workspace.open(tmp_path_factory.mktemp("gates") / "w.robgui") as workspace:
        yield small.run(plan, workspace, Inline(LoadedCache("cpu"))), workspace


def test_a_failed_request_is_recorded_and_the_suite_goes_on(finished):
    progress, workspace = finished
    assert small.states(progress) == ["done"] * 6 + ["failed"]
    assert "there is no item 99" in progress.entries[-1].error
    assert workspace.run(progress.entries[-1].run_id).error == progress.entries[-1].error
    assert not passed(progress, [])


def test_gates_are_judged_over_every_request_and_a_missing_result_breaks_them(finished):
    progress, workspace = finished
    never, always = judge(
        [Gate.parse("zonnscan.index.max>1"), Gate.parse("zonnscan.index.max>=0")],
        progress.entries,
        workspace,
    )
    assert (never.checked, len(never.broken), always.checked, len(always.broken)) == (7, 1, 7, 7)
    assert "there is no result (failed)" in never.broken[0]
    assert "zonnscan net_0.safetensors images.npz input 0" in always.broken[0]


def test_the_junit_file_is_well_formed_and_counts_right(finished):
    progress, workspace = finished
    outcomes = judge(
        [Gate.parse("zonnscan.index.max>=0"), Gate.parse("zonnscan.model_calls<0")],
        progress.entries[:-1],
        workspace,
    )
    waiting = BatchEntry(7, progress.entries[0].request, "later")
    progress = Progress((*progress.entries, waiting), 1.0, 2.5, None)
    suite = ET.fromstring(junit("a & b", progress, outcomes)).find("testsuite")
    assert (
        suite.get("tests"),
        suite.get("failures"),
        suite.get("errors"),
        suite.get("skipped"),
    ) == ("10", "1", "1", "1")
    assert suite.get("name") == "a & b"
    cases = suite.findall("testcase")
    assert len(cases) == 10
    assert cases[6].get("name") == "out of <range> \ufffd & \ufffd"
    assert "there is no item 99" in cases[6].find("error").get("message")
    assert cases[8].find("failure").text.count("\n") == 5
    assert cases[9].find("failure") is None
    verdict = progress.entries[0].verdict
    assert (
        cases[0].find("system-out").text == f"{verdict.status.words}. {verdict.text}"
        and cases[6].find("system-out") is None
    )


def test_the_summary_is_strict_json_and_plain_words(finished):
    progress, workspace = finished
    outcomes = judge([Gate.parse("zonnscan.index.max>=0")], progress.entries, workspace)
    made = json.loads(
        json.dumps(
            document(progress, outcomes, ["x does not fit."], workspace.path), allow_nan=False
        )
    )
    assert made["counts"] == {"done": 6, "failed": 1}
    assert made["passed"] is False
    assert sum(made["statuses"].values()) == 6 and made["requests"][0]["status"] in made["statuses"]
    assert made["requests"][0]["fingerprint"] == progress.entries[0].request.fingerprint
    lines = list(sentences(progress, outcomes, ["x does not fit."], most=2))
    assert lines[0] == "7 requests: 6 done, 1 failed."
    assert lines[1].endswith(": 6.") and lines[1][0] in "✗!?✓", "all six say the same"
    assert lines[2] == "Left out: x does not fit."
    assert lines[4] == "Gate zonnscan.index.max>=0: FAILED for 7 of 7 requests"
    assert lines[-1] == "  … and 5 more"


def test_a_second_sitting_finds_everything_done(finished):
    progress, workspace = finished
    plan = small.Plan(tuple(small_planned(entry) for entry in progress.entries[:-1]))
    runs = len(workspace.runs())
    (last,) = Batch(plan, workspace, Inline(LoadedCache("cpu")))
    assert all(entry.reused for entry in last.entries)
    assert last.share == 1.0
    assert last.count(RunState.DONE) == 6
    assert len(workspace.runs()) == runs


def small_planned(entry):
    from robgui.batch import Planned

    return Planned(entry.request, entry.title)
