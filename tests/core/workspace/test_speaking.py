"""Which run speaks: a whole one before a stopped one or a first look, a failure before none."""

from __future__ import annotations

from typing import Any

from robgui.core.execution.request import Reference, Request
from robgui.core.execution.run import Run, RunState
from robgui.core.verdict import Status, Verdict
from robgui.core.workspace.speaking import is_answered, is_first_look, is_whole, speakers

FOUND = Verdict(Status.FAILS, "2 pixels turn “red” into “green”.")
NONE = Verdict(Status.UNKNOWN, "None found with 1 call.")
#: Settings of “Inspect everything”.
SHORT = {"max_calls": 1500}


def run(name: str, said: Verdict = NONE, state: RunState = RunState.DONE, **more: Any) -> Run:
    asked = {"params": {}, "indices": (21,), **more}
    model = Reference(kind="model", name="net", fingerprint="a" * 16)
    data = Reference(kind="dataset", name="signs", fingerprint="d" * 16)
    request = Request(**{"analysis": "feature_game", "models": (model,), "dataset": data, **asked})
    return Run(name, request, state, 0.0, verdict=said, has_result=True)


def names(*runs: Run) -> list[str]:
    """The runs that speak, of those given newest first."""
    return [one.id for one in speakers(runs)]


def test_a_stopped_run_does_not_speak_where_a_whole_one_does() -> None:
    stopped = run("stopped", NONE.stopped(), RunState.CANCELLED)
    assert names(stopped, run("whole", FOUND)) == ["whole"]
    assert names(stopped, run("whole", Verdict(Status.HOLDS, "None found."))) == ["whole"]
    assert names(stopped) == ["stopped"]


def test_a_run_cut_at_its_time_limit_that_failed_or_still_runs_is_not_whole() -> None:
    assert names(run("cut", NONE.cut(3.0)), run("whole")) == ["whole"]
    assert names(run("going", state=RunState.RUNNING), run("whole")) == ["whole"]
    assert names(run("broken", state=RunState.FAILED), run("whole")) == ["whole"]


def test_a_first_look_does_not_speak_where_a_whole_run_does() -> None:
    short = run("short", params=SHORT)
    assert is_first_look(short.request) and not is_whole(short)
    assert names(short, run("whole", FOUND)) == ["whole"]
    assert names(run("whole"), short) == ["whole"]


def test_of_runs_that_are_not_whole_one_that_found_a_failure_speaks() -> None:
    stopped = run("stopped", NONE.stopped(), RunState.CANCELLED)
    assert names(stopped, run("short", FOUND, params=SHORT)) == ["short"]
    assert names(stopped, run("short", params=SHORT)) == ["stopped"]


def test_with_equal_settings_a_failure_speaks_else_the_newest() -> None:
    assert names(run("new", params={"seed": 2}), run("old", FOUND, params={"seed": 1})) == ["old"]
    assert names(run("new", FOUND), run("old", FOUND)) == ["new"]
    assert names(run("new", params={"target": "green"}), run("old", FOUND)) == ["new"]


def test_a_failure_of_a_stopped_run_or_a_first_look_outweighs_a_whole_run_without_one() -> None:
    whole = run("whole", Verdict(Status.HOLDS, "None found."))
    stopped = run("stopped", FOUND.stopped(), RunState.CANCELLED)
    assert names(whole, stopped) == names(stopped, whole) == ["stopped"]
    assert names(whole, run("short", FOUND, params=SHORT)) == ["short"]
    assert names(run("new", params={"max_calls": 9000}), run("old", FOUND)) == ["old"]
    assert names(run("found", FOUND), stopped) == ["found"], "a whole run that found it as well"
    other = run("other", FOUND.stopped(), RunState.CANCELLED, params={"target": "green"})
    assert names(whole, other) == ["whole"], "another question"


def test_on_several_inputs_a_part_of_them_does_not_outweigh_all() -> None:
    whole = run("whole", Verdict(Status.HOLDS, "95 % hold."), indices=(1, 2, 3))
    stopped = run("stopped", FOUND.stopped(), RunState.CANCELLED, indices=(1, 2, 3))
    assert names(stopped, whole) == ["whole"]


def test_runs_of_other_inputs_speak_for_themselves() -> None:
    assert names(run("a", indices=(3,)), run("b", FOUND), run("c", indices=(3,))) == ["a", "b"]


def test_a_first_look_at_some_of_the_inputs_yields_to_a_run_of_all() -> None:
    some = run("some", indices=(0, 2), chosen="2 of 4 inputs (evenly spread)")
    assert names(some, run("all", indices=None)) == ["all"]
    own = run("own", indices=(0, 2), chosen="2 of 4 inputs (label=red)")
    assert names(own, run("all", indices=None)) == ["own", "all"]


def test_of_many_inputs_the_run_over_most_of_them_speaks() -> None:
    everything = run("all", NONE, analysis="accuracy", indices=None)
    one = run("one", FOUND, analysis="accuracy", chosen="1 of 800 inputs (wrong)")
    old = run("old", FOUND, analysis="accuracy")
    two = run("two", NONE, analysis="accuracy", indices=(3, 4), chosen="2 of 800 inputs (frog)")
    spread = "3 of 800 inputs (evenly spread)"
    look = run("look", NONE, analysis="accuracy", indices=(1, 2, 3), chosen=spread)
    assert names(one, old, two, everything) == ["all"]
    assert names(one, old, two, look) == ["look"], "a first look is one at all of them"
    assert names(one, old, two) == ["two"]
    stopped = run("stopped", NONE, RunState.CANCELLED, analysis="accuracy", indices=None)
    assert names(one, stopped) == ["stopped"]


def test_for_one_model_a_run_of_several_models_asks_the_same() -> None:
    models = [Reference(kind="model", name=name, fingerprint=name * 16) for name in "ab"]
    both = run("both", analysis="corruptions", indices=None, models=tuple(models))
    alone = run("alone", FOUND, analysis="corruptions", indices=None)
    assert names(alone, both) == ["alone", "both"]
    assert [one.id for one in speakers([alone, both], "a" * 16)] == ["alone"]


def test_a_question_is_answered_by_a_run_that_ended_with_its_settings() -> None:
    asked, short = run("asked").request, run("short", params=SHORT).request
    assert is_answered([run("seed", params={"seed": 7})], asked)
    assert is_answered([run("whole")], short, asked) and not is_answered([run("whole")], short)
    stopped = run("stopped", NONE.stopped(), RunState.CANCELLED)
    assert not is_answered([stopped, run("cut", NONE.cut(3.0))], asked)
    others = [run("input", indices=(3,)), run("other", params={"target": "green"})]
    assert not is_answered(others, asked)
    assert not is_answered([run("half", autocast=True)], asked)


def test_settings_of_another_version_are_no_first_look() -> None:
    assert is_whole(run("old", params={"gone": 1}))
