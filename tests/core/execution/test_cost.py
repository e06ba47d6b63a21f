"""What a run will cost: counted beforehand, true afterwards."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from torch import nn

import robgui
from robgui import resources
from robgui.core.dataset import from_arrays
from robgui.core.execution.budget.cost import Calls, Estimate, Subject, estimate
from robgui.core.execution.method import methods
from robgui.core.execution.registry import analyses
from robgui.core.model.card import card_of
from robgui.core.model.classifier import Classifier
from robgui.core.model.timing.times import CallTimes, timed


def demo(name):
    return resources.path("demo", name)


@pytest.mark.parametrize(
    ("likely", "longest", "calls", "words"),
    [
        (40, 40, (820, 820), "about 40 s, 820 calls"),
        (40, 55, (820, 1100), "about 55 s, about 950 calls"),
        (40, 125, (200, 2412), "about 40 s, at most 2.1 min; about 700 calls"),
        (0.01, 0.3, (7, 7), "under 1 s, 7 calls"),
        (0.5, 90, (1, 1800), "under 1 s, at most 1.5 min; about 42 calls"),
        (math.inf, math.inf, (820, 820), "820 calls"),
    ],
)
def test_an_estimate_reads_like_a_person_says_it(likely, longest, calls, words):
    assert Estimate(Calls(*calls), likely, longest).words == words


def test_what_mostly_happens_is_named_rather_than_the_middle_of_the_range():
    assert Calls(100, 10_000).likely == 1000 and Calls(1, 300, usual=300).likely == 300
    for name in ("accuracy", "corruptions", "tolerance"):
        known = analyses()[name]
        said = known.calls(known.params(), Subject(50, 1, "image", (3, 32, 32), 10, gradients=True))
        assert said.fewest <= said.usual <= said.most


def test_an_estimate_beyond_the_limit_says_that_the_run_will_be_cut():
    found = Estimate(Calls(820, 36_000), 41, 1800, limit=60)
    assert found.cut
    assert found.words == "about 41 s, cut at 1 min; about 5,400 calls"
    longer = Estimate(Calls(820, 36_000), 300, 1800, limit=60)
    assert longer.words == "cut at 1 min; without a limit about 5 min, about 5,400 calls"
    untimed = Estimate(Calls.exactly(820), math.inf, math.inf, limit=60)
    assert untimed.words == "cut at 1 min; 820 calls"
    assert not Estimate(Calls(820, 820), 41, 41, limit=60).cut


def test_what_cannot_be_timed_is_named_and_may_be_cut():
    calls = Calls(820, 820, uncounted="proofs")
    assert Estimate(calls, 40, 40).words == "about 40 s and the proofs, 820 calls"
    assert Estimate(calls, 40, 40, limit=60).cut


def test_making_the_inputs_counts_and_so_does_every_model():
    quick = CallTimes(alone=1e-5, together=1e-5, slope=3e-5, batch=64)
    assert Calls(100, 100, making=0.01).seconds(100, quick) == pytest.approx(1.001)
    known = analyses()["semantic_map"]
    large = Classifier.from_callable(
        lambda x: np.zeros((len(x), 3)), (3, 224, 224), name="large", output="logits"
    )
    card = replace(card_of(large), times=quick)
    cost = {
        (scene, many): estimate(known, known.params.parse({"scene": scene}), [card] * many, 1)
        for scene in ("image", "teapot")
        for many in (1, 5)
    }
    assert cost["image", 1].longest > 1000 * 0.001, "a picture of 224 pixels takes milliseconds"
    for scene in ("image", "teapot"):
        ratio = cost[scene, 5].longest / cost[scene, 1].longest
        assert ratio == pytest.approx(5, rel=0.01)


@pytest.mark.parametrize("name", ["semantic_map", "tolerance", "corruptions"])
def test_the_calls_of_several_models_are_those_of_each(name):
    known = analyses()[name]
    params = known.params.parse({})
    one, five = (
        known.calls(params, Subject(50, models, "image", (3, 32, 32), 10, gradients=True))
        for models in (1, 5)
    )
    assert five.most == pytest.approx(5 * one.most, rel=0.01)


def test_calls_in_small_batches_and_with_gradients_cost_more():
    times = CallTimes(alone=0.010, together=0.004, slope=0.020, batch=16)
    assert times.each() == times.each(16) == 0.004
    assert 0.004 < times.each(4) < times.each(2) < times.each(1) == 0.010
    assert Calls.exactly(100, slopes=10).seconds(100, times) == pytest.approx(90 * 0.004 + 0.2)
    slopes = Calls.exactly(10, slopes=10)
    assert replace(slopes, at_once=2).seconds(10, times) > slopes.seconds(10, times)


def test_every_analysis_of_ours_says_what_it_costs():
    ours = [known for method in methods() for known in method.analyses]
    assert [known.name for known in ours if known.calls is None] == [] and len(ours) > 10


def slow(seconds):
    def answer(x):
        time.sleep(seconds * len(x))
        return np.stack([np.asarray(x).reshape(len(x), -1).mean(1)] * 3, 1) * [[1, 2, 3]]

    return Classifier.from_callable(answer, (1, 8, 8), name="slow", output="logits")


def test_the_time_of_a_call_is_measured_once_and_leaves_no_trace():
    model = slow(0.003)
    before = model.calls
    times = model.times
    assert times.known and 0.002 < times.together < 0.03
    assert model.calls == before and model.times is times
    assert model.with_settings(model.settings).times is times


def test_a_slow_first_call_is_not_taken_for_the_speed_of_the_model():
    waits = iter([0.4, 0.3])

    def answer(x):
        time.sleep(next(waits, 0.0))
        return np.zeros((len(x), 2))

    model = Classifier.from_callable(answer, (4,), name="sleepy", output="logits")
    waits = iter([0.4])
    times = timed(model)
    assert times.alone < 0.2, times
    assert times.batch > 1, times


def test_a_model_that_fails_while_it_is_timed_has_no_times():
    def moody(x):
        if float(np.asarray(x).flat[0]) == 0.5 and len(x) != 2:
            raise ValueError("not that")
        return np.asarray(x).reshape(len(x), -1)[:, :3]

    model = Classifier.from_callable(moody, (1, 4, 4), name="moody", output="logits")
    assert not timed(model).known
    known = analyses()["semantic_map"]
    found = estimate(known, known.params.parse({}), [card_of(model)], 1)
    assert found is not None and found.words == "1,100 calls"


RUN = {
    "zonnscan": ("fashion_cnn.safetensors", "fashion.npz", [3], {"samples": 64}),
    "semantic_map": ("fashion_cnn.safetensors", "fashion.npz", [3], {}),
    "semantic_regions": ("fashion_cnn.safetensors", "fashion.npz", [3], {}),
    "feature_game": ("fashion_cnn.safetensors", "fashion.npz", [3], {"max_calls": 400}),
    "deepinspect": ("fashion_mlp.pt2", "fashion.npz", range(200), {}),
    "last_particle": ("fashion_mlp.pt2", "fashion.npz", [3], {}),
    "pipeline_audit": ("traffic_cnn.pt2", "traffic", range(20), {}),
    "zonnscan_populations": ("fashion_mlp.pt2", "fashion.npz", range(12), {"samples": 64}),
}


@pytest.mark.parametrize("name", RUN)
def test_a_run_makes_as_many_calls_as_was_said(name):
    model, data, inputs, settings = RUN[name]
    classifier = robgui.load(demo(model), device="cpu")
    dataset = robgui.open_dataset(demo(data)).subset(list(inputs))
    known = analyses()[name]
    params = known.params.parse(settings)
    subject = Subject(
        len(dataset),
        1,
        classifier.kind,
        tuple(classifier.shape),
        classifier.classes,
        classifier.capabilities.gradients,
    )
    said = known.calls(params, subject)
    going = robgui.steps(name, classifier, dataset, **settings)
    for _ in going:
        pass
    assert said.fewest <= going.execution.calls <= said.most


def test_wrong_inputs_that_are_looked_at_again_are_counted_beforehand():
    net = nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    for parameter in net.parameters():
        parameter.data.zero_()
    # Both scores are 0, so the first class is the answer to all inputs, and wrong for each.
    classifier = robgui.Classifier.from_module(net, (1, 2, 2), output="logits")
    x = np.random.default_rng(0).random((60, 1, 2, 2), dtype=np.float32)
    dataset = from_arrays(x, np.ones(60, dtype=np.int64), kind="image", name="wrong")
    known = analyses()["deepinspect"]
    said = known.calls(known.params(), Subject(60, 1, "image", (1, 2, 2), 2, gradients=True))
    going = robgui.steps("deepinspect", classifier, dataset)
    for _ in going:
        pass
    assert going.execution.calls == 120 <= said.most


@pytest.mark.parametrize(
    ("name", "inputs", "settings"),
    [
        ("semantic_map", 5, {"step": {"rotation": 30.0, "scale": 20.0}}),
        ("semantic_map", 1, {"step": {"rotation": 30.0, "scale": 20.0}, "target": "0"}),
        ("semantic_map", 0, {"scene": ("box",), "step": {"azimuth": 90.0, "elevation": 50.0}}),
        ("srvr", 2, {"iterations": 5}),
        ("srvr", 2, {"iterations": 5, "begin": "range"}),
        ("srvr", 0, {"iterations": 2, "scene": ("box",)}),
    ],
)
def test_a_run_over_several_shapes_makes_as_many_calls_as_was_said(name, inputs, settings):
    classifier = robgui.load(demo("fashion_cnn.safetensors"), device="cpu")
    dataset = None
    if inputs:
        dataset = robgui.open_dataset(demo("fashion.npz")).subset(range(inputs))
    known = analyses()[name]
    shape, classes = tuple(classifier.shape), classifier.classes
    subject = Subject(inputs, 1, classifier.kind, shape, classes, gradients=True)
    said = known.calls(known.params.parse(settings), subject)
    going = robgui.steps(name, classifier, dataset, **settings)
    for _ in going:
        pass
    assert said.fewest <= going.execution.calls <= said.most
