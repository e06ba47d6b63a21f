"""The status of a game follows a threshold of the norm that the game is played in."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.feature_game.judging import is_small, largest, rule, share_of
from robgui.analyses.feature_game.params import FeatureGameBatchParams, FeatureGameParams
from robgui.core.execution.registry import find
from robgui.core.verdict import Status
from tests.analyses.feature_game.games import image, play, small_cnn

PICTURE = np.zeros((3, 10, 20), np.float32)


def test_a_distance_is_a_share_of_the_largest_that_its_norm_allows():
    assert {norm: largest(norm, PICTURE) for norm in ("l0", "l1", "l2", "linf")} == {
        "l0": 200.0,
        "l1": 600.0,
        "l2": pytest.approx(600**0.5),
        "linf": 1.0,
    }
    assert share_of(4, "l0", PICTURE) == 0.02 and share_of(0.1, "linf", PICTURE) == 0.1


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_another_norm_is_judged_by_its_own_threshold_and_not_by_pixels(norm):
    params = FeatureGameParams(norm=norm, few_pixels=0.0, small_change=0.05)
    most = 0.05 * largest(norm, PICTURE)
    assert is_small(most, norm, PICTURE, params) and not is_small(
        1.01 * most, norm, PICTURE, params
    )
    assert "pixels" not in rule(norm, PICTURE, params) and "5.0 %" in rule(norm, PICTURE, params)


@pytest.mark.parametrize("norm", ["l0", "l1", "l2", "linf"])
def test_status_number_and_severity_of_a_game_speak_of_its_norm(norm):
    known = find("feature_game")
    result = play(small_cnn(seed=2), image(seed=2), max_calls=800, norm=norm)
    assert result.found_class >= 0
    share = share_of(result.severity.by(norm), norm, result.input)
    field = "few_pixels" if norm == "l0" else "small_change"
    other = "small_change" if norm == "l0" else "few_pixels"
    for limit, status in ((share * 1.01, Status.FAILS), (share * 0.99, Status.AT_RISK)):
        for irrelevant in (0.0, 1.0):
            values = {"norm": norm, field: min(1.0, limit), other: irrelevant}
            assert known.verdict(result, FeatureGameParams(**values)).status is status
    params = FeatureGameParams(norm=norm)
    assert known.verdict(result, params).number.value == result.severity.by(norm)
    (finding,) = known.findings(result, params)
    assert finding.severity == pytest.approx(max(0.0, 1 - 10 * share))


def test_many_images_are_judged_by_the_same_threshold_as_one():
    known = find("feature_game_batch")
    images = np.stack([image(seed=2), image(seed=3)])
    result = play(small_cnn(seed=2), images, analysis=known.name, max_calls=600, images=0)
    least = share_of(np.nanmin(result.severity[:, 0]), "l0", images[0])
    strict, mild = (
        known.verdict(result, FeatureGameBatchParams(few_pixels=limit)).status
        for limit in (0.99 * least, least)
    )
    assert (strict, mild) == (Status.AT_RISK, Status.FAILS)


def test_an_image_that_is_wrong_before_any_change_says_so_first():
    from tests.analyses.feature_game.games import all_steps

    classifier, x = small_cnn(seed=2), image(seed=2)
    plain = play(classifier, x, max_calls=300)
    known = find("feature_game")
    for label in range(4):
        result = all_steps(classifier, x, labels=[label], max_calls=300)[-1].result
        first = known.verdict(result, FeatureGameParams()).because[0]
        assert ("misclassified already" in first) == (label != plain.original)
