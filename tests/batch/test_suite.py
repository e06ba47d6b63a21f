from __future__ import annotations

import pytest
import torch
from torch import nn

from robgui import resources
from robgui.batch import expand, read_suite
from robgui.batch.summary import sentences
from robgui.core.errors import ParamsError
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from tests.batch import small
from tests.batch.small import HEAD

SCAN = '[[analyses]]\nname = "zonnscan"\n'


def requests(files, text):
    return small.plan(files, text).requests


def refused(files, text: str) -> str:
    with pytest.raises(ParamsError) as caught:
        small.plan(files, text)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "suite.toml" in sentence
    return sentence


def test_a_suite_is_the_product_of_models_inputs_and_grid(files):
    made = requests(
        files,
        SCAN
        + 'index = "0:4"\nparams = { samples = 32 }\ngrid = { seed = [0, 1, 2], zone = ["linf",'
        ' "l2"] }',
    )
    assert len(made) == 3 * 4 * 3 * 2
    assert len({each.request.fingerprint for each in made}) == len(made)
    assert made[0].request.params["samples"] == 32
    assert made[0].title == "zonnscan net_0.safetensors images.npz input 0 seed=0 zone=linf"


def test_a_request_that_comes_twice_is_run_once(files):
    assert len(requests(files, SCAN + "index = 1\n" + SCAN + "index = [0, 1]")) == 6


def test_names_queries_and_typed_values_choose_and_set(files):
    made = requests(
        files,
        SCAN
        + 'models = ["net_[01]*"]\nselect = "label=2 and index<10"\nparams = { radii = "0:0.2:3" }',
    )
    assert [(each.request.models[0].name[:5], each.request.indices) for each in made] == [
        ("net_0", (2,)),
        ("net_0", (7,)),
        ("net_1", (2,)),
        ("net_1", (7,)),
    ]
    assert made[0].request.params["radii"] == [0.0, 0.1, 0.2]


def test_an_analysis_of_many_inputs_takes_them_together_and_one_of_several_models_takes_all(files):
    (whole,) = requests(files, '[[analyses]]\nname = "zonnscan_corner_cases"\n')
    assert len(whole.request.models) == 3
    assert whole.request.indices is None
    made = requests(
        files, '[[analyses]]\nname = "zonnscan_populations"\nindex = "0:6"\nshards = 4\n'
    )
    assert [each.request.indices for each in made] == [(0, 1, 2, 3, 4, 5)] * 3
    assert made[0].parts == (range(1), range(1, 3), range(3, 4), range(4, 6))


def test_what_does_not_fit_is_left_out_in_a_sentence(files):
    text = (
        HEAD
        + '[[models]]\npath = "demo:table_mlp.onnx"\n[[datasets]]\npath = "demo:table.csv"\n'
        + SCAN
        + "index = 0"
    )
    plan = small.plan(files, text)
    assert len(plan.requests) == 4
    assert any(
        "table_mlp.onnx takes table rows, but images.npz holds images" in why
        for why in plan.left_out
    )


def test_a_model_may_be_for_some_datasets_only(files):
    text = (
        HEAD.replace('.safetensors"', '.safetensors"\ndatasets = ["other*"]') + SCAN + "index = 0"
    )
    assert "nothing in this suite fits it" in refused(files, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[analyses]]\nindex = 0", "[[analyses]] 1, name is missing"),
        (
            SCAN + 'index = 0\ncolour = "red"',
            "[[analyses]] 1, colour: there is no such field; the fields are: index",
        ),
        (SCAN + "index = 0\nshards = 0", "[[analyses]] 1, shards"),
        (SCAN + "index = 0\nshards = 2", "cannot be split"),
        (SCAN + "index = 0\ngrid = { seed = [] }", "[[analyses]] 1, grid: seed has an empty list"),
        (SCAN + "index = 0\ngrid = { seed = 3 }", "[[analyses]] 1, grid.seed"),
        (SCAN + "index = 0\nparams = { samples = 0 }", "[[analyses]] 1 (zonnscan): samples = 0"),
        (
            SCAN + "index = 0\ngrid = { colour = [0] }",
            "[[analyses]] 1 (zonnscan): there is no setting 'colour'",
        ),
        (SCAN + "index = 99", "there is no item 99"),
        (SCAN + 'index = "x"', "index 'x' is not understood"),
        (SCAN + 'select = "label=99"', "fits select"),
        (SCAN, "looks at one input at a time"),
        (
            SCAN + 'index = 0\nmodels = ["unknown"]',
            "models: the suite opens nothing called 'unknown'",
        ),
        ('[[analyses]]\nname = "guess"', "There is no analysis 'guess'"),
        ("", "analyses is missing"),
        ("analyses = []", "analyses"),
        (
            'device = "cpu"\n[[models]]\npath = "nothing*"\n' + SCAN,
            "[[models]] 1, path: there is no file",
        ),
        ('[[models]]\npath = "images.npz"\n' + SCAN, "[[models]] 1, "),
        (HEAD + "colour = [", "no TOML"),
    ],
)
def test_each_error_is_one_sentence_that_names_file_table_and_field(files, text, expected):
    assert expected in refused(files, text)


@pytest.mark.parametrize("said", ["", "trust = true\n"])
def test_a_suite_cannot_vouch_for_the_code_of_its_models(files, said):
    text = HEAD.replace('.safetensors"\n', f'.safetensors"\n{said}') + SCAN + "index = 0"
    with pytest.raises(
        ParamsError, match="A suite cannot say so itself: add --trust to the command"
    ):
        small.plan(files, text, trust=False)
    assert len(small.plan(files, text).trusted) == 3


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(ParamsError, match=r"gone\.toml: the suite cannot be read"):
        read_suite(tmp_path / "gone.toml")


def test_the_suite_of_the_demo_is_understood():
    plan = expand(read_suite(resources.path("demo", "suite.toml")), "cpu")
    assert len(plan.requests) == 3 * 4 * 2 + 3 * 2 + 3
    assert not plan.left_out


def test_rows_that_cannot_be_read_are_said_in_the_plan(files, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,label\n0.1,0.2,x\n0.3,,y\n0.5\n0.1,0.4,y\n")
    torch.jit.trace(nn.Linear(2, 2), torch.rand(2, 2)).save(tmp_path / "m.pt")
    text = (
        '[[models]]\npath = "m.pt"\n[[datasets]]\npath = "rows.csv"\n[[analyses]]\nname ='
        ' "zonnscan"\nindex = 0\n'
    )
    made = small.plan(tmp_path, text)
    assert made.left_out == (
        "2 files or rows of rows.csv, the first: row 4: it has 1 cell, the header has 3.",
    )


def test_one_request_is_not_spoken_of_as_many(files, workspace):
    plan = small.plan(
        files,
        SCAN + 'models = ["net_0*"]\nindex = 0\nparams = { samples = 16, radii = [0.0, 0.1] }',
    )
    progress = small.run(plan, workspace, Inline(LoadedCache("cpu")))
    assert next(sentences(progress, [], ())) == "1 request: 1 done."
