"""The claims of the paper on models and inputs small enough to know what must come out."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from robgui.core.dataset import Dataset, from_arrays
from robgui.core.errors import DataError
from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier
from robgui.reproduce.claim import Setting
from robgui.reproduce.training import NETWORKS, train
from robgui.reproduce.zonnscan import bench as benches
from robgui.reproduce.zonnscan.bench import PaperModel, SweepBench, SweepSize
from robgui.reproduce.zonnscan.claims import (
    TABLE_I_ADVERSARIAL,
    adversarial_claim,
    claims,
    corner_cases_claim,
    watermark_claim,
)
from robgui.reproduce.zonnscan.sweep_claims import homogeneity, sweeps

SIZE = SweepSize(
    0.15,
    0.3,
    40,
    40,
    64,
    key_pool=300,
    runs=1,
    key_samples=64,
    sweeps=2,
    sweep_samples=64,
    epochs=6,
)


def bars(count: int, seed: int) -> Dataset:
    """Noisy 8 x 8 images of a bright bar: upright, level or none."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, count)
    images = rng.uniform(0, 0.4, (count, 1, 8, 8)).astype(np.float32)
    for image, label in zip(images, labels, strict=True):
        place = rng.integers(1, 7)
        if label < 2:
            image[0][(slice(None), place) if label == 0 else (place, slice(None))] += 0.5
    return from_arrays(images, labels, ("upright", "level", "none"), "bars", kind="image")


@pytest.fixture(scope="module")
def trained() -> tuple[Classifier, ...]:
    return tuple(
        list(train(name, bars(1500, 0), epochs=10, seed=0))[-1].result for name in NETWORKS
    )


@pytest.fixture
def bench(trained: tuple[Classifier, ...]) -> SweepBench:
    subjects = tuple(
        PaperModel(name, place, model)
        for place, (name, model) in enumerate(zip(NETWORKS, trained, strict=True))
    )
    return SweepBench(
        subjects, bars(400, 1), np.random.default_rng(0).permutation(400), SIZE, Setting()
    )


def constant(bench: SweepBench, scores: list[float]) -> PaperModel:
    """A model whose scores depend on its input with weight 0: it has gradients, and they are 0."""
    head = nn.Linear(64, 3)
    nn.init.zeros_(head.weight)
    head.bias.data = torch.tensor(scores)
    return PaperModel(
        "constant",
        5,
        Classifier.from_module(nn.Sequential(nn.Flatten(), head), (1, 8, 8), bench.dataset.names),
    )


def test_every_network_learns_and_the_same_seed_gives_the_same_network(
    trained: tuple[Classifier, ...],
) -> None:
    data = bars(300, 2)
    for model in trained:
        assert (model.infer(data.array()).argmax(1).cpu().numpy() == data.labels).mean() > 0.6
    first, again, other = (
        list(train("MLP", data, epochs=1, seed=seed))[-1].result for seed in (3, 3, 4)
    )
    assert first.fingerprint == again.fingerprint != other.fingerprint


def test_training_needs_labelled_images() -> None:
    with pytest.raises(DataError, match="--models"):
        next(
            train(
                "MLP",
                from_arrays(np.zeros((4, 1, 8, 8), dtype=np.float32), kind="image"),
                epochs=1,
                seed=0,
            )
        )


def test_adversarial_claim_gives_the_figures_of_paper_and_run(bench: SweepBench) -> None:
    claim = adversarial_claim(bench, bench.subjects[1])
    assert claim.paper == "0.35 -> 0.96, p < 0.001" and TABLE_I_ADVERSARIAL[1] == (0.3462, 0.9613)
    assert claim.holds == (
        claim.detail["means"][1] > claim.detail["means"][0] and claim.detail["ks_p"] < 1e-3
    )
    assert (
        claim.detail["inputs"] == [40, 40]
        and "eps = 0.15" in claim.note
        and "eps = 0.3" in claim.note
        and "64 " in claim.note
    )
    assert claim.figures[0].analysis == "zonnscan_populations"


def test_a_model_whose_index_is_the_same_everywhere_does_not_fulfil_the_claims(
    bench: SweepBench,
) -> None:
    claim = adversarial_claim(bench, constant(bench, [1.0, 2.0, 3.0]))
    assert claim.holds is False and claim.detail["means"][0] == pytest.approx(
        claim.detail["means"][1]
    )
    assert claim.paper == "p < 0.001"


def test_corner_cases_are_compared_with_the_test_inputs(bench: SweepBench) -> None:
    claim = corner_cases_claim(bench, bench.subjects[0])
    assert claim.detail["inputs"] == [40, len(bench.corner_cases)]
    assert f"3 models disagree on {len(bench.corner_cases)} of 400" in claim.note


def test_models_that_agree_have_no_corner_cases_and_the_claim_says_so(bench: SweepBench) -> None:
    agreeing = dataclasses.replace(bench, subjects=(bench.subjects[0], bench.subjects[0]))
    claim = corner_cases_claim(agreeing, agreeing.subjects[0])
    assert (
        claim.holds is None
        and "agree on every input" in claim.note
        and claim.verdict == "undecided"
    )


def test_the_watermark_claim_tells_what_it_cost_and_the_p_value_of_independent_inputs(
    bench: SweepBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robgui.reproduce.zonnscan.claims.KEY", 10)
    claim = watermark_claim(bench, bench.subjects[0])
    assert claim.holds == (claim.detail["ks_p"] < 1e-3), claim.note
    assert claim.detail["key"] == 10 and claim.detail["ks_p_one_value_per_input"] == pytest.approx(
        claim.detail["ks_p"]
    )
    assert "accuracy" in claim.note and claim.figures[0].analysis == "zonnscan_watermark"


def test_a_key_that_cannot_be_made_is_a_claim_that_cannot_run(bench: SweepBench) -> None:
    claim = watermark_claim(bench, constant(bench, [1.0, 2.0, 3.0]))
    assert claim.holds is None and "key of 100" in claim.note


def test_sweeps_give_three_claims_and_the_whole_cube_is_the_same_for_all(bench: SweepBench) -> None:
    subject = bench.subjects[0]
    rising, starting, whole = sweeps(bench, subject)
    assert (
        rising.holds is not None
        and len(rising.detail["index"]) == len(rising.detail["radii"]) == 21
    )
    assert [drawing.name for drawing in rising.figures] == ["sweep-mlp", "sweep-adversarial-mlp"]
    assert starting.detail["inputs"] > 0
    assert whole.holds and len(whole.detail["values"]) == 2 * len(rising.figures)


def test_without_a_confident_input_the_sweeps_cannot_run(bench: SweepBench) -> None:
    assert [claim.holds for claim in sweeps(bench, constant(bench, [0.0, 0.0, 0.0]))] == [None] * 3


def test_homogeneity_is_a_uniform_p_value_under_equal_means_and_small_otherwise() -> None:
    rng = np.random.default_rng(0)
    lanes = rng.normal(0, 1, (400, 6, 32))
    half = stats.t.ppf(0.975, 31) * lanes.std(2, ddof=1) / np.sqrt(32)
    p = [homogeneity(values, width) for values, width in zip(lanes.mean(2), half, strict=True)]
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert homogeneity(np.array([0.1, 0.2, 0.3]), np.full(3, 0.01)) < 1e-6
    assert (
        homogeneity(np.array([0.5, 0.5]), np.zeros(2)) == 1
        and homogeneity(np.array([0.5, 0.6]), np.zeros(2)) == 0
    )


def test_all_claims_run_for_every_model_under_the_eyes_of_the_caller(
    trained: tuple[Classifier, ...], tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bars(400, 1)
    np.savez(
        tmp_path / "bars.npz", images=data.array(), labels=data.labels, names=np.array(data.names)
    )
    monkeypatch.setattr(benches, "SMALL", SIZE)
    said: list[str] = []
    seen: list[tuple[str, Step]] = []
    setting = Setting(
        tmp_path / "bars.npz",
        trained,
        True,
        0,
        said.append,
        lambda title, step: seen.append((title, step)),
    )
    found = list(claims(setting))
    assert len(found) == 18 and {claim.method for claim in found} == {"zonnscan"}
    assert "400 inputs of bars.npz" in said[0] and seen[-1][1].done == seen[-1][1].total


def test_two_models_of_one_name_are_told_apart_in_tables_and_file_names(
    trained: tuple[Classifier, ...],
) -> None:
    assert benches.names_of([trained[0], trained[0], trained[1]]) == ["MLP (1)", "MLP (2)", "CNN"]
    assert PaperModel("MLP (2)", 1, trained[0]).slug == "mlp-2"


def test_one_file_without_training_images_asks_for_models(tmp_path) -> None:
    data = bars(20, 0)
    np.savez(tmp_path / "bars.npz", images=data.array(), labels=data.labels)
    with pytest.raises(DataError, match="--models"):
        next(claims(Setting(tmp_path / "bars.npz", quick=True)))
