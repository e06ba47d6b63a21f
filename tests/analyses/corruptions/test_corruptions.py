"""Right answers under corruption are counted, judged and compared between models."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from robgui.analyses.corruptions.cost import corruption_calls
from robgui.analyses.corruptions.engine import corruptions
from robgui.analyses.corruptions.method import CORRUPTIONS
from robgui.analyses.corruptions.params import CorruptionsParams
from robgui.analyses.corruptions.result import CorruptionsResult
from robgui.core.codec import decode, encode
from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError, ParamsError
from robgui.core.execution.budget.cost import Subject
from robgui.core.finding_pair import pair_of
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status


class Side(nn.Module):
    """Which half is brighter; ``fragile`` says "left" as soon as a pixel is white."""

    def __init__(self, fragile: bool = False) -> None:
        super().__init__()
        self.fragile = fragile

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left, right = x[..., :16].mean((1, 2, 3)), x[..., 16:].mean((1, 2, 3))
        if self.fragile:
            left = torch.where(x.amax((1, 2, 3)) > 0.99, torch.ones_like(left) * 2, left)
        return torch.stack([left, right], 1) * 50


@pytest.fixture
def data(tmp_path):
    generator = np.random.default_rng(0)
    labels = np.arange(60) % 2
    x = generator.uniform(80, 120, (60, 3, 32, 32))
    x[labels == 0, :, :, :16] += 80
    x[labels == 1, :, :, 16:] += 80
    path = tmp_path / "sides.npz"
    np.savez(path, x=x.astype(np.uint8), y=labels, names=np.array(["left", "right"]))
    return open_dataset(path)


def model(fragile: bool = False) -> Classifier:
    name = "fragile" if fragile else "robust"
    return Classifier.from_module(Side(fragile), (3, 32, 32), ["left", "right"], name=name)


def run(models, data, **settings):
    params = CorruptionsParams(**settings)
    return list(corruptions(models, data, params)), params


def test_a_model_that_white_pixels_turn_fails_under_impulses_and_under_nothing_else(data):
    steps, params = run((model(fragile=True),), data, most=60)
    result = steps[-1].result
    said = CORRUPTIONS.verdict(result, params)
    assert said.status is Status.FAILS
    assert said.sentence == (
        "Impulse noise at severity 1 lowers the accuracy on 60 pictures from 100 % to 50.0 %."
    )
    accuracy = dict(zip(result.kinds, result.accuracy(0)[:, 0], strict=True))
    assert accuracy["impulse noise"] == 0.5 and accuracy["motion blur"] == 1
    matrix, curves, *_ = CORRUPTIONS.views(result, params)
    assert matrix.rows[-1] == "impulse noise", "the worst is at the top of the first picture"
    assert matrix.columns[:2] == ("clean", "1") and matrix.values[-1, :2].tolist() == [1.0, 0.5]
    worst = curves.lines[-1]
    assert worst.name == "worst kind: impulse noise", "what the sentence names is drawn"
    assert worst.y[:2].tolist() == [1.0, 0.5]
    found = CORRUPTIONS.findings(result, params)
    assert found and {one.detail["corruption"] for one in found} == {"impulse noise"}
    assert all(one.detail["other_class"] == "left" for one in found)
    assert all(pair_of(one) is not None for one in found), "before and after can be told apart"


def test_one_that_nothing_turns_holds_and_few_pictures_are_too_few(data):
    steps, params = run((model(),), data, most=0)
    assert CORRUPTIONS.verdict(steps[-1].result, params).status is Status.UNKNOWN
    steps, params = run((model(),), data, most=0, most_fall=0.25, kinds=("jpeg", "contrast"))
    said = CORRUPTIONS.verdict(steps[-1].result, params)
    assert said.status is Status.HOLDS
    assert (
        said.sentence
        == "No corruption that was tried at severity 1 or 2 lowers the accuracy of 100 % on 60"
        " pictures."
    )


def test_an_interval_that_leaves_everything_open_is_not_shown_as_a_number(data):
    one = {"kinds": ("impulse_noise",)}
    steps, params = run((model(fragile=True),), data, most=8, **one)
    told = CORRUPTIONS.verdict(steps[-1].result, params).number
    assert told.words.endswith("of only 8 pictures") and not np.isfinite(told.low)
    steps, params = run((model(fragile=True),), data, most=60, **one)
    assert " to " in CORRUPTIONS.verdict(steps[-1].result, params).number.words


def test_several_models_see_the_same_pictures_and_errors_are_multiples_of_the_first(data):
    steps, params = run(
        (model(fragile=True), model()), data, most=20, kinds=("impulse_noise", "jpeg")
    )
    result = steps[-1].result
    assert result.networks == ("fragile", "robust")
    said = CORRUPTIONS.verdict(result, params)
    assert len(said.models) == 2 and "“robust” is right most often: 100 %" in said.sentence
    assert said.sentence.startswith("fragile: Impulse noise"), "what fails comes first"
    assert said.sentence.endswith("beyond chance.") and said.number.name.endswith(", fragile")
    own = list(run((model(),), data, most=20, kinds=("impulse_noise", "jpeg"))[0])[-1].result
    np.testing.assert_array_equal(own.right[0], result.right[1])
    np.testing.assert_array_equal(own.places, result.places)


def test_each_model_is_told_by_its_own_class_names(data):
    class Turned(Side):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x).flip(1)

    other = Classifier.from_module(Turned(True), (3, 32, 32), ["right", "left"], name="turned")
    steps, params = run((model(), other), data, most=20, kinds=("impulse_noise",))
    found = CORRUPTIONS.findings(steps[-1].result, params)
    assert found and {one.network for one in found} == {"turned"}
    assert {(one.detail["class"], one.detail["other_class"]) for one in found} == {
        ("right", "left")
    }


def test_the_relative_error_is_that_of_the_definition():
    right = np.zeros((2, 2, 2, 10), dtype=bool)
    right[0, 0, 0, :6] = right[0, 0, 1, :4] = right[0, 1, 0, :8] = right[0, 1, 1, :8] = True
    right[1, 0, 0, :8] = right[1, 0, 1, :8] = right[1, 1, 0, :9] = right[1, 1, 1, :5] = True
    result = CorruptionsResult(
        ("a", "b"),
        ("one", "two"),
        ("noise", "blur"),
        (1, 2),
        np.ones((2, 10), dtype=bool),
        right,
        np.arange(10),
        (("x", "y"), ("x", "y")),
        "data",
        10,
        10,
        (),
        0,
    )
    # the first kind: 0.4 errors against 1; the second: 0.6 against 0.4
    assert result.relative_error(1) == pytest.approx((0.4 + 1.5) / 2)
    assert result.relative_error(0) == pytest.approx(1)


def test_the_interval_of_the_mean_covers_and_that_of_the_fall_too():
    generator = np.random.default_rng(0)
    covered = sure = 0
    for _ in range(200):
        skill = generator.beta(4, 2, 80)  # pictures differ; corruptions of one belong together
        right = generator.random((1, 3, 2, 80)) < skill
        clean = generator.random((1, 80)) < 0.9
        result = CorruptionsResult(
            ("a",), ("x", "y", "z"), ("noise",) * 3, (1, 2), clean, right, np.arange(80), (("p", "q"),),
            "data", 80, 80, (), 0,
        )  # fmt: skip
        _, low, high = result.mean_accuracy(0)
        covered += low <= 4 / 6 <= high
        _, low, high = result.falls(0)
        sure += bool(((low <= 0.9 - 4 / 6) & (high >= 0.9 - 4 / 6)).all())
    assert covered >= 190 and sure >= 190


def test_every_step_has_all_corruptions_and_the_views_are_made(data):
    steps, params = run((model(fragile=True),), data, most=24, severities=(1, 5))
    for step in steps:
        assert step.result.right.shape[:3] == (1, 19, 2) and step.result.done
        assert len(CORRUPTIONS.views(step.result, params)) >= 3
    record, arrays = encode(steps[-1].result)
    again = decode(CorruptionsResult, record, arrays)
    np.testing.assert_array_equal(again.right, steps[-1].result.right)
    assert steps[-1].result.model_calls == 24 * (1 + 19 * 2)


def test_colours_are_left_out_where_there_are_none_and_the_estimate_knows(tmp_path):
    x = np.random.default_rng(0).integers(0, 255, (6, 1, 32, 32), dtype=np.uint8)
    np.savez(tmp_path / "grey.npz", x=x, y=np.arange(6) % 2, names=np.array(["left", "right"]))
    grey = Classifier.from_module(Side(), (1, 32, 32), ["left", "right"], name="grey")
    data = open_dataset(tmp_path / "grey.npz")
    steps, params = run((grey,), data, most=0, severities=(2,))
    assert len(steps[-1].result.kinds) == 18 and "saturation" not in steps[-1].result.kinds
    known = corruption_calls(params, Subject(6, 1, "image", (1, 32, 32), 2, gradients=True))
    assert known.most == steps[-1].result.model_calls == 6 * 19
    with pytest.raises(DataError, match="grey sees no colours"):
        run((grey,), data, kinds=("saturate",))


def test_an_unknown_kind_and_data_without_labels_are_one_sentence(data, tmp_path):
    with pytest.raises(ParamsError, match="there is no corruption rain"):
        CorruptionsParams.parse({"kinds": ("rain",)})
    np.save(tmp_path / "bare.npy", np.zeros((4, 3, 32, 32), np.uint8))
    with pytest.raises(DataError, match="has no labels that robust knows"):
        run((model(),), open_dataset(tmp_path / "bare.npy"))


def made(clean: np.ndarray, right: np.ndarray, classes: int = 2) -> CorruptionsResult:
    """Answers of models ``(m, n)`` under one kind and severity that change as ``right`` says."""
    networks = tuple("abc"[: len(clean)])
    names = tuple(f"c{number}" for number in range(classes))
    n = clean.shape[1]
    return CorruptionsResult(
        networks, ("fog",), ("weather",), (1,), clean, right[:, None, None], np.arange(n),
        (names,) * len(clean), "data", n, n, (), 0,
    )  # fmt: skip


def test_the_better_of_two_models_may_be_chance_and_then_it_is_said():
    clean = np.ones((2, 40), dtype=bool)
    right = clean.copy()
    right[0, :3] = right[1, 3:7] = False
    said = CORRUPTIONS.verdict(made(clean, right), CorruptionsParams())
    assert (
        "“a” is right most often: 92.5 %, next “b”: 90.0 %, which may be chance." in said.sentence
    )
    same = CORRUPTIONS.verdict(made(clean, clean), CorruptionsParams())
    assert "the two best are right equally often: 100 %" in same.sentence


def test_a_model_that_is_hardly_ever_right_has_no_room_to_fall_and_never_holds():
    clean = np.arange(2000)[None] < 100
    said = CORRUPTIONS.verdict(made(clean, clean, classes=10), CorruptionsParams())
    assert said.status is Status.UNKNOWN and "no room to fall" in said.because[0]
    good = np.arange(2000)[None] < 1900
    assert CORRUPTIONS.verdict(made(good, good, 10), CorruptionsParams()).status is Status.HOLDS


def test_one_picture_has_no_interval():
    one = np.ones((1, 1), dtype=bool)
    said = CORRUPTIONS.verdict(made(one, one), CorruptionsParams())
    assert said.number.words == "100 % of only 1 picture"


def test_what_only_a_strong_corruption_turns_is_shown_and_is_no_finding(data):
    steps, params = run(
        (model(fragile=True),), data, most=20, kinds=("impulse_noise",), severities=(4, 5)
    )
    result = steps[-1].result
    assert result.examples and not CORRUPTIONS.findings(result, params)
    assert CORRUPTIONS.findings(result, CorruptionsParams(judged=4))
