"""Keypoints and their mixture."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from robgui.analyses.feature_game.features.keypoints import find_keypoints, grid
from robgui.analyses.feature_game.features.saliency import SMALLEST_SIGMA, Mixture
from tests.analyses.feature_game.games import image

TWO = np.array([[3.0, 4.0, 2.0, 3.0], [9.5, 7.0, 0.1, 1.0]])


def test_the_mixture_is_the_closed_form_on_two_keypoints_and_sums_to_one() -> None:
    mixture = Mixture(TWO, 10, 14, spread=1.5)
    y, x = np.mgrid[:10, :14]
    expected = np.zeros((10, 14))
    for px, py, size, response in TWO:
        sigma = max(SMALLEST_SIGMA, size * 1.5)
        expected += response / 4 * stats.norm.pdf(x, px, sigma) * stats.norm.pdf(y, py, sigma)
    assert mixture.saliency() == pytest.approx(expected / expected.sum(), abs=1e-14)
    assert mixture.saliency().sum() == pytest.approx(1) and mixture.weights == pytest.approx(
        [0.75, 0.25]
    )


def test_there_are_no_ghosts_where_the_x_of_one_keypoint_meets_the_y_of_the_other() -> None:
    saliency = Mixture(np.array([[2, 2, 0.5, 1], [12, 12, 0.5, 1]], dtype=float), 15, 15).saliency()
    assert saliency[2, 12] < 1e-10 < saliency[2, 2]


def test_rewards_move_the_weights_towards_the_keypoints_that_earned_them() -> None:
    mixture = Mixture(TWO, 10, 14)
    for _ in range(20):
        mixture.reward(np.array([1, 1]), 1.0)
    assert mixture.weights[1] > 0.8 and mixture.weights.sum() == pytest.approx(1)
    assert mixture.saliency().sum() == pytest.approx(1)


def test_each_pixel_belongs_to_the_keypoint_most_responsible_for_it() -> None:
    owners = Mixture(TWO, 10, 14).owners()
    assert owners[4, 3] == 0 and owners[7, 9] == 1 and owners.shape == (10, 14)


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32), (3, 112, 112), (3, 224, 224)])
def test_keypoints_lie_inside_the_image_whatever_its_size(shape: tuple[int, int, int]) -> None:
    keypoints, source = find_keypoints((image(shape) * 255).astype(np.uint8))
    assert source.startswith("SIFT") and keypoints.shape[1] == 4
    assert (
        keypoints[:, 0].min() >= 0
        and keypoints[:, 0].max() <= shape[2] - 1
        and keypoints[:, 1].max() <= shape[1] - 1
    )
    assert (np.diff(keypoints[:, 3]) <= 0).all()


def test_a_keypoint_of_an_enlarged_image_is_where_the_spot_is() -> None:
    y, x = np.mgrid[:28, :28]
    spot = (255 * np.exp(-((x - 17) ** 2 + (y - 9) ** 2) / 3)).astype(np.uint8)[None]
    keypoints, _ = find_keypoints(spot)
    assert np.abs(keypoints[:, :2] - (17, 9)).max(1).min() < 0.5


def test_a_blank_image_gets_a_grid_of_equal_weights() -> None:
    keypoints, source = find_keypoints(np.zeros((3, 20, 40), dtype=np.uint8))
    assert (
        source == "grid"
        and len(set(keypoints[:, 3])) == 1
        and np.array_equal(keypoints, grid(20, 40))
    )
    assert keypoints[:, 0].mean() == pytest.approx(19.5) and keypoints[
        :, 1
    ].mean() == pytest.approx(9.5)
