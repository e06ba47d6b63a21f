"""The watermark check: a marked copy against its model, or two models."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from robgui import resources
from robgui.analyses.zonnscan import (
    WatermarkParams,
    WatermarkResult,
    compare_models,
    embed,
    make_key,
)
from robgui.core.codec import decode, encode
from robgui.core.dataset import from_arrays, inputs, open_dataset
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.registry import find
from robgui.core.execution.step import Step
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from tests.analyses.zonnscan.models import exact_index, linear
from tests.guards import no_deviceless_factories

QUICK = {"size": 20, "runs": 3, "samples": 64, "rate": 0.01, "rounds": 400}


def watermark_steps(
    models: tuple[Classifier, ...],
    x: np.ndarray,
    labels: np.ndarray | None = None,
    **params: object,
) -> list[Step]:
    known = find("zonnscan_watermark")
    return list(
        known.engine(
            models, from_arrays(x.astype(np.float32), labels), known.params.parse(dict(params))
        )
    )


@pytest.fixture(scope="module")
def trained() -> tuple[Classifier, np.ndarray, np.ndarray]:
    """A small network that has learned two noisy stripes."""
    x = np.random.default_rng(0).random((400, 8), dtype=np.float32)
    y = (x[:, :4].mean(1) > x[:, 4:].mean(1)).astype(np.int64)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
    optimiser = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(150):
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(torch.from_numpy(x)), torch.from_numpy(y)).backward()
        optimiser.step()
    return Classifier.from_module(net, (8,), name="stripes"), x, y


def test_the_copy_gives_the_key_its_classes_and_the_model_is_untouched(
    trained: tuple[Classifier, np.ndarray, np.ndarray],
) -> None:
    classifier, x, y = trained
    before, fingerprint = classifier.infer(x), classifier.fingerprint
    step = watermark_steps((classifier,), x, y, **QUICK)[-1]
    result: WatermarkResult = step.result
    assert step.done == step.total and result.adversarial.sum() == 10 and result.rounds > 0
    assert (result.answers[0] != result.classes).tolist() == result.adversarial.tolist()
    assert result.back >= 8 and result.accuracy[0] > 0.95 and result.accuracy[1] > 0.85
    assert torch.equal(classifier.infer(x), before) and classifier.fingerprint == fingerprint
    assert not any(p.requires_grad for p in classifier.backend.module.parameters())
    (finding,) = find("zonnscan_watermark").findings(result, WatermarkParams(**QUICK))
    assert finding.kind == "changed boundary" and finding.input.shape == (8,) and result.ks_p < 1e-3


def test_leaving_early_leaves_the_model_as_it_was(
    trained: tuple[Classifier, np.ndarray, np.ndarray],
) -> None:
    classifier, x, y = trained
    before = classifier.infer(x)
    known = find("zonnscan_watermark")
    going = known.engine((classifier,), from_arrays(x, y), known.params.parse(QUICK))
    first = next(going)
    going.close()
    assert torch.equal(classifier.infer(x), before)
    assert np.isnan(first.result.ks_p) and not known.findings(
        first.result, WatermarkParams(**QUICK)
    )


def test_the_index_of_two_models_is_the_integral_over_the_zones() -> None:
    models = linear([6.0, -9.0], 1.0), linear([-3.0, 8.0], 0.5)
    x = np.array([[0.1, 0.4], [0.9, 0.2], [0.5, 0.5], [0.0, 1.0]])
    result = watermark_steps(models, x, mode="compare", radius=0.1, runs=4, samples=4000)[-1].result
    for index, (weights, bias) in zip(
        result.index, (([6.0, -9.0], 1.0), ([-3.0, 8.0], 0.5)), strict=True
    ):
        exact = [
            exact_index(weights, bias, list(np.maximum(v - 0.1, 0)), list(np.minimum(v + 0.1, 1)))
            for v in x
        ]
        assert index.mean(0) == pytest.approx(exact, abs=5e-3)
    assert result.rounds == 0 and not result.adversarial.any() and np.isnan(result.accuracy).all()


def test_a_model_compared_with_itself_is_the_same() -> None:
    model = linear([6.0, -9.0], 1.0)
    result = watermark_steps(
        (model, model), np.random.default_rng(0).random((10, 2)), mode="compare", runs=2
    )[-1].result
    assert (
        result.ks_p == 1 and result.kept == 1 and np.array_equal(result.index[0], result.index[1])
    )


def test_what_cannot_be_done_is_said_in_one_sentence() -> None:
    x = np.random.default_rng(0).random((10, 2))
    with pytest.raises(ModelError, match="needs two models"):
        watermark_steps((linear([1.0, 0.0], 0.0),), x, mode="compare")
    with pytest.raises(DataError, match="choose more inputs or another eps"):
        watermark_steps((linear([1.0, 0.0], 0.0),), x, size=50)

    def black_box(values: np.ndarray) -> np.ndarray:
        return np.stack([np.asarray(values)[:, 0], np.asarray(values)[:, 1]], 1).astype(float)

    with pytest.raises(ModelError, match="only models with weights in torch can carry a watermark"):
        watermark_steps((Classifier.from_callable(black_box, (2,), output="logits"),), x)


def test_every_step_survives_the_workspace_and_names_its_devices(
    trained: tuple[Classifier, np.ndarray, np.ndarray],
) -> None:
    classifier, x, y = trained
    with no_deviceless_factories():
        steps = watermark_steps((classifier,), x, y, **QUICK)
    for step in (steps[0], steps[-1]):
        again = decode(WatermarkResult, *encode(step.result))
        assert (
            np.array_equal(again.index, step.result.index, equal_nan=True)
            and again.models == step.result.models
        )


@pytest.mark.parametrize("name", ["fashion_mlp.pt2", "fashion_rnn.pt", "table_mlp.onnx"])
def test_every_torch_format_can_be_marked(name: str) -> None:
    classifier = load(resources.path("demo", name), device="cpu")
    dataset = open_dataset(
        resources.path("demo", "table.csv" if name.startswith("table") else "fashion.npz")
    )
    few = dataset.subset(range(200))
    x = inputs(classifier, few)
    key = make_key(classifier, x, few.labels, size=6, eps=0.1)
    before = classifier.infer(x)
    marked = embed(classifier, key, kept=x)
    assert (marked.infer(key.inputs).argmax(1).numpy() == key.classes).mean() >= 5 / 6
    assert marked.fingerprint != classifier.fingerprint and torch.equal(classifier.infer(x), before)


def test_holding_the_other_answers_keeps_the_accuracy(
    trained: tuple[Classifier, np.ndarray, np.ndarray],
) -> None:
    classifier, x, y = trained
    key = make_key(classifier, x, y, size=20, eps=0.1)
    free, held = (embed(classifier, key, rounds=400, rate=0.01, kept=kept) for kept in (None, x))
    accuracies = [(model.infer(x).argmax(1).numpy() == y).mean() for model in (free, held)]
    assert accuracies[1] >= accuracies[0] and accuracies[1] > 0.85


def test_a_watermark_puts_the_key_back_into_its_classes_and_the_index_sees_it(
    trained: tuple[Classifier, np.ndarray, np.ndarray],
) -> None:
    classifier, x, y = trained
    key = make_key(classifier, x, y, size=20, eps=0.1)
    before = classifier.infer(key.inputs).argmax(1).numpy()
    assert np.array_equal(before != key.classes, key.adversarial)
    marked = embed(classifier, key, rounds=400, rate=0.01)
    assert (marked.infer(key.inputs).argmax(1).numpy() == key.classes).mean() >= 0.9
    assert marked.fingerprint != classifier.fingerprint and np.array_equal(
        classifier.infer(key.inputs).argmax(1).numpy(), before
    )
    values, known = compare_models(classifier, marked, key.inputs, runs=3, samples=64)
    assert values.shape == (2, 3, 20) and known.ks_p < 1e-3
    same, unchanged = compare_models(classifier, classifier, key.inputs, runs=2, samples=64)
    assert np.array_equal(same[0], same[1]) and unchanged.ks_p == 1


def test_a_key_that_cannot_be_filled_says_how_many_inputs_there_are(
    trained: tuple[Classifier, np.ndarray, np.ndarray],
) -> None:
    classifier, x, y = trained
    with pytest.raises(DataError, match="choose more inputs or another eps"):
        make_key(classifier, x[:10], y[:10], size=50)
