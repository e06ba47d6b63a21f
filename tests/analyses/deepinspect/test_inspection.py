"""The engine against the definitions, its edges and its contract."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from robgui.analyses.deepinspect import (
    DeepInspectResult,
    avg_bias,
    avg_cd,
    clustered,
    difference,
    inspection,
    napvd,
    pair_inputs,
    pair_neurons,
    type1conf,
)
from robgui.analyses.deepinspect.counting.neurons import read
from robgui.core.codec import decode, encode
from robgui.core.dataset import from_arrays
from robgui.core.errors import DataError, ModelError, ParamsError
from robgui.core.execution.registry import find
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status
from tests.analyses.deepinspect import slow
from tests.analyses.deepinspect.nets import images, inspect, run, said, small_cnn, told, views_of
from tests.guards import count_host_syncs, no_deviceless_factories


def literal(
    classifier: Classifier, x: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """rho and predictions by running the network layer by layer and every definition by hand."""
    value = torch.from_numpy(x)
    outputs = []
    for layer in classifier.backend.module:
        value = layer(value)
        if isinstance(layer, nn.Conv2d | nn.Linear):
            outputs.append(value.detach().double().numpy())
    predicted = value.detach().numpy().argmax(1)
    act = np.array(
        [
            np.concatenate([slow.scaled(layer[i]) for layer in outputs[:-1]]) > threshold
            for i in range(len(x))
        ]
    )
    return slow.rho(act, np.eye(classifier.classes)[predicted]), predicted


class EveryPlace(nn.Module):
    """A linear layer at every place of the picture, as in ConvNeXt and Swin."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.units, self.last = nn.Conv2d(1, 3, 3), nn.Linear(3, 5), nn.Linear(5, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.units(self.conv(x).permute(0, 2, 3, 1)).mean((1, 2)))


@pytest.mark.parametrize("kind", ["module", "export", "script"])
def test_the_units_of_a_linear_layer_at_every_place_of_a_picture_are_its_neurons(
    kind: str, tmp_path: Path
):
    torch.manual_seed(0)
    module, example = EveryPlace().eval(), torch.rand((2, 1, 6, 8), device="cpu")
    if kind == "module":
        classifier = Classifier.from_module(module, (1, 6, 8))
    elif kind == "export":
        torch.export.save(
            torch.export.export(module, (example,), dynamic_shapes=({0: torch.export.Dim("n")},)),
            tmp_path / "m.pt2",
        )
        classifier = load(tmp_path / "m.pt2", shape=(1, 6, 8))
    else:
        torch.jit.save(torch.jit.script(module), tmp_path / "m.pt")
        classifier = load(tmp_path / "m.pt", shape=(1, 6, 8))
    x = torch.rand((4, 1, 6, 8), device="cpu")
    layer = module.units(module.conv(x).permute(0, 2, 3, 1)).detach()
    scaled = (layer.mean((1, 2)) - layer.amin((1, 2, 3))[:, None]) / (
        layer.amax((1, 2, 3)) - layer.amin((1, 2, 3))
    )[:, None]
    (reading,) = read(classifier, from_arrays(x.numpy()), batch=0, last_layer=False)
    assert reading.sizes == [3, 5] and torch.allclose(
        reading.scaled()[:, 3:].cpu(), scaled, atol=1e-6
    )


@pytest.mark.parametrize("threshold", [0.3, 0.5])
def test_the_result_is_the_letter_of_the_definitions(threshold: float):
    classifier, dataset = small_cnn(), images()
    result = inspect(classifier, dataset, threshold=threshold)
    rho, predicted = literal(classifier, dataset.array(), threshold)
    assert result.layers == ("0", "2", "5") and result.layer_sizes.tolist() == [3, 5, 6]
    assert np.array_equal(result.predicted, predicted) and np.array_equal(
        result.counts, np.bincount(predicted, minlength=4)
    )
    assert np.allclose(result.rho, rho, atol=1e-6, equal_nan=True) and 0 < np.nanmean(rho) < 1
    assert np.allclose(result.napvd, napvd(rho), equal_nan=True, atol=1e-6)
    assert np.allclose(result.avg_bias, avg_bias(napvd(rho)), equal_nan=True, atol=1e-6)
    assert np.allclose(result.type1conf, type1conf(dataset.labels, predicted, 4), equal_nan=True)
    assert np.allclose(result.avg_cd, avg_cd(result.type1conf), equal_nan=True)
    assert result.mode == pytest.approx(
        napvd(classifier.backend.module[-1].weight.numpy().T), abs=1e-6
    )
    assert (
        result.done == 90
        and result.model_calls == 90 + min(256, (predicted != dataset.labels).sum())
        and result.complete
        and result.accuracy == (predicted == dataset.labels).mean()
    )


def test_the_prediction_side_never_sees_labels():
    classifier = small_cnn()
    with_labels, without = inspect(classifier, images()), inspect(classifier, images(labels=False))
    for name in (
        "rho",
        "napvd",
        "avg_bias",
        "confusion_pairs",
        "bias_pairs",
        "triplets",
        "mode",
        "counts",
    ):
        assert np.array_equal(getattr(with_labels, name), getattr(without, name), equal_nan=True), (
            name
        )
    assert with_labels.confusion is not None and without.confusion is None and without.bias is None
    assert (
        without.type1conf.size
        == without.type2conf.size
        == without.avg_cd.size
        == without.true.size
        == 0
    )
    assert all(
        math.isnan(getattr(without, name))
        for name in ("precision", "recall", "aucec", "aucec_mode", "spearman_confusion")
    )
    assert any("no labels" in remark for remark in without.remarks)


def test_the_batch_size_never_changes_the_result():
    classifier = small_cnn()
    whole, small = (inspect(classifier, images(), batch=batch) for batch in (0, 7))
    assert np.array_equal(whole.rho, small.rho, equal_nan=True) and np.array_equal(
        whole.predicted, small.predicted
    )
    assert np.allclose(whole.napvd, small.napvd, equal_nan=True) and np.array_equal(
        whole.confusion_pairs, small.confusion_pairs
    )


def test_steps_sharpen_and_each_is_complete(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    monkeypatch.setattr(
        "robgui.analyses.deepinspect.counting.neurons.GrowingPace.due", lambda self: True
    )
    monkeypatch.setattr(
        "robgui.analyses.deepinspect.counting.neurons.GrowingPace.made", lambda self: None
    )
    steps = run("deepinspect", small_cnn(), images(), batch=10)
    dones = [step.done for step in steps]
    assert (
        dones == sorted(dones) and steps[-1].done == steps[-1].total == 90 and len(set(dones)) == 9
    )
    last = steps[-1].result
    errors = [
        np.nanmean(np.abs(step.result.napvd - last.napvd))
        for step in steps
        if np.isfinite(step.result.napvd).all() and not step.result.napvd_high.size
    ]
    errors = [error for error in errors if error > 0]
    assert errors[0] > errors[len(errors) // 2] > errors[-1]
    assert said("deepinspect", steps[0].result).text


def test_large_results_leave_rho_out_of_live_steps_and_keep_it_small_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(inspection, "RHO_LIVE", 10)
    monkeypatch.setattr(inspection, "RHO_SINGLE", 20)
    steps = run("deepinspect", small_cnn(), images(), batch=10)
    assert (
        steps[0].result.rho.shape == (0, 4)
        and steps[-1].result.rho.shape == (14, 4)
        and steps[-1].result.rho.dtype == np.float16
    )
    monkeypatch.setattr(inspection, "RHO_LARGEST", 50)
    last = inspect(small_cnn(), images())
    assert (
        last.rho.shape == (0, 4)
        and "Too many neurons" in last.remarks[-1]
        and len(pair_neurons(last, 0, 1).most) == 0
    )


def test_every_tensor_is_made_on_a_named_device_and_waits_do_not_follow_the_inputs():
    classifier = small_cnn()
    with no_deviceless_factories():
        inspect(classifier, images())
    counts = []
    for size in (64, 512):
        with count_host_syncs() as syncs:
            inspect(classifier, images(size), batch=size // 4)
        counts.append(syncs.total)
    assert counts[1] < counts[0] + 100


def test_a_batch_that_does_not_fit_is_halved(monkeypatch: pytest.MonkeyPatch):
    classifier = small_cnn()
    expected = inspect(classifier, images())
    real = classifier.activations

    def starving(x: Any, reduce: Any) -> Any:
        if len(x) > 20:
            raise MemoryError("out of memory")
        return real(x, reduce)

    monkeypatch.setattr(classifier, "activations", starving)
    result = inspect(classifier, images())
    assert np.array_equal(result.rho, expected.rho, equal_nan=True) and result.done == 90
    monkeypatch.setattr(
        classifier,
        "activations",
        lambda x, reduce: (_ for _ in ()).throw(MemoryError("out of memory")),
    )
    with pytest.raises(ModelError, match="a single input"):
        inspect(classifier, images(3))


def test_classes_never_predicted_are_left_out_and_named():
    x = np.zeros((40, 6))
    x[np.arange(40), np.arange(40) % 3] = 1
    classifier, dataset = told(x, 5, np.arange(40) % 5, labels=("ant", "bee", "cat", "dog", "eel"))
    result = inspect(classifier, dataset)
    assert result.empty.tolist() == [3, 4] and np.isnan(result.rho[:, 3:]).all()
    listed = np.concatenate(
        [
            result.confusion_top,
            result.confusion_pairs,
            result.bias_pairs,
            result.bias_top,
            result.true.reshape(-1, 2)[:0],
        ]
    )
    assert set(listed.ravel().tolist()) <= {0, 1, 2} and result.confusion.pairs == 3
    assert any("dog, eel" in remark for remark in result.remarks)


def test_few_members_are_a_warning():
    x = np.zeros((40, 3))
    x[:, 0] = 0.5
    x[:20, 1], x[20:23, 2] = 1, 1
    classifier, dataset = told(x, 3)
    assert any(
        "Fewer than 10" in remark and ": 2." in remark
        for remark in inspect(classifier, dataset).remarks
    )


def test_one_predicted_class_has_no_pair_and_says_so():
    x = np.tile([0.9, 0.1, 0.2], (30, 1))
    classifier, dataset = told(x, 3, np.arange(30) % 3)
    result = inspect(classifier, dataset)
    assert (
        len(result.confusion_pairs) == len(result.confusion_top) == len(result.bias_top) == 0
        and result.confusion.pairs == 0
    )
    # two of the three labelled classes are never right
    assert said("deepinspect", result).status is Status.FAILS
    without = inspect(*told(x, 3))
    assert (
        "predicts “0” for every input" in said("deepinspect", without).text and not without.exhibits
    )
    assert said("deepinspect", without).status is Status.UNKNOWN


def test_two_classes_have_one_pair_and_no_bias():
    x = np.random.default_rng(0).random((30, 4))
    classifier, dataset = told(x, 2)
    result = inspect(classifier, dataset)
    assert (
        result.confusion_top.tolist() == [[0, 1]]
        and len(result.confusion_pairs) == 0
        and np.isnan(result.avg_bias[0, 1])
    )
    words = said("deepinspect", result)
    assert (
        "none of 1 pair stands out" in words.sentence
        and words.status is Status.UNKNOWN
        and len(result.bias_top) == 0
    )


def test_a_constant_layer_activates_nothing():
    class Flat(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.flat, self.head = nn.Linear(3, 4), nn.Linear(3, 3)
            self.flat.weight.data.zero_()
            self.flat.bias.data.fill_(7.0)
            self.head.weight.data, self.head.bias.data = torch.eye(3), torch.zeros(3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(x + 0 * self.flat(x)[:, :1])

    classifier = Classifier.from_module(Flat(), (3,), output="logits")
    result = inspect(
        classifier,
        from_arrays(np.random.default_rng(0).random((30, 3), dtype=np.float32), kind="table"),
        threshold=0.0,
    )
    assert (
        not result.rho.any()
        and not result.napvd.any()
        and len(result.confusion_pairs) == 0
        and len(result.confusion_top) == 1
    )
    assert said("deepinspect", result).text


def test_a_model_with_one_layer_needs_the_last_layer_switched_on():
    classifier = Classifier.from_module(nn.Linear(5, 3), (5,), output="logits")
    dataset = from_arrays(np.random.default_rng(0).random((20, 5), dtype=np.float32), kind="table")
    with pytest.raises(ModelError, match="last_layer"):
        inspect(classifier, dataset)
    assert inspect(classifier, dataset, last_layer=True).layer_sizes.tolist() == [3]


def test_a_model_that_returns_nan_a_black_box_and_no_inputs_are_refused():
    classifier = small_cnn()
    classifier.backend.module[0].bias.data[0] = float("nan")
    with pytest.raises(ModelError, match="not finite"):
        inspect(classifier, images(10))
    assert "activations" in find("deepinspect").refusal(Classifier.from_callable(np.asarray, (3,)))
    with pytest.raises(DataError, match="needs inputs"):
        inspect(small_cnn(), images(10).subset([]))


@pytest.mark.parametrize(
    "values",
    [
        {"threshold": 1.0},
        {"cutoff": -1},
        {"top_percent": 0},
        {"norm": "l1"},
        {"bias_filter": "high"},
    ],
)
def test_a_bad_setting_is_refused_in_one_sentence(values: dict[str, Any]):
    with pytest.raises(ParamsError, match=rf"{next(iter(values))} = .*\.$"):
        find("deepinspect").params.parse(values)


def test_findings_name_both_classes_and_show_inputs_that_are_mixed_up():
    rng = np.random.default_rng(0)
    true = np.arange(200) % 5
    x = rng.uniform(0, 0.2, (200, 8))
    x[np.arange(200), true] += 0.6
    x[np.arange(200), np.where(true < 2, 1 - true, true)] += np.where(
        rng.random(200) < 0.25, 0.7, 0.4
    )
    classifier, dataset = told(
        np.clip(x, 0, 1), 5, true, labels=("shirt", "blouse", "shoe", "bag", "hat")
    )
    result = inspect(classifier, dataset, most_wrong=0.05)
    assert (
        result.confusion_pairs[0].tolist() == [0, 1]
        and result.precision == 1
        and result.recall == 1
    )
    known = find("deepinspect")
    found = known.findings(result, known.params())
    assert [one.kind for one in found[:2]] == ["class", "class"] and {
        one.detail["class"] for one in found[:2]
    } == {"shirt", "blouse"}
    first = next(one for one in found if one.kind == "confusion")
    assert (
        first.kind == "confusion"
        and "“shirt” and “blouse”" in first.title
        and first.detail["truly_confused"] is True
    )
    assert first.picture.dtype == np.uint8 and first.input.shape == (8,) and 0 < first.severity <= 1
    assert (
        all(true[i] != result.predicted[i] for i in first.detail["inputs"])
        and first.detail["wrong"] > 0
    )
    words = said("deepinspect", result)
    assert (
        words.status is Status.FAILS
        and "and taken for “" in words.sentence
        and "right in" in words.sentence
    )
    assert (
        "“shirt” and “blouse” look most alike to the network; 1 of 10 pairs stands out, 1 of"
        " them beyond noise." in words.because
    )
    assert (
        "220 model calls" in words.scope  # 20 wrong inputs were looked at again
        and words.number.low <= words.number.value <= words.number.high
    )
    assert all(
        np.isfinite(finding.severity) and 0 <= finding.severity <= 1
        for finding in known.findings(result, known.params())
    )


def test_a_click_on_a_pair_gives_wrong_inputs_first_and_its_neurons():
    classifier, dataset = small_cnn(), images()
    result = inspect(classifier, dataset)
    found = pair_inputs(result, 0, 1)
    wrong = {
        tuple(sorted((int(result.true[i]), int(result.predicted[i]))))
        for i in found.places[found.wrong]
    }
    assert wrong <= {(0, 1)} and not found.wrong[int(found.wrong.sum()) :].any()
    assert all({int(result.true[i]), int(result.predicted[i])} & {0, 1} for i in found.places)
    neurons = pair_neurons(result, *result.confusion_top[0].tolist(), count=3)
    gaps = np.abs(
        result.rho[:, result.confusion_top[0][0]] - result.rho[:, result.confusion_top[0][1]]
    )
    assert gaps[neurons.most[0]] == gaps.max() and gaps[neurons.least[0]] <= gaps[neurons.least[-1]]
    assert all(name.split(" #")[0] in result.layers for name in neurons.names.values())


def test_near_classes_stand_side_by_side_and_unknown_ones_last():
    points = np.array([[0.0, 10, 0.1, 10.1, np.nan, 5]])
    order = clustered(napvd(points)).tolist()
    assert (
        abs(order.index(0) - order.index(2)) == 1 == abs(order.index(1) - order.index(3))
        and order[-1] == 4
    )


def test_two_models_are_compared_by_the_names_of_their_classes():
    first, second = (
        inspect(small_cnn(seed=seed, labels=names), images())
        for seed, names in ((0, tuple("abcd")), (0, tuple("abcd")))
    )
    assert np.nanmax(np.abs(difference(first, second).change)) == 0 and difference(
        first, second
    ).spearman == pytest.approx(1)
    with pytest.raises(DataError, match="same classes"):
        difference(first, inspect(small_cnn(labels=tuple("abce")), images()))


def test_the_result_survives_the_workspace():
    result = inspect(small_cnn(), images())
    again = decode(DeepInspectResult, *encode(result))
    assert (
        np.array_equal(again.rho, result.rho, equal_nan=True)
        and again.confusion.aucec == result.confusion.aucec
    )
    assert len(again.exhibits) == len(result.exhibits) > 0 and np.array_equal(
        again.exhibits[0].picture, result.exhibits[0].picture
    )
    assert said("deepinspect", again).text == said("deepinspect", result).text


def test_one_input_is_not_spoken_of_as_many():
    assert (
        said("deepinspect", inspect(small_cnn(), images().subset([0]))).scope
        == "1 input of noise, 1 model call."
    )


def test_labels_lead_three_ruined_classes_are_the_headline_and_the_first_findings():
    """Twenty classes; three are nearly always taken for another one, all the others are nearly
    always right.
    """
    rng = np.random.default_rng(1)
    true = np.arange(800) % 20
    given = true.copy()
    for ruined, other in ((3, 4), (11, 2), (17, 18)):
        rows = np.flatnonzero(true == ruined)
        given[rows[: round(0.8 * len(rows))]] = other
    given[rng.choice(800, 8, replace=False)] = 0
    x = rng.uniform(0, 0.2, (800, 24))
    x[np.arange(800), given] = 0.9
    result = inspect(*told(x, 20, true))
    known = find("deepinspect")
    words, found = said("deepinspect", result), known.findings(result, known.params())
    assert words.status is Status.FAILS and any(
        f"“{c}” is right in" in words.sentence for c in (3, 11, 17)
    )
    assert {one.detail["class"] for one in found[:3]} == {"3", "11", "17"} and all(
        one.kind == "class" for one in found[:3]
    )
    severities = [one.severity for one in found]
    assert min(severities[:3]) > max(severities[3:], default=0)
    matrix, bars, *_ = views_of("deepinspect", result)
    assert (
        matrix.title == "What is taken for what"
        and matrix.worst == "high"
        and set(bars.names[:3]) == {"3", "11", "17"}
    )


def test_without_labels_there_is_no_claim_about_quality():
    result = inspect(small_cnn(), images(labels=False))
    words = said("deepinspect", result)
    assert (
        words.status is Status.UNKNOWN and words.number is None and "needs labels" in words.sentence
    )
    assert views_of("deepinspect", result)[0].title == "Distance between classes"


def test_a_class_with_few_inputs_is_not_judged():
    x = np.eye(3)[np.arange(18) % 3] * 0.8 + 0.1
    words = said("deepinspect", inspect(*told(x, 3, np.arange(18) % 3)))
    assert words.status is Status.UNKNOWN and "fewer than 10 labelled inputs" in words.text


def test_a_result_of_the_first_edition_still_opens():
    document, blob = encode(inspect(small_cnn(), images()))
    document["fields"] |= {
        "threshold": 0.5,
        "norm": "paper",
        "bias_filter": "low",
        "cutoff": 1.0,
        "top_percent": 1.0,
    }
    assert decode(DeepInspectResult, document, blob).complete


def test_every_step_can_be_said_and_drawn():
    for step in run("deepinspect", small_cnn(), images(), batch=16):
        assert said("deepinspect", step.result).sentence and views_of("deepinspect", step.result)


def test_inputs_that_are_wrong_by_their_label_are_findings_the_surest_first():
    rng = np.random.default_rng(2)
    true = np.arange(400) % 4
    given = true.copy()
    given[[7, 50, 93]] = (true[[7, 50, 93]] + 1) % 4
    x = rng.uniform(0, 0.1, (400, 8))
    x[np.arange(400), given] = 0.5
    x[50, given[50]] = 1.0
    result = inspect(*told(x, 4, true))
    known = find("deepinspect")
    wrong = [one for one in known.findings(result, known.params()) if one.kind == "wrong input"]
    assert wrong[0].places[0] == 50
    assert {one.places[0] for one in wrong} == {7, 50, 93} and all(one.wrong for one in wrong)
    assert wrong[0].confusion == (str(true[50]), str(given[50])) and wrong[0].input is not None
    assert wrong[0].severity > wrong[1].severity and wrong[0].severity <= 0.7
    assert result.model_calls == 403 and "sure" in wrong[0].title


def test_a_step_does_not_change_when_the_engine_counts_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    steps = run("deepinspect", small_cnn(), images(90), batch=10)
    early = [step.result for step in steps if 0 < step.result.done < 90]
    assert early
    for result in early:
        assert int((result.predicted >= 0).sum()) == result.done
        words = said("deepinspect", result)
        assert words.sentence.startswith("So far, ") and "So far" in words.scope
    assert not said("deepinspect", steps[-1].result).sentence.startswith("So far")
