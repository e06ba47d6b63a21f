"""What the labels say is counted as scikit-learn counts it, and what is wrong is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from torch import nn

from robgui.analyses.accuracy.engine import accuracy
from robgui.analyses.accuracy.method import ACCURACY
from robgui.analyses.accuracy.params import AccuracyParams
from robgui.analyses.accuracy.result import AccuracyResult, Compared, calibration, precision
from robgui.analyses.accuracy.words import failing_classes
from robgui.core.codec import decode, encode
from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError, ModelError
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status
from robgui.core.view import Bars, Matrix

NAMES = ["red", "green", "blue"]


class Brightest(nn.Module):
    """The class is the brightest channel; a dark picture is always taken for red."""

    def __init__(self, dark: float = 0.0, sharpness: float = 30.0) -> None:
        super().__init__()
        self.colour = nn.Conv2d(3, 3, 1, bias=False)
        self.last = nn.Linear(3, 3, bias=False)
        self.dark, self.sharpness = dark, sharpness
        with torch.no_grad():
            self.colour.weight.copy_(torch.eye(3)[:, :, None, None])
            self.last.weight.copy_(torch.eye(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        means = self.colour(x).mean((2, 3))
        scores = self.last(means) * self.sharpness
        night = (means.mean(1) < self.dark).float()[:, None]
        return scores * (1 - night) + night * torch.tensor([[self.sharpness, 0.0, 0.0]])


def pictures(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Pictures whose brightest channel is their class, from dark to bright."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 3, n)
    light = generator.uniform(0.1, 0.9, (n, 1, 1, 1))
    x = generator.random((n, 3, 20, 20)) * 0.5 * light
    x[np.arange(n), labels] += 0.5 * light[:, :, 0]
    return x.astype(np.float32).clip(0, 1), labels


def data(tmp_path, x: np.ndarray, labels: np.ndarray, names=NAMES):
    path = tmp_path / "data.npz"
    np.savez(path, x=(x * 255).round().astype(np.uint8), y=labels, names=np.array(names))
    return open_dataset(path)


def classifier(module: nn.Module | None = None) -> Classifier:
    return Classifier.from_module(module or Brightest(), (3, 20, 20), NAMES, name="brightest")


def counted(model: Classifier, inputs, **settings):
    params = AccuracyParams(**settings)
    return list(accuracy(model, inputs, params)), params


def test_counts_are_those_of_scikit_learn(tmp_path):
    x, labels = pictures()
    steps, _ = counted(classifier(Brightest(dark=0.2)), data(tmp_path, x, labels))
    result = steps[-1].result
    assert sorted(result.places.tolist()) == list(range(len(labels)))
    np.testing.assert_array_equal(result.truth, labels[result.places])
    errors = result.errors()
    np.testing.assert_array_equal(errors.table, confusion_matrix(result.truth, result.predicted))
    found = precision_recall_fscore_support(result.truth, result.predicted, zero_division=0)
    np.testing.assert_allclose(precision(errors)[0], found[0])
    np.testing.assert_allclose(1 - errors.share, found[1])
    assert 0 < errors.wrong.sum() < len(labels)


def test_every_step_is_a_random_sample_and_the_same_seed_gives_the_same(tmp_path):
    x, labels = pictures()
    order = np.argsort(labels, kind="stable")
    inputs = data(tmp_path, x[order], labels[order])
    steps, params = counted(classifier(), inputs, batch=30)
    assert len(np.unique(steps[0].result.truth)) == 3
    assert steps[0].result.done == 30
    assert "So far 30 of 300 inputs" in ACCURACY.verdict(steps[0].result, params).scope
    again, _ = counted(classifier(), inputs, batch=30)
    np.testing.assert_array_equal(again[-1].result.places, steps[-1].result.places)
    other, _ = counted(classifier(), inputs, most=100, seed=1)
    assert other[-1].result.done == 100
    assert "chosen at random from 300" in ACCURACY.verdict(other[-1].result, params).scope


def test_a_class_that_is_never_recognised_fails_however_good_the_average(tmp_path):
    x, labels = pictures(600)
    keep = np.flatnonzero((labels != 2) | (np.cumsum(labels == 2) <= 15))
    model = Brightest()
    with torch.no_grad():
        model.last.weight[2] = -1.0
    steps, params = counted(classifier(model), data(tmp_path, x[keep], labels[keep]))
    result = steps[-1].result
    said = ACCURACY.verdict(result, params)
    assert said.status is Status.FAILS
    assert "“blue” is recognised on 0 of 15 inputs" in said.sentence
    assert result.accuracy()[0] > 0.95
    first = ACCURACY.findings(result, params)[0]
    assert (first.kind, first.detail["class"]) == ("class", "blue")


def test_a_model_without_mistakes_holds_and_one_confident_mistake_puts_it_at_risk(tmp_path):
    x, labels = pictures()
    steps, params = counted(classifier(), data(tmp_path, x, labels))
    assert ACCURACY.verdict(steps[-1].result, params).status is Status.HOLDS
    labels[7] = (labels[7] + 1) % 3
    x[7, :] = 0
    x[7, (labels[7] + 2) % 3] = 1.0
    steps, params = counted(classifier(), data(tmp_path, x, labels))
    said = ACCURACY.verdict(steps[-1].result, params)
    assert said.status is Status.AT_RISK
    assert "1 wrong answer is given with at least 90 % confidence" in " ".join(said.because)
    mistake = steps[-1].result.mistakes[0]
    assert (mistake.place, mistake.truth) == (7, labels[7])


def test_dark_pictures_are_named_as_the_weak_slice(tmp_path):
    x, labels = pictures(900)
    steps, params = counted(classifier(Brightest(dark=0.15)), data(tmp_path, x, labels))
    weak = steps[-1].result.compared.slices
    assert weak[0].name == "brightness: lowest third"
    assert any(one.kind == "slice" for one in ACCURACY.findings(steps[-1].result, params))


def test_a_weak_slice_names_its_surest_mistakes_and_shows_them_on_one_sheet(tmp_path):
    x, labels = pictures(900)
    steps, params = counted(classifier(Brightest(dark=0.15)), data(tmp_path, x, labels))
    result = steps[-1].result
    weak = result.compared.slices[0]
    found = next(one for one in ACCURACY.findings(result, params) if one.kind == "slice")
    inside = [place for place in weak.members if not result.right[place]]
    confidence = dict(zip(result.places.tolist(), result.confidence.tolist(), strict=True))
    surest = sorted(confidence[int(result.places[row])] for row in inside)[::-1][:12]
    assert [confidence[place] for place in found.detail["inputs"]] == surest
    shown = [one for one in result.mistakes if one.place in found.detail["inputs"]]
    if shown:
        high, wide = shown[0].picture.shape[:2]
        assert (
            found.picture[:high, :wide]
            == next(
                one.picture for one in sorted(shown, key=lambda one: found.places.index(one.place))
            )
        ).all()
    else:
        assert found.picture is None


def test_slices_that_are_no_harder_than_the_rest_are_rarely_called_weak(tmp_path):
    from robgui.analyses.accuracy.slices import weak_slices

    generator = np.random.default_rng(3)
    called = 0
    for _ in range(200):
        values, right = generator.random((300, 4)), generator.random(300) < 0.9
        keys = [f"{number % 3}/{number}.png" for number in range(300)]
        found, tried = weak_slices(values, tuple("abcd"), keys, right, np.arange(300) % 7)
        assert tried == 15
        called += bool(found)
    assert called <= 20  # at most 5 % of the time; 20 of 200 would come once in 600 tries


def test_a_flipped_label_and_a_copied_picture_are_found(tmp_path):
    x, labels = pictures(300)
    x[11] = x[10]
    labels[11] = labels[10]
    flipped = int(np.argmax(x.mean((1, 2, 3))))
    labels[flipped] = (labels[flipped] + 1) % 3
    steps, params = counted(classifier(), data(tmp_path, x, labels))
    result = steps[-1].result
    assert flipped in [one.place for one in result.compared.suspects]
    pairs = [sorted(result.places[pair].tolist()) for pair in result.compared.twins]
    assert [10, 11] in pairs
    titles = [offer.title for offer in ACCURACY.offers(result, params)]
    assert titles == ["The surest mistakes", "Labels to check", "Near-duplicates"]


def test_the_calibration_error_is_that_of_the_definition(tmp_path):
    x, labels = pictures(300)
    steps, _ = counted(classifier(Brightest(dark=0.2, sharpness=3.0)), data(tmp_path, x, labels))
    result = steps[-1].result
    total = 0.0
    for low in np.arange(10) / 10:
        inside = (result.confidence >= low) & (result.confidence < low + 0.1)
        if inside.any():
            gap = abs(result.right[inside].mean() - result.confidence[inside].mean())
            total += inside.mean() * gap
    assert calibration(result).error == pytest.approx(total)
    assert total > 0.05


def test_a_model_that_shows_no_layers_is_compared_by_its_scores(tmp_path):
    x, labels = pictures(60)

    def scores(batch: np.ndarray) -> np.ndarray:
        return np.asarray(batch).mean((2, 3)) * 30

    model = Classifier.from_callable(scores, (3, 20, 20), NAMES)
    steps, _ = counted(model, data(tmp_path, x, labels))
    assert steps[-1].result.compared.features == "the scores of the classes"
    assert steps[-1].result.compared.spots.shape == (60, 2)
    assert steps[-1].result.model_calls == 60


def test_the_neighbour_map_puts_classes_apart(tmp_path):
    x, labels = pictures(90)
    steps, _ = counted(classifier(), data(tmp_path, x, labels), layout="tsne")
    result = steps[-1].result
    centres = [result.compared.spots[result.truth == c].mean(0) for c in range(3)]
    spread = max(result.compared.spots[result.truth == c].std() for c in range(3))
    assert min(np.linalg.norm(centres[a] - centres[b]) for a, b in ((0, 1), (0, 2), (1, 2))) > (
        spread
    )


def test_without_labels_and_for_several_classes_at_once_one_sentence_says_so(tmp_path):
    x, _ = pictures(20)
    path = tmp_path / "bare.npy"
    np.save(path, (x * 255).astype(np.uint8))
    with pytest.raises(DataError, match="has no labels that brightest knows"):
        counted(classifier(), open_dataset(path))
    several = classifier()
    several = several.with_settings(several.settings.change(multi_label=True))
    with pytest.raises(ModelError, match="several classes at once"):
        counted(several, data(tmp_path, *pictures(20)))


def test_a_result_survives_the_codec_and_every_view_is_made_at_every_step(tmp_path):
    x, labels = pictures(200)
    steps, params = counted(classifier(Brightest(dark=0.2)), data(tmp_path, x, labels), batch=50)
    for step in steps:
        views = ACCURACY.views(step.result, params)
        assert isinstance(views[0], Bars)
        assert isinstance(views[1], Matrix)
    record, arrays = encode(steps[-1].result)
    again = decode(type(steps[-1].result), record, arrays)
    np.testing.assert_array_equal(again.truth, steps[-1].result.truth)
    assert ACCURACY.verdict(again, params) == ACCURACY.verdict(steps[-1].result, params)


def test_rows_of_a_table_are_cut_by_their_columns(tmp_path):
    generator = np.random.default_rng(0)
    rows = generator.random((400, 2)).round(4)
    truth = (rows[:, 0] > 0.5).astype(int)
    lines = [f"{a},{b},{'high' if c else 'low'}" for (a, b), c in zip(rows, truth, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["first,second,label", *lines]))

    def scores(batch: np.ndarray) -> np.ndarray:
        batch = np.asarray(batch)
        high = (batch[:, 0] > 0.5) ^ (batch[:, 1] > 0.8)
        return np.stack([1.0 - high, high * 1.0], 1)

    model = Classifier.from_callable(
        scores, (2,), ["low", "high"], name="rule", features=("first", "second")
    )
    steps, _ = counted(model, open_dataset(path, label="label"))
    assert steps[-1].result.compared.slices[0].name == "second: highest third"


def test_few_members_fail_only_where_that_is_sure():
    from robgui.core.class_errors import class_errors

    truth = np.array([0] * 9 + [1] * 40)
    for wrong, failing in ((9, [0]), (4, [])):
        predicted = np.where(np.arange(49) < wrong, 1, truth)
        errors = class_errors(truth, predicted, 2)
        assert errors is not None
        assert failing_classes(errors, 0.8).tolist() == failing
    assert (
        "cannot be judged"
        in ACCURACY.verdict(made(truth, predicted, 2), AccuracyParams(least=0.8)).text
    )
    lost = made(truth, np.ones(49, dtype=int), 2)
    assert "cannot be judged" not in ACCURACY.verdict(lost, AccuracyParams()).text


def test_the_weakest_class_is_the_one_that_is_recognised_least():
    # 4 of 127 wrong is the surer failure, 3 of 73 the larger share.
    truth = np.repeat([0, 1, 2], [127, 73, 3])
    predicted = truth.copy()
    predicted[[0, 1, 2, 3, 127, 128, 129, 200]] = [1, 1, 1, 1, 0, 0, 0, 0]
    result, params = made(truth, predicted, 3), AccuracyParams()
    assert "weakest class “c1”, recognised on 70 of 73 inputs" in (
        ACCURACY.verdict(result, params).sentence
    )
    bars = ACCURACY.views(result, params)[0]
    assert isinstance(bars, Bars) and bars.names == ("c1", "c0", "c2")
    assert "fewer than 10 labelled inputs" in bars.note


def made(truth, predicted, classes: int, **changes) -> AccuracyResult:
    names = tuple(f"c{number}" for number in range(classes))
    n = len(truth)
    result = AccuracyResult(
        np.arange(n), np.asarray(truth), np.asarray(predicted), np.full(n, 0.6), names, "data",
        n, n, (), Compared(), n,
    )  # fmt: skip
    return replace(result, **changes)


def test_classes_without_a_labelled_input_are_in_the_sentence_and_no_row_of_right_answers():
    truth, predicted = [0] * 50 + [1] * 50, [0] * 50 + [1] * 45 + [3] * 5
    result = made(truth, predicted, 5)
    params = AccuracyParams()
    said = ACCURACY.verdict(result, params)
    assert "of 100 labelled inputs, which are of 2 of 5 classes" in said.sentence
    matrix = next(view for view in ACCURACY.views(result, params) if isinstance(view, Matrix))
    assert matrix.rows == ("c1", "c0") and matrix.columns == ("c0", "c1", "c3")
    assert np.isnan(matrix.values).sum() == 2, "only right answers are left out"
    assert matrix.values[0, 2] == 0.1


def test_with_many_classes_what_the_weakest_are_taken_for_has_a_column():
    truth = np.repeat(np.arange(60), 10)
    predicted = np.where((truth < 45) & (np.arange(600) % 10 < 5), 59, truth)
    view = ACCURACY.views(made(truth, predicted, 60), AccuracyParams())[1]
    assert len(view.rows) == 40 and "c59" in view.columns
    assert np.nanmax(view.values) == 0.5


def test_several_failing_classes_are_said_to_fail():
    truth = np.repeat(np.arange(4), 40)
    predicted = np.where(truth < 3, 3, truth)
    said = ACCURACY.verdict(made(truth, predicted, 4), AccuracyParams())
    assert said.sentence.startswith("“c0” is recognised on 0 of 40 inputs; 2 more classes fail;")


def test_how_many_inputs_were_compared_stands_beside_what_was_found_among_them():
    compared = Compared(doubtful=3, spots=np.zeros((40, 2), np.float32), twins=np.array([[0, 99]]))
    truth = [0] * 50 + [1] * 50
    said = ACCURACY.verdict(made(truth, truth, 2, compared=compared), AccuracyParams())
    text = " ".join(said.because)
    assert (
        "For 3 wrong answers the label may be at fault and not the model, a suspicion only: of 40"
        in text
    )
    assert "Different labels in 1 pair of near-duplicates, of 40 inputs compared" in text
