from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import torch

import robgui
from robgui.core.errors import DataError, ModelError, ParamsError
from tests.core import tiny


@pytest.fixture
def model() -> robgui.Classifier:
    return tiny.classifier()


def test_the_public_names_are_these():
    expected = ["Classifier", "Dataset", "Exhibit", "RobguiError", "Workspace", "__version__"]
    expected += ["analyses", "guard_suite", "load", "open_dataset", "run", "show", "steps"]
    assert sorted(robgui.__all__) == expected
    assert set(expected) <= set(dir(robgui))
    assert all(getattr(robgui, name) is not None for name in expected)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = robgui.nonsense


def test_the_version_has_three_numbers():
    assert re.fullmatch(r"\d+\.\d+\.\d+", robgui.__version__)


def test_analyses_is_the_registry_even_after_its_packages_were_imported():
    import robgui.analyses.zonnscan

    assert "zonnscan" in robgui.analyses()
    assert robgui.analyses()["zonnscan"].params is robgui.analyses.zonnscan.ZonnscanParams


def test_run_returns_the_last_result(model):
    result = robgui.run("tiny-confidence", model, tiny.inputs(), samples=3)
    assert isinstance(result, tiny.TinyResult)
    assert result.drawn == 3


def test_steps_gives_every_step_and_the_last_is_the_result(model):
    steps = list(robgui.steps("tiny_confidence", model, tiny.inputs(), samples=3, seed=5))
    assert [step.done for step in steps] == [1, 2, 3]
    again = robgui.run("tiny_confidence", model, tiny.inputs(), samples=3, seed=5)
    np.testing.assert_array_equal(steps[-1].result.confidence, again.confidence)


def test_leaving_early_ends_the_run_with_what_it_has(model, tmp_path):
    with robgui.Workspace.open(tmp_path / "w.robgui") as workspace:
        with robgui.steps("tiny_confidence", model, tiny.inputs(), workspace=workspace) as going:
            next(going)
        (run,) = workspace.runs()
        assert (run.state, run.done) == ("cancelled", 1)


def test_inputs_may_be_one_input_a_list_a_tensor_a_path_or_a_dataset(model, tmp_path):
    x = tiny.inputs()
    np.save(tmp_path / "x.npy", x)
    forms = [
        x,
        x.tolist(),
        torch.from_numpy(x),
        tmp_path / "x.npy",
        str(tmp_path / "x.npy"),
        robgui.open_dataset(tmp_path / "x.npy"),
    ]
    results = [
        robgui.run("tiny_confidence", model, form, radii=(0.0,), samples=1).confidence[0]
        for form in forms
    ]
    assert results == [results[0]] * len(forms)
    one = robgui.run("tiny_confidence", model, x[2], radii=(0.0,), samples=1)
    assert one.confidence[0] == pytest.approx(float(model.probs(x[2]).max()))


def test_a_model_may_be_a_path_and_a_run_may_be_kept(tmp_path):
    program = torch.export.export(
        tiny.network(), (torch.zeros(2, 3),), dynamic_shapes=({0: torch.export.Dim("n")},)
    )
    torch.export.save(program, tmp_path / "m.pt2")
    with robgui.Workspace.open(tmp_path / "w.robgui") as workspace:
        result = robgui.run(
            "tiny_confidence", tmp_path / "m.pt2", tiny.inputs(), samples=2, workspace=workspace
        )
        (run,) = workspace.runs()
        np.testing.assert_array_equal(workspace.result(run.id).confidence, result.confidence)


def test_zonnscan_runs_in_one_line():
    result = robgui.run(
        "zonnscan", tiny.classifier(), tiny.inputs()[0], samples=64, radii=(0.0, 0.1)
    )
    assert result.index.shape == (2,)


def test_what_cannot_be_used_is_said_in_words(model):
    with pytest.raises(ParamsError, match="zonnscan"):
        robgui.run("nothing", model, tiny.inputs())
    with pytest.raises(ModelError, match="from_callable"):
        robgui.run("tiny_confidence", print, tiny.inputs())
    with pytest.raises(DataError):
        robgui.run("tiny_confidence", model, ["a", "b"])
    with pytest.raises(DataError):
        robgui.run("tiny_confidence", model, [[1, 2], [3]])
    with pytest.raises(ModelError, match="No model"):
        robgui.run("tiny_confidence", [], tiny.inputs())
    with pytest.raises(ParamsError, match="samples"):
        robgui.run("tiny_confidence", model, tiny.inputs(), samples=-1)


def test_every_such_error_can_be_caught_under_one_public_name(model):
    with pytest.raises(robgui.RobguiError, match="samples"):
        robgui.run("tiny_confidence", model, tiny.inputs(), samples=-1)
    with pytest.raises(robgui.RobguiError, match="nowhere"):
        robgui.load("nowhere.onnx")


def test_one_image_may_be_given_as_other_programs_keep_it():
    image = np.random.default_rng(0).random((8, 9)).astype(np.float32)
    grey = robgui.Classifier.from_callable(lambda x: x.flatten(1)[:, :2], (1, 8, 9))
    colour = robgui.Classifier.from_callable(lambda x: x.flatten(1)[:, :2], (3, 8, 9))
    whole = robgui.run("zonnscan", grey, image[None, None], samples=16, radii=(0.0, 0.1)).index
    for given in (image, image[None], image[..., None]):
        np.testing.assert_array_equal(
            robgui.run("zonnscan", grey, given, samples=16, radii=(0.0, 0.1)).index, whole
        )
    assert (
        len(
            robgui.run(
                "zonnscan", colour, np.stack([image] * 3, -1), samples=16, radii=(0.0, 0.1)
            ).index
        )
        == 2
    )


def test_a_classifier_shows_what_it_is():
    shown = repr(robgui.Classifier.from_callable(lambda x: x[:, :2], (6,), name="two"))
    assert shown == "Classifier('two', table 6, 2 classes, cpu)"


@pytest.mark.parametrize("name", list(robgui.analyses()))
def test_no_setting_is_called_like_an_argument_of_run(name):
    own = set(inspect.signature(robgui.run).parameters) - {"params"}
    assert not own & set(robgui.analyses()[name].params.model_fields)


@pytest.mark.parametrize(
    "name", ["zonnscan_populations", "zonnscan_corner_cases", "zonnscan_watermark"]
)
def test_a_stored_setting_under_its_former_name_is_understood(name):
    params = robgui.analyses()[name].params
    assert params.parse({"inputs": 7}).most == 7
    assert "inputs" not in params.model_fields


def test_how_many_inputs_of_many_are_taken_can_be_said_from_python(model):
    result = robgui.run("zonnscan_populations", model, tiny.inputs(8), most=3, samples=4)
    assert len(result.index) == 6, "three inputs and their attacked copies"


def test_settings_may_be_texts_as_on_the_command_line(model, tmp_path):
    told = {"radii": (0.0, 0.1, 0.2), "samples": 32}
    typed = {"radii": "0:0.2:3", "samples": "32"}
    x = tiny.inputs()[0]
    as_numbers = robgui.run("zonnscan", model, x, **told)
    as_texts = robgui.run("zonnscan", model, x, **typed)
    np.testing.assert_array_equal(as_numbers.index, as_texts.index)
    with pytest.raises(ParamsError, match="samples"):
        robgui.run("zonnscan", model, x, samples="many")


def test_settings_of_a_model_may_be_texts_too(tmp_path):
    torch.jit.save(torch.jit.script(torch.nn.Linear(4, 3)), tmp_path / "m.pt")
    model = robgui.load(str(tmp_path / "m.pt"), shape="4", low="-1", high="1,2,3,4")
    assert model.settings.low == (-1.0,) and model.settings.high == (1.0, 2.0, 3.0, 4.0)
    assert robgui.load(tmp_path / "m.pt", labels=("a", "b", "c")).labels == ("a", "b", "c")


def test_type_checkers_are_told_that_robgui_has_types():
    assert (Path(robgui.__file__).parent / "py.typed").is_file()
