"""rho, NAPVD and average bias against hand-made cases and the letter of the definitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from robgui.analyses.deepinspect import avg_bias, bias, napvd, rho
from robgui.analyses.deepinspect.counting import kernels
from robgui.analyses.deepinspect.counting.kernels import avg_bias_rounds, napvd_rounds
from tests.analyses.deepinspect import slow
from tests.guards import no_deviceless_factories


def random_distance(classes: int, seed: int = 0) -> np.ndarray:
    return napvd(np.random.default_rng(seed).random((classes + 3, classes)))


def test_rho_of_a_hand_made_case():
    act = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    member = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert np.array_equal(rho(act, member)[:, :2], [[2 / 3, 0], [2 / 3, 1 / 2]])
    assert np.isnan(rho(act, member)[:, 2]).all()


def test_rho_is_the_definition():
    rng = np.random.default_rng(0)
    act, member = rng.random((40, 7)) > 0.5, rng.random((40, 5)) > 0.7
    assert np.allclose(rho(act, member), slow.rho(act, member), atol=1e-12)


def test_napvd_of_a_hand_made_case():
    given = np.array([[0.0, 0.3, 1.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.0]])
    assert np.allclose(
        napvd(given), [[0, 0.5, 1], [0.5, 0, np.sqrt(0.49 + 0.16)], [1, np.sqrt(0.65), 0]]
    )
    assert np.allclose(napvd(given, "rms")[0], [0, 0.5 / np.sqrt(2), 1])


@pytest.mark.parametrize("norm", ["paper", "rms"])
@pytest.mark.parametrize("precise", [True, False])
def test_napvd_is_the_definition_in_double_and_in_single_precision(
    norm: str, precise: bool, monkeypatch: pytest.MonkeyPatch
):
    if not precise:
        monkeypatch.setattr(kernels, "EXACT_CLASSES", 0)
    rng = np.random.default_rng(1)
    given = rng.random((60, 9)) * (rng.random((60, 9)) > 0.4)
    given[:, 4] = given[:, 2]
    given[:, 5] = given[:, 2] + 1e-5 * rng.random(60)
    expected = slow.napvd(given, norm)
    found = napvd(given, norm)
    assert np.allclose(found, expected, atol=1e-10 if precise else 1e-5)
    assert found[2, 4] == 0 and found[2, 5] == pytest.approx(expected[2, 5], rel=1e-6)
    assert np.array_equal(found, found.T) and not found.diagonal().any()


@pytest.mark.parametrize("norm", ["paper", "rms"])
def test_a_class_without_members_is_unknown_and_the_others_do_not_notice(norm: str):
    given = np.random.default_rng(2).random((20, 5))
    with_hole = given.copy()
    with_hole[:, 3] = np.nan
    found = napvd(with_hole, norm)
    kept = [0, 1, 2, 4]
    assert np.isnan(found[3]).all() and np.isnan(found[:, 3]).all()
    assert np.allclose(found[np.ix_(kept, kept)], napvd(given[:, kept], norm))


def test_portions_give_the_same_as_the_whole(monkeypatch: pytest.MonkeyPatch):
    given = np.random.default_rng(3).random((500, 12)).astype(np.float32)
    whole = napvd(given), napvd(given, "rms"), avg_bias(napvd(given))
    monkeypatch.setattr(kernels, "PORTION", 100)
    monkeypatch.setattr(kernels, "BIAS_PORTION", 1)
    parts = napvd(given), napvd(given, "rms"), avg_bias(napvd(given))
    assert all(np.allclose(one, other) for one, other in zip(whole, parts, strict=True))
    assert len(list(napvd_rounds(torch.from_numpy(given)))) >= 60
    assert len(list(avg_bias_rounds(torch.from_numpy(whole[0])))) >= 5


def test_counts_with_members_are_the_same_as_rho():
    rng = np.random.default_rng(4)
    act, member = rng.random((50, 8)) > 0.5, np.eye(6)[rng.integers(0, 5, 50)]
    counts = torch.from_numpy(act.astype(np.float32).T @ member.astype(np.float32))
    found = kernels.finish(napvd_rounds(counts, "paper", torch.from_numpy(member.sum(0))))
    assert np.allclose(found.numpy(), napvd(rho(act, member)), equal_nan=True)


def test_bias_of_a_hand_made_case():
    distance = np.array([[0, 2, 1, 0.0], [2, 0, 3, 0.0], [1, 3, 0, 4], [0, 0, 4, 0]])
    assert np.array_equal(bias(distance, 0, 1), [np.nan, np.nan, 0.5, 0.0], equal_nan=True)


@pytest.mark.parametrize("which", ["low", "paper", "none"])
@pytest.mark.parametrize("classes", [3, 4, 11])
def test_average_bias_is_the_definition(which: str, classes: int):
    distance = random_distance(classes)
    assert np.allclose(avg_bias(distance, which), slow.avg_bias(distance, which), atol=1e-12)


def test_average_bias_in_single_precision_is_the_definition(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernels, "EXACT_CLASSES", 0)
    distance = random_distance(14)
    assert np.allclose(avg_bias(distance), slow.avg_bias(distance, "low"), atol=1e-6)


def test_two_equal_distances_of_zero_have_no_bias():
    distance = np.zeros((4, 4))
    for which in ("low", "paper", "none"):
        assert np.array_equal(avg_bias(distance, which), np.zeros((4, 4)))


def test_average_bias_needs_a_third_class_and_leaves_unknown_ones_out():
    assert np.isnan(avg_bias(random_distance(2))[0, 1])
    distance = random_distance(6)
    hole = distance.copy()
    hole[2], hole[:, 2] = np.nan, np.nan
    kept = [0, 1, 3, 4, 5]
    found = avg_bias(hole)
    assert np.isnan(found[2]).all() and np.allclose(
        found[np.ix_(kept, kept)], avg_bias(distance[np.ix_(kept, kept)])
    )


@pytest.mark.parametrize("classes", [0, 1])
def test_no_class_or_one_class_gives_an_empty_comparison(classes: int):
    given = np.random.default_rng(0).random((5, classes))
    assert napvd(given).shape == avg_bias(napvd(given)).shape == (classes, classes)
    assert not np.nan_to_num(napvd(given)).any()


def test_tensors_give_tensors_on_their_device_and_equal_the_arrays():
    act, member = torch.rand(30, 6) > 0.5, torch.rand(30, 4) > 0.5
    with no_deviceless_factories():
        probabilities = rho(act, member)
        distance = napvd(probabilities, "rms")
        unfair = avg_bias(distance)
    assert all(isinstance(value, torch.Tensor) for value in (probabilities, distance, unfair))
    assert np.allclose(distance.numpy(), napvd(probabilities.numpy(), "rms"))
    assert np.allclose(unfair.numpy(), avg_bias(distance.numpy()))
