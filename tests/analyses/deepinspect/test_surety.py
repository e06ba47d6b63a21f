"""How sure a pair is: intervals that cover, noise that is called noise, games that confirm."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from robgui import resources
from robgui.analyses.deepinspect.counting.kernels import finish, napvd
from robgui.analyses.deepinspect.counting.resampling import (
    GROUPS,
    Grouped,
    group_of,
    interval_rounds,
)
from robgui.core.dataset import Dataset, align, open_dataset
from robgui.core.execution.registry import find
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status


def drawn(
    rng: np.random.Generator, chances: np.ndarray, members: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Active neurons and classes of inputs whose neurons depend on one another.

    Neurons come in groups of five that are active together.
    """
    classes = np.repeat(np.arange(len(members)), members)
    rng.shuffle(classes)
    act = rng.random((len(classes), chances.shape[1])) < chances[classes]
    return np.repeat(act, 5, axis=1), classes


def intervals(act: np.ndarray, classes: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    member = np.eye(m, dtype=bool)[classes]
    grouped = Grouped(m, act.shape[1], torch.device("cpu"))
    grouped.add(
        np.arange(len(classes)), torch.from_numpy(member), torch.from_numpy(act.astype(np.float32))
    )
    rho = (act.T.astype(float) @ member) / member.sum(0)
    found = finish(interval_rounds(grouped, napvd(rho), "paper"))
    return found.low, found.high


@pytest.mark.parametrize("runs", [25, pytest.param(60, marks=pytest.mark.slow)])
def test_bootstrap_intervals_cover_the_true_distance(runs: int) -> None:
    rng = np.random.default_rng(0)
    chances = np.clip(rng.normal(0.4, 0.25, (4, 20)), 0.02, 0.98)
    chances[1] = np.clip(chances[0] + 0.05, 0, 1)  # a pair that looks alike
    members = np.array([60, 120, 200, 400])
    true = napvd(np.repeat(chances, 5, axis=1).T)
    upper = np.triu_indices(4, 1)
    inside = []
    for _ in range(runs):
        low, high = intervals(*drawn(rng, chances, members), 4)
        inside.append(((low <= true) & (true <= high))[upper])
    shares = np.mean(inside, axis=0)
    assert shares.mean() > 0.88 and shares.min() > 0.75, shares


def test_groups_are_chosen_by_the_number_of_the_input_and_are_about_equal() -> None:
    groups = group_of(np.arange(6400))
    assert np.bincount(groups, minlength=GROUPS).min() > 150
    assert np.array_equal(groups[100:], group_of(np.arange(100, 6400)))
    for period in (2, 10, 43):  # data that repeat their classes do not fall into one group
        assert len(np.unique(group_of(np.arange(0, 6400, period)))) == GROUPS


@pytest.fixture(scope="module")
def fashion() -> tuple[Classifier, Dataset]:
    classifier = load(resources.path("demo", "fashion_cnn.safetensors"), device="cpu")
    return classifier, align(classifier, open_dataset(resources.path("demo", "fashion.npz")))


def inspected(classifier: Classifier, dataset: Dataset, **params: object):
    known = find("deepinspect")
    settings = known.params.parse(dict(params))
    for step in known.engine(classifier, dataset, settings):
        result = step.result
    return known, result, settings


def table_of(known, result, params):
    view = next(one for one in known.views(result, params) if one.title == "Pairs that look alike")
    return {column.name: column.cells for column in view.columns}


def test_a_pair_within_noise_is_called_so_and_few_members_are_unknown(fashion) -> None:
    classifier, dataset = fashion
    many = table_of(*inspected(classifier, dataset))
    few_result = inspected(classifier, dataset.subset(range(0, 2000, 12)))
    few = table_of(*few_result)
    assert all(
        low <= d <= high
        for low, d, high in zip(many["at least"], many["Distance"], many["at most"], strict=True)
    )
    assert many["Beyond noise"].count("yes") > 0.5 * len(many["Beyond noise"])
    share = few["Beyond noise"].count("yes") / len(few["Beyond noise"])
    assert share < many["Beyond noise"].count("yes") / len(many["Beyond noise"])
    tiny = table_of(*inspected(classifier, dataset.subset(range(40))))
    assert set(tiny["Beyond noise"]) == {"unknown"}
    known, result, params = few_result
    assert "of them beyond noise" in known.verdict(result, params).text


def test_a_reported_pair_is_confirmed_by_a_game_that_counts_the_pixels_between_the_two(
    fashion,
) -> None:
    classifier, dataset = fashion
    known, result, params = inspected(classifier, dataset.subset(range(600)), confirm=1)
    a, b = result.confusion_pairs[0].tolist()
    assert [(one.first, one.second) for one in result.confirmations] == [(a, b), (b, a)]
    for one in result.confirmations:
        assert result.predicted[one.place] == one.first == result.true[one.place]
    fewest = min(one.pixels for one in result.confirmations if math.isfinite(one.pixels))
    names = f"“{result.classes[a]}” and “{result.classes[b]}” are {int(fewest)} pixel"
    assert names in known.verdict(result, params).text
    assert table_of(known, result, params)["Pixels apart"][0] == str(int(fewest))
    wrong = int((result.predicted != result.true).sum())  # asked again, to find the surest of them
    assert result.model_calls == 600 + wrong + sum(one.calls for one in result.confirmations)


def test_models_without_pixels_say_that_pairs_cannot_be_confirmed() -> None:
    classifier = load(resources.path("demo", "table_mlp.onnx"), device="cpu")
    dataset = align(classifier, open_dataset(resources.path("demo", "table.csv")))
    _, result, _ = inspected(classifier, dataset.subset(range(60)), confirm=1)
    assert not result.confirmations and any("needs images" in words for words in result.remarks)


def test_without_labels_nothing_is_said_about_quality(fashion) -> None:
    classifier, dataset = fashion
    bare = dataset.subset(range(400))
    bare.labels = None
    known, result, params = inspected(classifier, bare)
    verdict = known.verdict(result, params)
    assert verdict.status is Status.UNKNOWN and verdict.number is None
    assert "needs labels" in verdict.sentence
    assert "Mixed up" not in table_of(known, result, params)


@pytest.mark.parametrize("ruined", [(1, 5, 9), (0, 7, 8)])
@pytest.mark.parametrize("how", ["lost", "exchanged"])
def test_ruined_classes_are_the_headline_and_the_first_three_findings(
    fashion, ruined: tuple[int, ...], how: str
) -> None:
    classifier = load(resources.path("demo", "fashion_cnn.safetensors"), device="cpu")
    _, dataset = fashion
    ruin(classifier, ruined, how)
    known, result, params = inspected(classifier, dataset)
    names = {result.classes[c] for c in ruined}
    verdict = known.verdict(result, params)
    first = verdict.sentence.split("”")[0].removeprefix("“")
    assert verdict.status is Status.FAILS and first in names
    findings = sorted(known.findings(result, params), key=lambda one: -one.severity)
    assert {finding.detail["class"] for finding in findings[:3]} == names


def ruin(classifier: Classifier, classes: tuple[int, ...], how: str) -> None:
    """The last layer forgets these classes, or takes each of them for the next."""
    module = classifier.backend.module
    layer = [child for child in module.modules() if isinstance(child, torch.nn.Linear)][-1]
    places, others = list(classes), [*classes[1:], classes[0]]
    if how == "lost":
        layer.weight.data[places], layer.bias.data[places] = 0.0, -20.0
    else:
        layer.weight.data[places] = layer.weight.data[others].clone()
        layer.bias.data[places] = layer.bias.data[others].clone()


def test_a_class_is_judged_by_the_same_limit_here_and_by_accuracy():
    assert find("deepinspect").params().most_wrong == pytest.approx(
        1 - find("accuracy").params().least
    )
