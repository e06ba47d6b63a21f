"""A failure seen anywhere on the same model and input reaches every verdict on them."""

from __future__ import annotations

from typing import Any

import pytest

from robgui.core.evidence import Evidence
from robgui.core.execution.request import Reference, Request
from robgui.core.execution.run import Run, RunState
from robgui.core.finding import StoredFinding
from robgui.core.verdict import Status, Verdict

HOLDS = Verdict(Status.HOLDS, "Noise does not change it.", because=("Validated.",))
UNKNOWN = Verdict(Status.UNKNOWN, "No example was found.")
PIXELS = "image 5: 9 pixels turn “Coat” into “Shirt”"


def model(name: str = "a") -> Reference:
    return Reference(kind="model", name=name, fingerprint=name * 16)


def data(name: str = "d") -> Reference:
    return Reference(kind="dataset", name=name, fingerprint=name * 16)


def request(analysis: str, indices: tuple[int, ...] | None = (5,), **more: Any) -> Request:
    values = {"models": (model(),), "dataset": data(), "indices": indices, **more}
    return Request(analysis=analysis, **values)


def run(asked: Request, said: Verdict | None = None, name: str = "game") -> Run:
    return Run(name, asked, RunState.DONE, 0.0, verdict=said, has_result=True)


def finding(run_id: str = "game", severity: float = 0.9, **detail: Any) -> StoredFinding:
    values = {"class": "Coat", "other_class": "Shirt", **detail}
    return StoredFinding("adversarial", PIXELS, severity, values, id=1, run_id=run_id)


FAILED = Verdict(Status.FAILS, "9 pixels turn “Coat” into “Shirt”.")
GAME = run(request("feature_game"), FAILED)


@pytest.mark.parametrize("said", [HOLDS, UNKNOWN])
def test_a_finding_of_another_method_on_the_same_input_turns_a_verdict_into_a_risk(
    said: Verdict,
) -> None:
    shown = Evidence([GAME], [finding()]).shown(said, request("last_particle"))
    assert shown.status is Status.AT_RISK
    assert "Feature game found on the same input" in shown.sentence
    assert "9 pixels" in shown.sentence
    assert shown.sentence.startswith(said.sentence)
    assert f"“{said.status.words}”" in shown.because[0]


def test_a_change_beyond_what_its_own_run_asks_for_refutes_no_other_run() -> None:
    swept = run(request("zonnscan"), Verdict(Status.AT_RISK, "It turns at 0.19."), "sweep")
    known = Evidence([swept], [finding("sweep", beyond=True)])
    assert known.shown(HOLDS, request("last_particle"), "particles") is HOLDS


def test_a_run_that_fails_without_a_finding_counts_too() -> None:
    shown = Evidence([GAME]).shown(HOLDS, request("last_particle"))
    assert shown.status is Status.AT_RISK and "9 pixels" in shown.sentence


@pytest.mark.parametrize(
    "asked",
    [
        request("last_particle", (6,)),
        request("last_particle", models=(model("b"),)),
        request("last_particle", dataset=data("e")),
    ],
    ids=["other input", "other model", "other data"],
)
def test_a_failure_elsewhere_changes_nothing(asked: Request) -> None:
    assert Evidence([GAME], [finding()]).shown(HOLDS, asked) is HOLDS


def test_its_own_run_does_not_count_and_a_failing_verdict_stays_as_it_is() -> None:
    known = Evidence([GAME], [finding()])
    assert known.shown(HOLDS, GAME.request, "game") is HOLDS
    assert known.shown(FAILED, request("zonnscan")) is FAILED


def test_what_was_seen_of_a_run_after_it_ended_counts_for_its_own_verdict() -> None:
    asked = request("zonnscan")
    swept = run(asked, name="sweep")
    for status in (Status.UNKNOWN, Status.HOLDS, Status.AT_RISK):
        said = Verdict(status, "So far nothing.")
        for fails, shown in ((True, Status.FAILS), (False, Status.AT_RISK)):
            known = Evidence([swept], [finding("sweep", apart=True, fails=fails)])
            held = known.shown(said, asked, "sweep")
            assert held.status is shown and "9 pixels" in held.sentence
    elsewhere = known.shown(HOLDS, request("last_particle"), "particles")
    assert elsewhere.status is Status.AT_RISK, "another method has thresholds of its own"


def test_a_failure_of_one_input_reaches_a_run_of_many_that_holds() -> None:
    known = Evidence([GAME], [finding()])
    shown = known.shown(HOLDS, request("last_particle_table", (3, 4, 5)))
    assert shown.status is Status.AT_RISK and "on one of these inputs" in shown.sentence
    assert known.shown(HOLDS, request("last_particle_table", (3, 4))) is HOLDS
    assert known.shown(UNKNOWN, request("deepinspect", None)) is UNKNOWN


def test_a_finding_of_a_run_of_many_reaches_the_input_it_is_about() -> None:
    batch = run(request("feature_game_batch", (2, 5, 8)), None, "batch")
    known = Evidence([batch], [finding("batch", place=1)])
    assert known.shown(HOLDS, request("zonnscan")).status is Status.AT_RISK
    assert known.shown(HOLDS, request("zonnscan", (2,))) is HOLDS


def test_a_wrong_answer_by_the_labels_is_a_failure_of_every_analysis_of_that_input() -> None:
    inspected = run(request("deepinspect", None), None, "classes")
    known = Evidence([inspected], [finding("classes", inputs=[5, 9, 11], wrong=2)])
    assert known.shown(HOLDS, request("last_particle")).status is Status.FAILS
    assert known.shown(HOLDS, request("last_particle", (9,))).status is Status.FAILS
    assert known.shown(HOLDS, request("last_particle", (11,))) is HOLDS  # shown, but not wrong


def test_a_statement_about_classes_is_told_of_an_input_only_as_what_that_input_does() -> None:
    inspected = run(request("deepinspect", None), None, "classes")
    alike = StoredFinding(
        "confusion",
        "“Coat” and “Shirt” look alike to the network; truly confused in 4.0 % of their inputs",
        0.02,
        {"class": "Coat", "other_class": "Shirt", "inputs": [5, 9], "wrong": 2},
        id=1,
        run_id="classes",
    )
    shown = Evidence([inspected], [alike]).shown(UNKNOWN, request("zonnscan"))
    assert shown.status is Status.FAILS, "its own answer is wrong by its label"
    assert "look alike" not in shown.sentence and "4.0 %" not in shown.sentence
    assert "found on the same input: by its label, its answer is wrong." in shown.sentence
    examples = StoredFinding(
        "confusion", alike.title, 0.02, {**alike.detail, "wrong": 0}, id=2, run_id="classes"
    )
    assert Evidence([inspected], [examples]).shown(UNKNOWN, request("zonnscan")) is UNKNOWN


@pytest.mark.parametrize("indices", [(5,), (5, 6)], ids=["a filter left one", "several"])
def test_an_analysis_of_many_inputs_never_speaks_of_the_same_input(indices) -> None:
    counted = request("accuracy", indices, chosen=f"{len(indices)} of 800 inputs (label:Coat)")
    known = Evidence([GAME], [finding(wrong=1)])
    assert known.shown(UNKNOWN, counted) is UNKNOWN
    shown = known.shown(HOLDS, counted)
    assert shown.status is Status.AT_RISK and "the same input" not in shown.sentence
    failed = run(counted, FAILED, "counted")
    assert Evidence([failed]).shown(HOLDS, request("zonnscan")) is HOLDS, "a share of inputs"


def test_what_names_no_confusion_is_no_failure() -> None:
    unsure = finding("game", other_class="", place=0)
    quiet = run(request("feature_game"), UNKNOWN)
    assert Evidence([quiet], [unsure]).shown(HOLDS, request("zonnscan")) is HOLDS


def test_of_several_models_only_the_one_that_fails_is_touched() -> None:
    both = (model("a"), model("b"))
    said = Verdict(Status.HOLDS, "Both keep it.", models=(HOLDS, HOLDS))
    shown = Evidence([GAME], [finding()]).shown(said, request("semantic_map", models=both))
    assert [one.status for one in shown.models] == [Status.AT_RISK, Status.HOLDS]
    assert shown.status is Status.AT_RISK


def test_the_worst_failure_is_named_and_the_others_are_counted() -> None:
    weak = StoredFinding(
        "rare", "rare one", 0.2, {"class": "Coat", "other_class": "Bag"}, id=2, run_id="game"
    )
    shown = Evidence([GAME], [weak, finding()]).shown(HOLDS, request("zonnscan"))
    assert "9 pixels" in shown.sentence and "1 more failure" in shown.sentence


def test_an_input_that_the_sentence_names_is_not_named_again() -> None:
    said = Verdict(Status.HOLDS, "image 5, “Coat”: noise does not change it.")
    shown = Evidence([GAME], [finding()]).shown(said, request("last_particle"))
    assert shown.sentence.endswith("found on the same input: 9 pixels turn “Coat” into “Shirt”.")
