"""A multi-label model from end to end: two garments side by side in one image."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from robgui import resources
from robgui.analyses.deepinspect import napvd, pair_inputs, rho, type2conf
from robgui.core.dataset import Dataset, open_dataset
from robgui.core.execution.registry import find
from robgui.core.execution.request import build_request
from robgui.core.model.classifier import Classifier
from tests.analyses.deepinspect.nets import inspect, run, said, told, views_of
from tests.inline import steps


def tiled(path: Path, count: int, seed: int) -> Dataset:
    """Two garments of the demo side by side, 14 x 28 pixels, saved and opened as a user would."""
    rng = np.random.default_rng(seed)
    demo = open_dataset(resources.path("demo", "fashion.npz"))
    pixels = (demo.array()[:, 0].reshape(-1, 14, 2, 14, 2).mean((2, 4)) * 255).astype(np.uint8)
    left, right = rng.integers(0, len(demo), (2, count))
    labels = np.zeros((count, 10), dtype=np.uint8)
    for side in (left, right):
        labels[np.arange(count), demo.labels[side]] = 1
    np.savez(
        path,
        images=np.concatenate([pixels[left], pixels[right]], 2),
        labels=labels,
        names=np.array(demo.names),
    )
    return open_dataset(path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Classifier, Dataset]:
    folder = tmp_path_factory.mktemp("tiles")
    learning, test = tiled(folder / "train.npz", 1500, 0), tiled(folder / "test.npz", 600, 1)
    torch.manual_seed(0)
    net = nn.Sequential(
        *(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(8 * 7 * 14, 48), nn.ReLU(), nn.Linear(48, 10)),
    )
    x, y = torch.from_numpy(learning.array()), torch.from_numpy(learning.label_matrix).float()
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-3)
    for rows in [rows for _ in range(5) for rows in torch.randperm(len(x)).split(50)]:
        optimiser.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(net(x[rows]), y[rows]).backward()
        optimiser.step()
    return Classifier.from_module(
        net, (1, 14, 28), learning.names, "tiles", output="logits", multi_label=True
    ), test


def test_two_garments_per_image_end_to_end(trained: tuple[Classifier, Dataset]):
    classifier, dataset = trained
    request = build_request("deepinspect", [classifier], dataset, {"cutoff": 1})
    *_, step = steps(request, None, [classifier], dataset)
    result = step.result
    predicted = classifier.infer(dataset.array()).numpy() > 0
    assert np.array_equal(np.unpackbits(result.predicted_bits, axis=1)[:, :10], predicted)
    assert (
        np.array_equal(result.counts, predicted.sum(0))
        and result.without == (~predicted.any(1)).sum()
    )
    assert (
        np.allclose(result.type2conf, type2conf(dataset.label_matrix, predicted), equal_nan=True)
        and result.type1conf.size == 0
    )
    assert result.accuracy > 0.8 and result.confusion is not None and np.isfinite(result.precision)
    assert (
        "DeepInspect" in find("deepinspect").title
        and "By the labels" in said("deepinspect", result).text
    )
    assert result.aucec > 0.5
    wrong = pair_inputs(result, *result.confusion.true_pairs[0].tolist())
    a, b = result.confusion.true_pairs[0]
    first = wrong.places[0]
    assert (
        wrong.wrong[0]
        and predicted[first, a]
        and predicted[first, b]
        and dataset.label_matrix[first, [a, b]].sum() == 1
    )
    assert views_of("deepinspect", result)
    for name in ("deepinspect_thresholds", "deepinspect_coverage"):
        more = run(name, classifier, dataset)[-1].result
        assert said(name, more).text and views_of(name, more)


def test_members_are_all_labels_above_one_half_in_any_batch_size():
    x = np.random.default_rng(0).random((50, 6)) - 0.5
    classifier, dataset = told(x, 4, x[:, :4] > 0.1, multi_label=True)
    classifier = classifier.with_settings(classifier.settings.change(low=(-1.0,), high=(1.0,)))
    whole, small = (inspect(classifier, dataset, batch=batch) for batch in (0, 7))
    member = x[:, :4] > 0
    low, high = x.min(1, keepdims=True), x.max(1, keepdims=True)
    assert np.array_equal(whole.counts, member.sum(0)) and np.array_equal(whole.rho, small.rho)
    assert np.allclose(whole.rho, rho((x - low) / (high - low) > 0.5, member), atol=1e-6)
    assert np.allclose(whole.napvd, napvd(whole.rho), atol=1e-6) and np.array_equal(
        whole.type2conf, small.type2conf, equal_nan=True
    )


def test_a_model_that_predicts_nothing_says_so():
    classifier, dataset = told(np.full((20, 4), -0.3), 3, multi_label=True)
    classifier = classifier.with_settings(classifier.settings.change(low=(-1.0,), high=(1.0,)))
    result = inspect(classifier, dataset)
    assert result.counts.tolist() == [0, 0, 0] and result.without == 20 and len(result.empty) == 3
    known = find("deepinspect")
    assert "predicts no class for any input" in said("deepinspect", result).text
    assert not known.findings(result, known.params())
    assert any("20 inputs" in remark for remark in result.remarks) and math.isnan(
        result.confusion_limit
    )
    assert said("deepinspect", result).status == "unknown"
    coverage = run("deepinspect_coverage", classifier, dataset)[-1].result
    assert np.isnan(coverage.neuron).all()
    assert (
        run("deepinspect_thresholds", classifier, dataset)[-1].result.confusion.reported.tolist()
        == [0] * 5
    )
    assert views_of("deepinspect", result)


def test_one_label_per_input_serves_a_multi_label_model_too():
    x = np.random.default_rng(0).random((60, 5))
    classifier, dataset = told(x, 3, np.arange(60) % 3, multi_label=True)
    result = inspect(classifier, dataset)
    assert (
        result.type2conf.shape == (3, 3)
        and np.isfinite(result.type2conf).all()
        and result.true.size == 0
    )
