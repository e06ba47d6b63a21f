"""Answers that change with the preparation are counted, and a wrong preparation is called one."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from robgui.analyses.pipeline.engine import pipeline_audit
from robgui.analyses.pipeline.method import AUDIT
from robgui.analyses.pipeline.params import PipelineParams
from robgui.analyses.pipeline.result import apart
from robgui.core.dataset import open_dataset
from robgui.core.dataset.framing import Framing
from robgui.core.errors import ParamsError
from robgui.core.finding_pair import pair_of
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status


class Middle(nn.Module):
    """Class 1 where the middle of the red channel is bright."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        score = x[:, 0, 12:20, 12:20].mean((1, 2))
        return torch.stack([0.5 - score, score - 0.5], 1) * 20


@pytest.fixture
def pictures(tmp_path):
    """Wide pictures with a narrow strip in the middle that says the class; squashing dilutes it."""
    generator = np.random.default_rng(0)
    for number in range(40):
        bright = number % 2
        picture = np.full((64, 256, 3), 0.75 * (1 - bright)) + generator.random((64, 256, 3)) / 50
        picture[:, 112:144, 0] = 0.9 if bright else 0.1
        folder = tmp_path / f"class_{bright}"
        folder.mkdir(exist_ok=True)
        Image.fromarray((picture * 255).clip(0, 255).astype(np.uint8)).save(
            folder / f"{number:02}.png"
        )
    return open_dataset(tmp_path)


def classifier(**settings) -> Classifier:
    made = Classifier.from_callable(Middle(), (3, 32, 32), labels=["class_0", "class_1"])
    return made.with_settings(made.settings.change(**settings))


def audit(model, data, **settings):
    params = PipelineParams(**settings)
    result = list(pipeline_audit(model, data, params))[-1].result
    return result, params


def test_a_model_that_is_fed_wrongly_fails_and_the_better_way_is_named(pictures):
    result, params = audit(classifier(), pictures)
    verdict = AUDIT.verdict(result, params)
    assert verdict.status is Status.FAILS and "middle of the shorter side" in verdict.sentence
    assert "right on 40 of 40 pictures" in verdict.sentence
    right, _ = audit(classifier(resize="crop"), pictures)
    assert AUDIT.verdict(right, params).status is not Status.FAILS


def test_changes_are_those_of_a_slow_count(pictures):
    model = classifier()
    result, _ = audit(model, pictures, jpeg=(30,))
    for number, name in enumerate(result.ways):
        changed = 0
        for place in range(len(pictures)):
            pixels = np.asarray(Image.open(pictures.path / pictures.key(place)))
            own = Framing().apply(pixels, 32, 32).astype(np.float32) / 255
            other = {
                "with grey bars": lambda p: Framing("letterbox").apply(p, 32, 32) / 255,
                "blue, green, red": lambda _, x=own: x[:, :, ::-1],
                "JPEG 30": lambda _, x=own: through_jpeg(x, 30),
            }.get(name)
            if other is None:
                break
            x = torch.from_numpy(
                np.stack([own, np.asarray(other(pixels), np.float32)]).transpose(0, 3, 1, 2).copy()
            )
            before, after = Middle()(x).argmax(1).tolist()
            changed += before != after
        else:
            assert result.changes[number] == changed, name


def through_jpeg(x, quality):
    file = io.BytesIO()
    Image.fromarray(np.rint(x * 255).astype(np.uint8)).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file)) / 255


def test_pictures_of_the_models_size_are_not_resized(tmp_path):
    np.savez(tmp_path / "a.npz", images=np.random.default_rng(0).random((8, 32, 32, 3)))
    result, params = audit(classifier(), open_dataset(tmp_path / "a.npz"))
    assert not result.resized and "squashed" not in result.ways and "grey" in result.ways
    assert "no size was tried" in AUDIT.verdict(result, params).scope


def test_few_pictures_without_a_change_are_no_proof(tmp_path):
    values = np.zeros((5, 32, 32, 3), np.uint8)
    np.savez(tmp_path / "a.npz", images=values)
    result, params = audit(classifier(), open_dataset(tmp_path / "a.npz"))
    assert result.changes.sum() == 0
    assert AUDIT.verdict(result, params).status is Status.UNKNOWN
    np.savez(tmp_path / "b.npz", images=np.repeat(values, 30, axis=0))
    result, params = audit(classifier(), open_dataset(tmp_path / "b.npz"))
    assert AUDIT.verdict(result, params).status is Status.HOLDS


def test_every_step_can_be_said_and_drawn(pictures, monkeypatch):
    monkeypatch.setattr("robgui.analyses.pipeline.engine.TOGETHER", 4)
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    params = PipelineParams()
    steps = list(pipeline_audit(classifier(), pictures, params))
    assert len(steps) == 10 and not steps[0].result.complete and steps[-1].result.complete
    for step in steps:
        verdict = AUDIT.verdict(step.result, params)
        assert verdict.sentence and AUDIT.views(step.result, params)
        assert verdict.scope.startswith("So far") != step.result.complete
    result = steps[-1].result
    judged = [example for example in result.examples if result.judged[example.way]]
    found = AUDIT.findings(result, params)
    assert len(found) == len(judged)
    assert all(pair_of(one) is not None for one in found), "before and after can be told apart"


def test_the_matrix_of_ways_is_symmetric_with_nothing_on_its_diagonal(pictures):
    result, _ = audit(classifier(), pictures)
    values = apart(result)
    assert (values == values.T).all() and not np.diag(values).any()
    assert values[0].tolist() == (result.changes / 40).tolist()


def test_a_quality_beyond_100_is_one_sentence():
    with pytest.raises(ParamsError, match="between 1 and 100"):
        PipelineParams.parse({"jpeg": (101,)})


def test_colours_that_are_taken_away_are_shown_and_decide_nothing(tmp_path):
    red = np.zeros((150, 32, 32, 3), np.uint8)
    red[..., 0] = 255
    np.savez(tmp_path / "a.npz", images=red)
    result, params = audit(classifier(), open_dataset(tmp_path / "a.npz"))
    assert result.changes.max() == 150, "in other colours every answer changes"
    verdict = AUDIT.verdict(result, params)
    assert verdict.status is Status.HOLDS and verdict.number.value == 0


def test_fewer_pictures_than_there_are_are_a_random_sample_and_it_is_said(pictures):
    result, params = audit(classifier(), pictures, pictures=20, seed=1)
    assert set(result.truth.tolist()) == {0, 1}, "the folder is sorted by class"
    assert sorted(result.places.tolist()) != list(range(20))
    scope = AUDIT.verdict(result, params).scope
    assert "20 pictures of" in scope and "chosen at random from 40" in scope


def test_what_holds_and_what_does_not_change_names_how_much_was_tried(tmp_path):
    """Pictures of the model's size are not resized: no claim is made about usual ways at large."""
    np.savez(tmp_path / "a.npz", images=np.zeros((150, 32, 32, 3), np.uint8))
    result, params = audit(classifier(), open_dataset(tmp_path / "a.npz"))
    said = AUDIT.verdict(result, params)
    assert said.status is Status.HOLDS and said.sentence == (
        "None of 3 ways of preparing that keep the colours changes more than 5.0 % of the answers,"
        " 95 % sure."
    )
    few, params = audit(classifier(), open_dataset(tmp_path / "a.npz"), pictures=5)
    assert AUDIT.verdict(few, params).sentence == (
        "No answer to 5 pictures changes under any of 3 ways of preparing that keep the colours."
    )
