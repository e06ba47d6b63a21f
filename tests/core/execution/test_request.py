from __future__ import annotations

import numpy as np
import pytest

from robgui.core.dataset import from_arrays
from robgui.core.dataset.derived import Derived, DerivedDataset, numbered
from robgui.core.errors import ParamsError
from robgui.core.execution.registry import find
from robgui.core.execution.request import Request, build_request, reference, subject
from robgui.core.model.classifier import Classifier
from tests.core import tiny


@pytest.fixture
def model() -> Classifier:
    return tiny.classifier()


@pytest.fixture
def data():
    return from_arrays(tiny.inputs())


def ask(model, data, **params) -> Request:
    return build_request("tiny_confidence", [model], data, params)


def test_a_request_survives_json(model, data):
    request = build_request(
        "tiny-confidence", [model], data, {"radii": (0.0, 0.25)}, indices=np.array([1, 2])
    )
    assert Request.model_validate_json(request.model_dump_json()) == request
    assert request.analysis == "tiny_confidence"
    assert request.params["samples"] == 8


def test_a_wrong_setting_is_found_when_the_request_is_built(model, data):
    with pytest.raises(ParamsError, match="samples"):
        ask(model, data, samples=0)
    with pytest.raises(ParamsError, match="colour"):
        ask(model, data, colour=1)


def test_the_fingerprint_tells_what_matters_and_nothing_else(model, data):
    request = ask(model, data, samples=4)
    same = request.model_copy(
        update={
            "params": {"samples": 4},
            "models": (request.models[0].model_copy(update={"path": "/elsewhere"}),),
        }
    )
    assert same.fingerprint == request.fingerprint
    assert len(request.fingerprint) == 16
    others = [
        ask(model, data, samples=5),
        ask(tiny.classifier(1), data, samples=4),
        ask(model, from_arrays(tiny.inputs(6)), samples=4),
        request.model_copy(update={"indices": (0,)}),
        request.model_copy(update={"device": "cuda:1"}),
        request.model_copy(update={"autocast": True}),
    ]
    assert len({request.fingerprint, *(other.fingerprint for other in others)}) == 1 + len(others)
    assert (
        request.model_copy(update={"device": "cuda:0"}).fingerprint
        == request.model_copy(update={"device": "cuda"}).fingerprint
    )


def test_a_reference_holds_what_loading_needs(model, data):
    known = reference(model)
    assert (known.kind, known.path, known.fingerprint) == ("model", "", model.fingerprint)
    assert known.options["shape"] == [3]
    assert reference(data).kind == "dataset"


def test_settings_that_need_no_data_leave_the_data_out(model, data):
    from robgui.core.execution.registry import find

    known = find("semantic_map")
    mesh = known.params.parse({"scene": "cube"})
    assert not known.looks_at_data(mesh)
    request = build_request(known, [model], data, mesh, indices=[0])
    assert (request.dataset, request.indices) == (None, None)


def test_a_request_on_derived_inputs_names_exactly_those(model):
    made = [Derived(f"made {i}", np.full(3, i / 4, np.float32), "table", "f") for i in range(3)]
    family = DerivedDataset(numbered(made, [11, 12, 13]))
    request = build_request("tiny_confidence", [model], family, {}, indices=[0, 2])
    assert (request.dataset.options["derived"], request.indices) == ([11, 13], None)
    whole = build_request("tiny_confidence", [model], family, {})
    assert whole.dataset.options["derived"] == [11, 12, 13]


def test_a_reference_is_taken_as_it_is(model, data):
    known = reference(tiny.classifier(1))
    request = build_request("tiny_pair", [known, model], reference(data), {})
    assert request.models == (known, reference(model))
    assert request.dataset == reference(data)


def test_the_subject_says_which_model_on_which_input(model, data):
    request = build_request("tiny_confidence", [model], data, {}, indices=[1234])
    assert subject(request) == f"tiny on input 1,234 of {data.name}"
    assert (
        subject(request.model_copy(update={"indices": (1, 2)}))
        == f"tiny on 2 inputs of {data.name}"
    )
    assert subject(request.model_copy(update={"indices": None})) == f"tiny on {data.name}"
    assert subject(request.model_copy(update={"dataset": None})) == "tiny"


def test_a_request_of_some_inputs_says_of_how_many_and_how_they_were_chosen():
    data = from_arrays(np.zeros((6, 2), np.float32), name="six")
    known = find("deepinspect")
    some = build_request(known, [], data, {}, indices=(1, 2), how="label=red")
    assert some.chosen == "2 of 6 inputs (label=red)" and some.chosen in subject(some)
    assert build_request(known, [], data, {}, indices=range(6), how="x").chosen == ""
    one = build_request(known, [], data, {}, indices=(3,), how="label=red")
    assert one.chosen == "1 of 6 inputs (label=red)", "a filter left one of many"
    alone = build_request(find("zonnscan"), [], data, {}, indices=(3,), how="x")
    assert alone.chosen == "", "the input that is asked about"
    assert build_request(known, [], data, {}).chosen == ""
    plain = build_request(known, [], data, {}, indices=(1, 2))
    assert plain.chosen == "2 of 6 inputs" and plain.fingerprint == some.fingerprint


@pytest.mark.parametrize(
    ("chosen", "spread_over"),
    [
        ("2 of 9 inputs (evenly spread)", "data"),
        ("2 of 9 inputs (label=red, evenly spread)", "part"),
        ("2 of 9 inputs (label=evenly spread out)", ""),
        ("", ""),
    ],
)
def test_a_request_stored_before_its_spread_was_a_field_still_tells_it(chosen, spread_over):
    assert Request(analysis="tiny", chosen=chosen).spread_over == spread_over
    stored = Request(analysis="tiny", chosen=chosen, spread_over="").model_dump_json()
    assert Request.model_validate_json(stored).spread_over == "", "the field outweighs words"
