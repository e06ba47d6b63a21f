"""The whole game on classifiers whose answer is known."""

from __future__ import annotations

import dataclasses
import io
import math

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from robgui.analyses.feature_game import FeatureGameResult, batch_words, example_of, pictures
from robgui.core.codec import decode, encode
from robgui.core.dataset import from_arrays
from robgui.core.errors import DataError, ParamsError
from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status
from tests.analyses.feature_game.games import (
    all_steps,
    image,
    linear,
    play,
    said,
    small_cnn,
    views_of,
)
from tests.analyses.simple_modules import Constant, Linear
from tests.guards import no_deviceless_factories


def instance(seed: int) -> tuple[Classifier, np.ndarray, int]:
    """A linear classifier, an image and the fewest pixels that change its class, by sorting what
    each can add.
    """
    rng = np.random.default_rng(seed)
    x = image(seed=seed)
    weights = rng.normal(size=x.size)
    values = x.ravel()
    gains = np.sort(np.maximum(weights * (1 - values), -weights * values))[::-1]
    wanted = float(gains[: rng.integers(2, 9)].sum()) - 0.3 * float(gains[0])
    classifier = linear(weights, -wanted - float(weights @ values))
    return classifier, x, int((gains.cumsum() <= wanted + 1e-4).sum()) + 1


@pytest.mark.parametrize("seeds", [10, pytest.param(20, marks=pytest.mark.slow)])
def test_the_fewest_pixels_are_found_on_linear_classifiers(seeds: int) -> None:
    missed = []
    for seed in range(seeds):
        classifier, x, fewest = instance(seed)
        missed.append(
            len(play(classifier, x, seed=seed, max_calls=1500, persistence=False).changed) - fewest
        )
    assert missed.count(0) >= 0.9 * seeds and max(missed) <= 1 and min(missed) >= 0, missed


def read_back(result: FeatureGameResult) -> np.ndarray:
    """The example saved as a PNG file and read again."""
    pixels = np.round(result.best * 255).astype(np.uint8).transpose(1, 2, 0)
    buffer = io.BytesIO()
    Image.fromarray(pixels.squeeze(2) if pixels.shape[2] == 1 else pixels).save(buffer, "png")
    array = np.asarray(Image.open(buffer), dtype=np.float32) / 255
    return array[None] if array.ndim == 2 else array.transpose(2, 0, 1)


@pytest.mark.parametrize("shape", [(1, 12, 12), (3, 14, 10)])
@pytest.mark.parametrize("norm", ["l0", "l1", "l2", "linf"])
def test_a_targeted_example_has_the_target_class_after_a_png_round_trip(
    shape: tuple[int, int, int], norm: str
) -> None:
    classifier, x = small_cnn(shape, seed=3), image(shape, 3)
    original = int(classifier.infer(x).argmax())
    for target in range(4):
        if target == original:
            continue
        result = play(classifier, x, target=str(target), max_calls=700, norm=norm, tau=0.5)
        assert result.found_class in (target, -1)
        if result.found_class == target:
            assert int(classifier.infer(read_back(result)).argmax()) == target
            assert np.array_equal(read_back(result), result.best)
            break
    else:
        pytest.fail("no target was reached")


def test_values_between_two_bytes_are_rounded_before_the_game() -> None:
    classifier = small_cnn()
    result = play(classifier, image() * 0.99 + 0.003, max_calls=300)
    assert np.array_equal(np.round(result.input * 255) / np.float32(255), result.input)


def test_an_image_that_rounding_alone_turns_is_said_to_be_turned_by_it_and_is_no_grave_finding() -> (
    None
):
    classifier, x = (
        linear(np.ones(144), -0.004 * 144),
        np.full((1, 12, 12), 0.0045, dtype=np.float32),
    )
    known = find("feature_game")
    result = play(classifier, x, max_calls=600)
    assert result.exact_class == 1 and result.original == 0 and result.found_class == 1
    words = (
        "Rounded to 8 bits, as a picture file is, this image is already “0”; the exact values give"
        " “1”."
    )
    assert (
        words in said(known.name, result).text
        and f"{result.input_name}, rounded to 8 bits: 1 pixel turns"
        in said(known.name, result).text
    )
    assert (
        said(known.name, result).status is Status.AT_RISK
        and said(known.name, result).number.words == "1 of 144 pixels"
    )
    assert max(finding.severity for finding in known.findings(result, known.params())) <= 0.3
    plain = play(classifier, np.round(x * 255) / np.float32(255), max_calls=600)
    assert (
        plain.exact_class == -1
        and "8 bits" not in said(known.name, plain).text
        and said(known.name, plain).status is Status.FAILS
    )
    assert result.model_calls <= 600 and known.findings(plain, known.params())[0].severity > 0.9


class Features(torch.nn.Module):
    """A hand-made game of two spots: in each, some pixels change the class at once, some do
    nothing, some go the other way.
    """

    def forward(self, x: Tensor) -> Tensor:
        added = (x - self.start)[:, 0].clamp_min(0)
        weights = torch.tensor([3.0, 0.05, -0.4], device=x.device)[
            torch.arange(x.shape[3], device=x.device) % 3
        ]
        score = (added * weights).sum((1, 2)) - 1.0
        return torch.stack([torch.zeros_like(score), score], 1)

    def __init__(self, start: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("start", torch.from_numpy(start))


def test_the_three_players_play_differently_on_a_hand_made_game() -> None:
    x = image(seed=1) * np.float32(0.5)
    x = (np.round(x * 255) / 255).astype(np.float32)
    classifier = Classifier.from_module(Features(x), (1, 12, 12), output="logits")
    result = play(classifier, x, player="all", max_calls=1500, move_iterations=3)
    found = {outcome.player: outcome for outcome in result.outcomes}
    assert list(found) == ["cooperative", "nature", "adversarial"] and result.searches == 3
    assert found["cooperative"].severity.l0_pixels == 1 and found["cooperative"].optimal
    hindered = [found[player].severity.l0_pixels for player in ("nature", "adversarial")]
    assert found["adversarial"].found_class < 0 or found["adversarial"].severity.l0_pixels > 1
    assert not hindered[0] == hindered[1] == 1
    # what play against chance reaches is no value of the game
    assert "player" not in said("feature_game", result).text
    bars = next(
        view
        for view in views_of("feature_game", result)
        if view.title == "Change found by each search"
    )
    assert bars.names == ("helped", "against chance", "against an opponent") and bars.note
    assert np.array_equal(result.changed, found["cooperative"].changed)


def test_the_preset_paper_is_a_plain_tree_search_and_finds_examples() -> None:
    params = find("feature_game").params.parse({"preset": "paper"})
    assert (params.selection, params.search_seconds, params.move_seconds) == ("ucb1", 60.0, 20.0)
    own = find("feature_game").params.parse({"preset": "paper", "search_seconds": 5})
    assert own.search_seconds == 5
    classifier, x, fewest = instance(1)
    result = play(
        classifier,
        x,
        preset="paper",
        max_calls=3000,
        search_seconds=0,
        move_seconds=0,
        move_iterations=5,
    )
    assert len(result.changed) >= fewest and result.tree.nodes > 10 and len(result.history) > 1
    best = result.history[np.isfinite(result.history[:, 0]), 0]
    assert len(best) and (np.diff(best) <= 0).all()


def test_steps_are_complete_from_the_first_on_and_the_best_never_gets_worse() -> None:
    steps = all_steps(small_cnn(seed=5), image(seed=5), max_calls=1500)
    first, last = steps[0].result, steps[-1].result
    assert (
        len(first.keypoints)
        and first.saliency.sum() == pytest.approx(1)
        and first.found_class == -1
    )
    assert steps[-1].done == steps[-1].total == 1500 and last.model_calls <= 1500
    severities = [step.result.severity.l0_pixels for step in steps if step.result.found_class >= 0]
    assert severities == sorted(severities, reverse=True) and severities
    assert (
        last.history.shape == (len(last.history_calls), 3)
        and last.severity.l0_pixels == last.history[-1, 0]
    )
    assert not np.array_equal(last.saliency, last.initial_saliency) and last.tree.visits[0] > 0


def test_the_same_request_gives_the_same_result_whatever_the_batch() -> None:
    classifier, x = small_cnn(seed=2), image(seed=2)
    one, two = (play(classifier, x, max_calls=900, seed=4, batch=batch) for batch in (0, 7))
    assert (
        np.array_equal(one.best, two.best)
        and one.model_calls == two.model_calls
        and np.array_equal(one.history, two.history)
    )


def test_all_classes_are_tried_one_after_the_other_and_share_what_was_learned() -> None:
    classifier, x = small_cnn(seed=7), image(seed=7)
    result = play(classifier, x, target="all", max_calls=600)
    assert len(result.outcomes) == 3 and {outcome.target for outcome in result.outcomes} == {
        0,
        1,
        2,
        3,
    } - {result.original}
    for outcome in result.outcomes:
        if outcome.found_class >= 0:
            assert (
                outcome.found_class
                == outcome.target
                == int(classifier.infer(example_of(result.input, outcome)).argmax())
            )
    assert "of 3 target classes were reached" in said("feature_game", result).text


def test_a_black_box_needs_probabilities_only() -> None:
    inner, x = small_cnn(seed=2), image(seed=2)
    box = Classifier.from_callable(
        lambda array: inner.probs(np.asarray(array)).numpy(), (1, 12, 12)
    )
    result = play(box, x, max_calls=800)
    assert (
        result.found_class >= 0
        and int(box.infer(result.best).argmax()) == result.found_class != result.original
    )


def test_an_example_beyond_the_largest_distance_does_not_count() -> None:
    classifier, x, fewest = instance(4)
    assert play(classifier, x, max_calls=1200, distance=fewest).found_class == 1
    result = play(classifier, x, max_calls=1200, distance=fewest - 1)
    assert result.found_class == -1 and math.isnan(result.severity.l1)
    verdict = said("feature_game", result, distance=fewest - 1).text
    assert (
        "no example found" in verdict
        and "guarantees nothing" in verdict
        and f"within distance {fewest - 1}" in verdict
    )


def test_a_blank_image_is_played_on_a_grid_and_the_verdict_says_so() -> None:
    result = play(linear(np.ones(144), -2.5), np.zeros((1, 12, 12)), max_calls=600)
    assert result.keypoint_source == "grid" and len(result.changed) == 3
    assert "SIFT finds no keypoints" in said("feature_game", result).text


def test_an_image_misclassified_already_is_played_all_the_same_and_the_verdict_says_so() -> None:
    classifier, x, _ = instance(2)
    result = all_steps(classifier, x, labels=[1], max_calls=600)[-1].result
    assert (
        result.original == 0
        and "misclassified already" in said("feature_game", result).text
        and result.found_class == 1
    )


def test_a_change_that_makes_a_wrong_answer_right_is_not_called_a_failure() -> None:
    classifier, x, _ = instance(2)
    result = all_steps(classifier, x, labels=[1], max_calls=600)[-1].result
    verdict = said("feature_game", result)
    assert result.found_class == 1 and verdict.status is Status.FAILS
    assert "says “0”" in verdict.sentence and "the label says “1”" in verdict.sentence
    assert "the wrong answer into the right one" in verdict.sentence
    assert verdict.number is not None and verdict.number.better == "neither"
    game = find("feature_game")
    assert not game.findings(result, game.params())
    right = dataclasses.replace(result, true_class=0)
    assert said("feature_game", right).number.better == "high"
    assert len(game.findings(right, game.params())) == 1


def test_a_target_that_cannot_be_reached_is_said_to_be_no_proof() -> None:
    classifier = Classifier.from_module(Constant([1.0, 0.0, 0.5]), (1, 12, 12), output="logits")
    result = play(classifier, image(), target="1", max_calls=300)
    verdict = said("feature_game", result).text
    assert result.found_class == -1 and "into “1”" in verdict and "guarantees nothing" in verdict
    assert result.evidence.lipschitz == 0 and not find("feature_game").findings(
        result, find("feature_game").params()
    )


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"distance": 0}, "only the image itself"),
        ({"target": "0"}, "that class already"),
        ({"target": "zebra"}, "none of the"),
        ({"colours": ("red",)}, "#rrggbb"),
    ],
)
def test_bad_settings_are_one_sentence(params: dict[str, object], words: str) -> None:
    classifier, x, _ = instance(0)
    with pytest.raises(ParamsError, match=words):
        play(classifier, x, **params)


def test_the_time_ends_a_search_and_keeps_the_best() -> None:
    result = play(
        small_cnn(seed=2), image(seed=2), max_seconds=0.3, max_calls=10_000_000, persistence=False
    )
    assert result.outcomes[0].ended in (
        "the time was over",
        "nothing was left to try",
        "no example of these moves can be less severe",
    )
    assert result.seconds < 3


def test_the_example_the_difference_and_the_changed_pixels_are_pictures() -> None:
    classifier, x, fewest = instance(5)
    result = play(classifier, x, max_calls=800)
    shown = pictures(result)
    assert np.array_equal(shown["example"][:, :, 0] / np.float32(255), result.best[0])
    assert (
        (shown["changed"][:, :, 0] > 0).sum()
        == ((shown["difference"] != 255).any(2)).sum()
        == fewest
    )


def test_the_game_is_played_on_one_image() -> None:
    known = find("feature_game")
    with pytest.raises(DataError, match="one image"):
        next(
            known.engine(
                small_cnn(), from_arrays(np.zeros((2, 1, 12, 12), np.float32)), known.params()
            )
        )


def test_convergence_stops_the_search_early() -> None:
    classifier, x, _ = instance(1)
    result = play(classifier, x, epsilon=0.5, max_calls=5000)
    assert result.model_calls < 2500 and "iterations" in result.outcomes[0].ended


def test_a_finding_has_the_example_its_pixels_all_norms_and_both_confidences() -> None:
    classifier, x, fewest = instance(5)
    result = play(classifier, x, max_calls=1200)
    (finding,) = find("feature_game").findings(result, find("feature_game").params())
    assert (
        np.array_equal(finding.input, result.best)
        and finding.picture.dtype == np.uint8
        and finding.picture.shape[2] == 3
    )
    assert (
        set(finding.detail["severity"]) == {"l0_pixels", "l0_dims", "l1", "l2", "linf"}
        and len(finding.detail["pixels"]) == fewest
    )
    assert finding.detail["confidence_before"] > 0.5 and finding.detail["confidence_after"] > 0.5
    assert f"{fewest} pixels turn “0” into “1”" in finding.title and 0 < finding.severity <= 1


def test_a_result_survives_the_workspace_codec_and_can_be_drawn() -> None:
    steps = all_steps(small_cnn(seed=2), image(seed=2), max_calls=500, player="all")
    for step in (steps[0], steps[-1]):
        back = decode(FeatureGameResult, *encode(step.result))
        assert np.array_equal(back.best, step.result.best) and len(back.outcomes) == len(
            step.result.outcomes
        )
        assert len(views_of("feature_game", back, player="all")) >= 8


def test_persistence_is_certain_for_a_sum_and_counts_only_views_that_keep_the_class() -> None:
    x = np.full((1, 12, 12), 0.2, np.float32)
    classifier = Classifier.from_module(
        Linear(np.ones(144), -0.2 * 144 - 1.9), (1, 12, 12), output="logits"
    )
    result = play(classifier, x, max_calls=600)
    views = result.persistence
    assert (
        views is not None
        and (views.rotated_class[0] == 0).all()
        and views.rotated_class[1][views.angles == 0] == 1
    )
    assert 0 <= views.rotated_kept <= 1 and 0 <= views.scaled_kept <= 1
    turned = len(views.angles) - 1  # Without the view that is not turned.
    fooled = round(views.rotated_kept * turned)
    verdict = said("feature_game", result).text
    assert f"in {fooled} of {turned} views turned by up to" in verdict


def test_no_tensor_is_made_without_a_device() -> None:
    classifier = small_cnn(seed=2)
    with no_deviceless_factories():
        for params in ({"norm": "l2"}, {"player": "all"}, {"preset": "paper"}):
            play(classifier, image(seed=2), max_calls=420, **params)


def test_many_images_give_a_distribution_and_the_least_severe_examples() -> None:
    classifier = small_cnn(seed=2)
    x = np.stack([image(seed=seed) for seed in range(4)])
    steps = all_steps(classifier, x, "feature_game_batch", labels=[0, 1, 2, 3], max_calls=400)
    result = steps[-1].result
    assert (
        result.played.all()
        and result.severity.shape == (4, 5)
        and steps[-1].done == steps[-1].total
    )
    found = result.found_class >= 0
    assert (
        found.any()
        and result.mean == pytest.approx(result.severity[found, 0].mean())
        and (result.seconds > 0).all()
    )
    assert (
        classifier.infer(result.worst_examples).argmax(1).numpy()
        == result.found_class[result.worst]
    ).all()
    known = find("feature_game_batch")
    assert f"{found.sum()} of 4 images change class" in said(known.name, result).text
    right = batch_words.corrected(result)[result.worst]
    assert len(known.findings(result, known.params())) == len(result.worst) - right.sum()
    pairs, histogram, *_ = views_of("feature_game_batch", decode(type(result), *encode(result)))
    assert len(pairs.pictures) and histogram.series[0].values.sum() == found.sum()
    assert views_of("feature_game_batch", steps[0].result)


def test_of_many_images_a_change_that_makes_a_wrong_answer_right_is_no_failure() -> None:
    classifier = small_cnn(seed=2)
    x = np.stack([image(seed=seed) for seed in (0, 2, 3)])
    plain = all_steps(classifier, x, "feature_game_batch", max_calls=800)[-1].result
    assert (plain.found_class >= 0).all()
    # What the changes lead to is right: every answer is wrong as it is, none is by a change.
    result = all_steps(
        classifier, x, "feature_game_batch", labels=plain.found_class.tolist(), max_calls=800
    )[-1].result
    known, verdict = find("feature_game_batch"), said("feature_game_batch", result)
    assert verdict.status is Status.FAILS and not known.findings(result, known.params())
    assert "without any change the answer to 3 of them is wrong" in verdict.sentence
    assert verdict.because[0].startswith("Changes that make a wrong answer right: 3;")
    assert "without any change" not in said("feature_game_batch", plain).sentence
    none = dataclasses.replace(result, found_class=np.full(3, -1))
    assert said("feature_game_batch", none).status is Status.FAILS


def test_images_that_have_the_target_class_already_are_left_out() -> None:
    classifier = small_cnn(seed=2)
    x = np.stack([image(seed=seed) for seed in range(3)])
    target = int(classifier.infer(x[:1]).argmax())
    before = classifier.calls
    result = all_steps(classifier, x, "feature_game_batch", target=str(target), max_calls=300)[
        -1
    ].result
    assert result.skipped[0] and result.predicted[0] == target and result.found_class[0] == -1
    assert (
        result.calls[0] == 1
        and result.calls.max() <= 300
        and result.model_calls == classifier.calls - before
    )
    assert "left out" in said("feature_game_batch", result).text
    with pytest.raises(ParamsError, match="one image"):
        all_steps(classifier, x, "feature_game_batch", target="all")


def test_a_large_colour_image_is_searched_where_the_saliency_is() -> None:
    classifier = small_cnn((3, 224, 224), classes=3, seed=1)
    result = play(classifier, image((3, 224, 224), 1), max_calls=200)
    assert (
        result.model_calls <= 200
        and result.evidence.singles < result.evidence.moves
        and result.saliency.shape == (224, 224)
    )


def test_every_step_can_be_said_and_drawn() -> None:
    for step in all_steps(small_cnn(), image(), max_calls=400):
        assert (
            said("feature_game", step.result).sentence
            and len(views_of("feature_game", step.result)) >= 8
        )


def test_smaller_steps_that_were_not_tried_are_told() -> None:
    settings = {"preset": "paper", "search_seconds": 0, "move_seconds": 0, "norm": "linf"}
    result = play(*instance(1)[:2], max_calls=400, **settings)
    assert "smaller steps were not tried" in said("feature_game", result, **settings).text


@pytest.mark.parametrize("seed", range(3))
def test_the_largest_change_is_bisected_to_the_smallest_8_bit_value_that_works(seed: int) -> None:
    classifier, x, _ = instance(seed)
    weights, values = classifier.backend.module.weights.numpy(), np.round(x.ravel() * 255)
    needed = next(
        amount
        for amount in range(1, 256)
        if Linear(weights, classifier.backend.module.bias)(
            torch.from_numpy(np.clip(values + amount * np.sign(weights), 0, 255) / 255)[
                None
            ].float()
        )[0, 1]
        > 1e-5
    )
    result = play(classifier, x, norm="linf", max_calls=1500, persistence=False)
    assert round(255 * result.severity.linf) == needed < 64  # 64 is the step of the game
    assert result.severity.linf == pytest.approx(np.abs(result.best - x).max())
    told = said("feature_game", result, norm="linf").text
    assert "bisected to 0.00392" in told and "no longer suffices" in told


def test_changes_under_l1_and_l2_are_taken_back_by_less_than_the_step() -> None:
    for norm, limit in (("l1", 1.2), ("l2", 1.5)):
        classifier, x, _ = instance(2)
        weights = classifier.backend.module.weights.numpy()
        gap = -float(classifier.infer(x[None])[0, 1])
        least = gap / (np.abs(weights).max() if norm == "l1" else np.linalg.norm(weights))
        result = play(classifier, x, norm=norm, max_calls=3000, persistence=False)
        assert 0.999 * least <= result.severity.by(norm) <= limit * least
        assert "halved down to" in said("feature_game", result, norm=norm).text
        assert int(classifier.infer(read_back(result)[None]).argmax()) == result.found_class


def test_a_search_counts_its_own_calls() -> None:
    result = play(*instance(3)[:2], player="all", max_calls=1500)
    helped = result.outcomes[0]
    scope = said("feature_game", result, player="all").scope
    words = f"{helped.first_calls:,} of this search's {helped.model_calls:,} calls"
    assert words in scope and f"{result.model_calls:,} model calls" in scope
    assert helped.model_calls < result.model_calls and "3 searches" in scope


def test_a_search_without_an_end_has_no_example_so_far_and_a_lone_one_tells_one_total() -> None:
    steps = all_steps(*instance(3)[:2], max_calls=600)
    first, last = steps[0].result, steps[-1].result
    waiting = dataclasses.replace(first, found_class=-1, outcomes=())
    # Also true of one that was stopped, and read again another day.
    for words in (said("feature_game", waiting), said("feature_game", waiting).stopped()):
        assert "no example so far" in words.sentence and "still" not in words.sentence
    none = [dataclasses.replace(one, found_class=-1) for one in last.outcomes]
    ended = dataclasses.replace(last, found_class=-1, outcomes=tuple(none))
    assert "no example found" in said("feature_game", ended).sentence
    scope = said("feature_game", last).scope
    assert last.found_class >= 0 and scope.count("calls") == 2 and "this search's" not in scope


def test_images_that_did_not_change_are_in_the_headlines_median() -> None:
    steps = all_steps(
        small_cnn(seed=2),
        np.stack([image(seed=seed) for seed in range(4)]),
        "feature_game_batch",
        max_calls=400,
    )
    result = steps[-1].result
    severity = result.severity.copy()
    severity[:, 0] = [3, np.nan, 9, np.nan]
    some = dataclasses.replace(
        result,
        severity=severity,
        found_class=np.where(np.isnan(severity[:, 0]), -1, 1),
        worst=np.zeros(0, dtype=np.int64),
    )
    scope = said("feature_game_batch", dataclasses.replace(some, available=9)).scope
    assert scope.startswith(f"4 images of {result.dataset}, chosen at random from 9; ")
    told = said("feature_game_batch", some).sentence
    assert told == "2 of 4 images change class; half of all 4 by at most 9 pixels."
    severity = severity.copy()
    severity[2, 0] = np.nan
    few = dataclasses.replace(
        some, severity=severity, found_class=np.where(np.isnan(severity[:, 0]), -1, 1)
    )
    assert said("feature_game_batch", few).sentence == "1 of 4 images change class."
    _, curve, *_ = views_of("feature_game_batch", few)
    assert curve.lines[0].y.max() == 0.25  # three images stay above the curve


def test_the_frames_stand_on_the_changed_pixels() -> None:
    result = play(*instance(1)[:2], max_calls=1500)
    _, example = views_of("feature_game", result)[0].pictures
    assert [(spot.x, spot.y) for spot in example.spots] == [
        tuple(place) for place in result.changed.tolist()
    ]


def test_a_result_of_the_first_edition_still_opens() -> None:
    document, blob = encode(play(small_cnn(), image(), max_calls=200))
    document["fields"] |= {"norm": "l0", "distance": {"$float": "inf"}, "preset": "default"}
    assert decode(FeatureGameResult, document, blob).labels
