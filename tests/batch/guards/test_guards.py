"""Findings become tests: what is written is what was found, and a new model gets a true answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import robgui
from robgui.batch.guards.checking import State, check, read_baseline
from robgui.batch.guards.inputs import from_file, to_file
from robgui.batch.guards.making import Made, make_guards
from robgui.batch.guards.suite import guard_suite
from robgui.cli import main
from robgui.core.errors import DataError, ParamsError, RobguiError
from robgui.core.execution.asking.models import Models
from robgui.core.execution.request import build_request
from robgui.core.finding import Finding
from robgui.core.workspace import Workspace
from tests.batch.guards import lights

#: The old model calls light what is above 0.6 and has levels 128 to 152 wrong.
OLD = 0.6
LEVELS = [10, 60, 90, 120, 130, 150, 200, 250]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    lights.write_model(tmp_path / "old.onnx", OLD)
    lights.write_data(tmp_path / "data", LEVELS)
    return tmp_path


@pytest.fixture
def workspace(place: Path):
    made = lights.workspace(place, place / "old.onnx", place / "data" / "images.npz")
    yield made
    made.close()


def guarded(workspace: Workspace, place: Path, **more: Any) -> Made:
    """One wrong input as it is, and one that a change of brightness turns."""
    lights.add(workspace, 4, lights.uniform(130 / 255), "light", "dark")
    lights.add(workspace, 6, lights.uniform(0.55), "light", "dark")
    return make_guards(workspace, place / "suite", Models().ask, **more)


def asked(place: Path, threshold: float, labels: tuple[str, ...] = lights.LABELS, **more: Any):
    models = Models()
    path = lights.write_model(place / f"new-{threshold}-{len(labels)}.onnx", threshold, labels)
    card = models.ask("model", path=str(path), trust=False, device="", autocast=False, settings={})
    return check(guard_suite(place / "suite"), card, models.ask, **more)


# --- inputs ---------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.sampled_from([(1, 5, 7), (3, 4, 4), (2, 3, 3), (6,)]))
def test_an_input_is_read_as_it_was_written_bit_for_bit(seed: int, shape: tuple[int, ...]):
    generator = np.random.default_rng(seed)
    kind = "image" if len(shape) == 3 else "table"
    levels = generator.integers(0, 256, shape, dtype=np.uint8)
    for x in (levels.astype(np.float32) / np.float32(255), generator.random(shape, np.float32)):
        ending, content = to_file(x, kind)
        np.testing.assert_array_equal(from_file(f"x{ending}", content), x)


def test_only_what_256_levels_say_exactly_becomes_a_png():
    exact = np.arange(16, dtype=np.float32).reshape(1, 4, 4) / np.float32(255)
    assert to_file(exact, "image")[0] == ".png"
    assert to_file(np.nextafter(exact, np.float32(1)), "image")[0] == ".npy"
    assert to_file(exact, "table")[0] == ".npy"


# --- making ---------------------------------------------------------------------------------------


def test_starred_findings_their_originals_and_controls_become_cases(workspace, place):
    lights.add(workspace, 7, lights.uniform(0.5), "light", "dark", star=False)
    suite = guarded(workspace, place, controls=3).suite
    assert [case.role for case in suite.cases].count("finding") == 2
    wrong_as_it_is, changed = suite.findings
    assert (wrong_as_it_is.expected, wrong_as_it_is.given) == ("light", "dark")
    assert wrong_as_it_is.file.endswith(".png") and changed.file.endswith(".npy")
    originals = [case for case in suite.cases if case.role == "original"]
    assert [case.of for case in originals] == [changed.name]
    np.testing.assert_array_equal(suite.input(originals[0]), lights.uniform(200 / 255))
    controls = [case for case in suite.cases if case.role == "control"]
    assert len(controls) == 3 and all(case.by == "label" for case in controls)


def test_every_control_is_one_that_the_old_model_has_right(workspace, place):
    suite = guarded(workspace, place).suite
    right = {level for level in LEVELS if (level >= 128) == (level / 255 > OLD)}
    levels = {round(float(suite.input(case).mean()) * 255) for case in suite.guarded}
    assert levels == right


def test_the_draw_of_controls_follows_the_seed(workspace, place):
    names = []
    for seed in (1, 1, 2):
        made = guarded(workspace, place, controls=2, seed=seed)
        names.append([one.source for one in made.suite.cases if one.role == "control"])
    assert names[0] == names[1] != names[2]


def test_the_label_and_not_the_finding_says_what_is_right(workspace, place):
    lights.add(workspace, 3, lights.uniform(0.7), "light", "dark")  # level 120 is labelled dark
    (case,) = make_guards(workspace, place / "suite", Models().ask, controls=0).suite.findings
    assert (case.expected, case.given, case.by) == ("dark", "light", "label")


def test_a_finding_that_is_right_or_has_no_input_is_left_out_with_a_sentence(workspace, place):
    lights.add(workspace, 7, lights.uniform(0.9), "light", "dark")
    run = workspace.runs()[0]
    workspace.add_findings(run.id, [Finding("class", "a class is weak", 0.5, {"class": "dark"})])
    workspace.set_finding(workspace.findings()[-1].id, starred=True)
    left_out = guarded(workspace, place).left_out
    assert any("has it right as it is stored" in one for one in left_out)
    assert any("a class is weak" in one and "no single input" in one for one in left_out)


def test_without_a_star_there_is_a_sentence_and_no_folder(workspace, place):
    with pytest.raises(ParamsError, match="No finding is starred"):
        make_guards(workspace, place / "suite", Models().ask)
    assert not (place / "suite").exists()


def test_models_that_have_changed_since_are_refused(workspace, place):
    lights.write_model(place / "old.onnx", 0.4)
    with pytest.raises(RobguiError, match="no longer the model"):
        guarded(workspace, place)


# --- checking -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("threshold", "fixed"), [(0.6, 0), (0.53, 1), (0.5, 2)])
def test_a_finding_is_fixed_where_the_threshold_says_so(workspace, place, threshold, fixed):
    guarded(workspace, place)  # the findings have the means 0.51 and 0.55
    checked = asked(place, threshold)
    counts = [checked.count(state) for state in (State.FIXED, State.STILL, State.NEW)]
    assert counts == [fixed, 2 - fixed, 0]
    assert checked.passed == (fixed == 2)


def test_new_are_the_guarded_inputs_that_the_threshold_turns(workspace, place):
    guarded(workspace, place)
    checked = asked(place, 0.3)  # dark ones of level 90 and 120 become light
    wrong = [one for one in checked.outcomes if one.state is State.NEW]
    levels = {round(float(checked.suite.input(one.case).mean()) * 255) for one in wrong}
    assert levels == {90, 120} and not checked.passed
    assert checked.count(State.FIXED) == 2


def test_the_margin_is_that_of_the_closed_form(workspace, place):
    guarded(workspace, place)
    for one in asked(place, 0.5).outcomes:
        mean = float(checked_input(place, one).mean())
        scores = np.array([100 * (0.5 - mean), 100 * (mean - 0.5)])
        light = 1 / (1 + np.exp(scores[0] - scores[1]))
        right = light if one.case.expected == "light" else 1 - light
        assert one.margin == pytest.approx(2 * right - 1, abs=1e-5)


def checked_input(place: Path, outcome: Any) -> np.ndarray:
    return guard_suite(place / "suite").input(outcome.case)


def test_classes_are_known_by_name_whatever_their_order(workspace, place):
    guarded(workspace, place)
    swapped = asked(place, 0.5, ("light", "dark"))  # says the opposite of what is right
    assert swapped.count(State.FIXED) == 0 and swapped.count(State.KEPT) == 0


def test_a_model_without_names_has_the_classes_in_the_order_of_the_suite(workspace, place):
    guarded(workspace, place)
    assert asked(place, 0.5, ()).passed


def test_a_model_that_lacks_a_class_or_takes_other_inputs_is_refused(workspace, place):
    guarded(workspace, place)
    with pytest.raises(ParamsError, match="has no class “light”"):
        asked(place, 0.5, ("dark", "bright"))
    suite = guard_suite(place / "suite").model_copy(update={"shape": (1, 5, 5)})
    with pytest.raises(ParamsError, match=r"shape \(1, 4, 4\)"):
        suite.fitted(robgui.load(place / "old.onnx"))


def test_against_a_baseline_only_what_was_right_there_fails(workspace, place):
    guarded(workspace, place)
    before = {one.case.name: one.state is State.FIXED for one in asked(place, 0.53).outcomes}
    baseline = {**before, **{one.name: True for one in guard_suite(place / "suite").guarded}}
    same = asked(place, 0.53, baseline=baseline)
    assert same.passed and same.count(State.STILL) == 1 and same.count(State.NEW) == 0
    worse = asked(place, 0.6, baseline=baseline)
    assert not worse.passed
    assert [worse.count(State.STILL), worse.count(State.NEW)] == [1, 1]


# --- the command line -----------------------------------------------------------------------------


def run_guard(place: Path) -> None:
    assert main(["guard", str(place / "w.robgui"), str(place / "suite"), "--controls", "4"]) == 0


@pytest.fixture
def written(workspace, place):
    guarded(workspace, place)
    workspace.close()
    run_guard(place)
    return place


def test_check_says_fixed_still_and_new_and_ends_with_1(written, capsys):
    lights.write_model(written / "new.onnx", 0.53)
    junit = written / "junit.xml"
    code = main(
        [
            "check",
            str(written / "suite"),
            "--model",
            str(written / "new.onnx"),
            "--junit",
            str(junit),
        ]
    )
    said = capsys.readouterr().out
    assert code == 1
    assert said.splitlines()[-1].startswith("new.onnx: fixed 1, still 1, new 0 (2 findings and ")
    root = ET.parse(junit).getroot()
    assert root.find("testsuite").attrib["failures"] == "1"
    assert len(root.findall("testsuite/testcase")) == len(guard_suite(written / "suite").cases)


def test_check_ends_with_0_when_all_is_fixed_and_its_json_is_the_next_baseline(written, capsys):
    lights.write_model(written / "new.onnx", 0.5)
    model = ["--model", str(written / "new.onnx")]
    assert main(["check", str(written / "suite"), *model, "--json"]) == 0
    printed = capsys.readouterr().out
    document = json.loads(printed)
    assert document["passed"] and document["counts"]["fixed"] == 2
    (written / "base.json").write_text(printed)
    assert set(read_baseline(written / "base.json").values()) == {True}
    lights.write_model(written / "worse.onnx", 0.53)
    again = ["--model", str(written / "worse.onnx"), "--baseline", str(written / "base.json")]
    assert main(["check", str(written / "suite"), *again]) == 1
    assert "still 0, new 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["check", "nowhere", "--model", "{old}"],
        ["check", "{suite}", "--model", "nowhere.onnx"],
        ["check", "{suite}"],
        ["check", "{suite}", "--model", "{old}", "--baseline", "{old}"],
        ["guard", "nowhere.robgui", "{suite}"],
        ["guard", "{work}", "{suite}", "--controls", "many"],
    ],
)
def test_bad_use_ends_with_2_and_one_sentence(written, capsys, words):
    places = {"old": "old.onnx", "suite": "suite", "work": "w.robgui"}
    filled = [
        word.format(**{name: str(written / file) for name, file in places.items()})
        for word in words
    ]
    assert main(filled) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("robgui: ") and "\n" not in said and "Traceback" not in said


def test_a_model_that_would_run_code_asks_as_run_does(written, capsys):
    import pickle

    (written / "new.pkl").write_bytes(pickle.dumps(Path("x")))
    assert main(["check", str(written / "suite"), "--model", str(written / "new.pkl")]) == 2
    assert "To say so, add --trust." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("threshold", "failed"), [pytest.param(0.5, 0, marks=pytest.mark.slow), (0.53, 1)]
)
def test_the_pytest_file_asks_the_same_questions(written, threshold, failed):
    lights.write_model(written / "new.onnx", threshold)
    environment = {
        **os.environ,
        "ROBGUI_MODEL": str(written / "new.onnx"),
        "PYTHONPATH": str(Path(robgui.__file__).parents[1]),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:qt"]
    done = subprocess.run(
        [*command, str(written / "suite")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=written,
    )
    cases = len(guard_suite(written / "suite").cases)
    said = f"{failed} failed, {cases - failed} passed" if failed else f"{cases} passed"
    assert said in done.stdout, done.stdout


# --- other kinds of inputs ------------------------------------------------------------------------


def test_columns_keep_their_units_for_a_model_with_other_ranges(tmp_path):
    rows = np.array([[10.0, 1.0], [20.0, 3.0], [30.0, 5.0]], np.float32)
    header = "length,width,label\n"
    lines = "".join(f"{a},{b},{'x' if a < 25 else 'y'}\n" for a, b in rows)
    (tmp_path / "rows.csv").write_text(header + lines)
    old = table_model(tmp_path / "old.onnx", 15.0, ([10.0, 1.0], [30.0, 5.0]))
    data = robgui.open_dataset(tmp_path / "rows.csv", label="label")
    request = build_request("zonnscan", [robgui.load(old)], data, {})
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        workspace.add_run(request)
        lights.add(workspace, 1, np.array([0.5, 0.5], np.float32), "x", "y")
        make_guards(workspace, tmp_path / "suite", Models().ask)
    suite = guard_suite(tmp_path / "suite")
    new = table_model(tmp_path / "new.onnx", 15.0, ([0.0, 0.0], [100.0, 100.0]))
    model = suite.fitted(robgui.load(new))
    x = suite.input_for(suite.findings[0], model)
    np.testing.assert_allclose(model.decode(x), [[20.0, 3.0]], rtol=1e-6)


def table_model(path: Path, threshold: float, ranges: tuple[list[float], list[float]]) -> Path:
    """Class y where the first column, in its own units, is above the threshold."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weight = np.array([[-1.0, 1.0], [0.0, 0.0]], np.float32)
    bias = np.array([threshold, -threshold], np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"])],
        "rows",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    path.with_name(f"{path.name}.toml").write_text(
        f'kind = "table"\nlabels = ["x", "y"]\nlow = {ranges[0]}\nhigh = {ranges[1]}\n'
        'features = ["length", "width"]\n'
    )
    return path


def test_a_suite_of_another_hand_is_a_sentence(written):
    suite = written / "suite" / "suite.json"
    whole = json.loads(suite.read_text())
    for change, words in (
        ({"format": "x"}, "no guard suite"),
        ({"cases": []}, "cases"),
        ({"more": 1}, "more"),
        ({"models": [{"name": "m", "fingerprint": "0" * 16}]}, "a model that is not listed"),
        ({"labels": ["dark", "other"]}, "a class that is not listed"),
    ):
        suite.write_text(json.dumps({**whole, **change}))
        with pytest.raises(ParamsError, match=words):
            guard_suite(written / "suite")
    suite.write_text("[" * 100_000)
    with pytest.raises(ParamsError, match="no JSON"):
        guard_suite(written / "suite")


@pytest.mark.parametrize("file", ["../secret.npy", "/etc/hostname", "inputs/link.npy", "\0", "."])
def test_an_input_elsewhere_is_never_opened(written, file):
    suite = written / "suite" / "suite.json"
    (written / "secret.npy").write_bytes(b"secret")
    (written / "suite" / "inputs" / "link.npy").symlink_to(written / "secret.npy")
    whole = json.loads(suite.read_text())
    whole["cases"][0]["file"] = file
    suite.write_text(json.dumps(whole))
    found = guard_suite(written / "suite")
    with pytest.raises(DataError, match="cannot be read"):
        found.input(found.cases[0])


def test_an_input_that_was_exchanged_is_refused(written):
    suite = guard_suite(written / "suite")
    case = suite.cases[0]
    _, content = to_file(lights.uniform(1.0), "image")
    (written / "suite" / case.file).write_bytes(content)
    with pytest.raises(DataError, match="not the one that was found"):
        suite.input(case)


def test_no_code_of_the_folder_runs_in_a_check(written, capsys):
    mark = written / "ran"
    evil = f"open({str(mark)!r}, 'w').close()\n"
    for name in ("test_findings.py", "conftest.py", "suite.py", "__init__.py"):
        (written / "suite" / name).write_text(evil)
    main(["check", str(written / "suite"), "--model", str(written / "old.onnx")])
    assert not mark.exists()


def test_words_of_a_suite_are_no_orders_to_the_terminal_and_no_markup(written, capsys):
    suite = written / "suite" / "suite.json"
    whole = json.loads(suite.read_text())
    whole["cases"][0]["title"] = "\x1b[2Jgone </failure>\x00"
    suite.write_text(json.dumps(whole))
    junit = written / "j.xml"
    model = ["--model", str(written / "old.onnx")]
    main(["check", str(written / "suite"), *model, "--junit", str(junit)])
    assert "\x1b" not in capsys.readouterr().out
    assert ET.parse(junit).getroot().findall("testsuite/testcase/failure")
