"""Brackets hold the exact tolerance of a linear model, and what is drawn from them is true."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import torch
from scipy.stats import binom
from torch import nn

from robgui.analyses.tolerance.cost import tolerance_calls
from robgui.analyses.tolerance.engine import tolerance
from robgui.analyses.tolerance.method import TOLERANCE
from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.tolerance.result import NoiseTolerance, ToleranceResult
from robgui.core.codec import decode, encode
from robgui.core.dataset import open_dataset
from robgui.core.errors import ModelError, ParamsError
from robgui.core.execution.budget.clock import Clock
from robgui.core.execution.budget.cost import Subject
from robgui.core.execution.step import Pace
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status
from robgui.core.view import Bars, Ink
from robgui.report.drawing.numbers import to_csv

NAMES = ["low", "high"]


def linear(scale: float = 1.0, seed: int = 0, name: str = "linear") -> Classifier:
    """Two classes apart by a plane through the middle of the cube."""
    layer = nn.Linear(6, 2)
    weights = np.random.default_rng(seed).normal(size=6) * scale
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(np.stack([-weights, weights]) / 2))
        layer.bias.copy_(torch.tensor([weights.sum() / 4, -weights.sum() / 4]))
    return Classifier.from_module(nn.Sequential(layer), (6,), NAMES, name=name)


def exact(model: Classifier, x: np.ndarray) -> np.ndarray:
    """Distance in the largest norm: the margin over the sum of the weights' sizes."""
    layer = model.backend.module[0]
    weights = (layer.weight[1] - layer.weight[0]).detach().double().numpy()
    bias = float(layer.bias[1] - layer.bias[0])
    return np.abs(x @ weights + bias) / np.abs(weights).sum()


@pytest.fixture
def rows(tmp_path):
    """Rows near the middle, so that no change meets the border of the cube."""
    x = np.random.default_rng(1).uniform(0.3, 0.7, (20, 6)).round(6)
    path = tmp_path / "rows.npz"
    np.savez(path, x=x.astype(np.float32))
    return open_dataset(path), x


def run(models, data, **settings):
    params = ToleranceParams(**settings)
    return list(tolerance(models, data, params)), params


def test_the_exact_tolerance_of_a_linear_model_lies_in_every_bracket(rows):
    data, x = rows
    model = linear()
    steps, _ = run((model,), data, sizes=12, largest=0.4)
    result = steps[-1].result
    truth = exact(model, x)[result.places]
    inside = np.isfinite(result.broken[0])
    assert (result.proven[0] <= truth).all()
    assert (result.broken[0][inside] >= truth[inside] * (1 - 1e-5)).all()
    np.testing.assert_allclose(result.broken[0][inside], truth[inside], rtol=2e-3, atol=1e-5)
    proven = result.proven[0] > 0
    assert (result.proven[0][proven] >= truth[proven] * 0.6).all(), "one size below at most"
    assert inside.sum() >= 16


def test_every_reported_change_turns_the_class_and_is_as_small_as_said(rows):
    data, _ = rows
    model = linear()
    steps, _ = run((model,), data, prove=False)
    result = steps[-1].result
    assert result.examples
    for one in result.examples:
        before = data.array([int(result.places[one.row])])[0]
        assert np.abs(one.input - before).max() <= one.size * (1 + 1e-4) + 1e-6
        answer = int(model.infer(one.input[None]).argmax())
        assert answer == one.after != one.before


def test_the_status_follows_what_is_broken_and_what_is_proven(rows):
    data, x = rows
    model = linear()
    smallest = float(exact(model, x).min())
    near = data.subset(np.argsort(exact(model, x))[:5])
    for size, prove, status in (
        (1.2, True, Status.FAILS),
        (0.97, False, Status.AT_RISK),
        (0.97, True, Status.HOLDS),
    ):
        settings = {"hold": smallest * size, "prove": prove, "sizes": 14, "largest": 0.3}
        steps, params = run((model,), near, **settings)
        assert TOLERANCE.verdict(steps[-1].result, params).status is status, settings
    far = data.subset(np.argsort(-exact(model, x))[:3])
    steps, params = run((model,), far, hold=0.005, sizes=12, largest=0.3)
    said = TOLERANCE.verdict(steps[-1].result, params)
    assert said.status is Status.HOLDS and "proven" in said.sentence
    steps, params = run((model,), far, hold=0.005, prove=False)
    said = TOLERANCE.verdict(steps[-1].result, params)
    assert said.status is not Status.HOLDS and "Proofs are switched off." in said.because


def test_a_wrong_answer_takes_nothing(tmp_path):
    x = np.random.default_rng(1).uniform(0.3, 0.7, (5, 6)).astype(np.float32)
    model = linear()
    answers = model.infer(x).argmax(1).cpu().numpy()
    answers[3] = 1 - answers[3]
    np.savez(tmp_path / "rows.npz", x=x, y=answers, names=np.array(NAMES))
    steps, params = run((model,), open_dataset(tmp_path / "rows.npz"))
    result = steps[-1].result
    row = int(np.flatnonzero(result.places == 3)[0])
    assert result.wrong[0].sum() == 1 and result.wrong[0][row]
    assert result.proven[0][row] == result.broken[0][row] == 0
    assert TOLERANCE.verdict(result, params).status is Status.FAILS


def test_what_is_said_of_all_inputs_is_true_in_nineteen_of_twenty_runs():
    generator = np.random.default_rng(0)
    params, covered = ToleranceParams(), 0
    truth = float(np.exp(-20 * params.hold))
    for _ in range(300):
        sizes = generator.exponential(1 / 20, 60)
        result = made(sizes * generator.uniform(0.8, 1, 60), sizes * generator.uniform(1, 1.2, 60))
        number = TOLERANCE.verdict(replace(result, available=10_000), params).number
        covered += number.low <= truth <= number.high
    assert covered >= 285


def test_of_inputs_that_are_all_there_are_no_doubt_about_others_is_told():
    result = made(np.array([0.1, 0.0]), np.array([0.2, 0.01]))
    said, view = (one(result, ToleranceParams()) for one in (TOLERANCE.verdict, TOLERANCE.views))
    assert (said.number.low, said.number.high) == (0.5, 0.5) and view[0].note == ""
    said = TOLERANCE.verdict(replace(result, available=2000), ToleranceParams())
    assert (
        "Of all 2,000 inputs of data, between 1.3 % and 98.7 % take a change of 0.03 (95 % sure,"
        " judged by 2 inputs chosen at random)." in said.because
    )


def made(proven: np.ndarray, broken: np.ndarray) -> ToleranceResult:
    n = len(proven)
    return ToleranceResult(
        networks=("one",),
        places=np.arange(n),
        names=tuple(map(str, range(n))),
        proven=proven[None],
        broken=broken[None],
        wrong=np.zeros((1, n), dtype=bool),
        no_proof=("",),
        no_attack=("",),
        labels=(("a", "b"),),
        dataset="data",
        total=n,
        available=n,
        examples=(),
        model_calls=0,
    )


def test_two_models_are_ordered_only_where_the_brackets_tell(rows):
    data, x = rows
    strong, weak = linear(name="strong"), linear(seed=5, name="weak")
    steps, params = run((strong, weak), data, most=10, sizes=12, largest=0.4)
    result = steps[-1].result
    more, less = result.sure_order(0, 1)
    truth = [exact(one, x)[result.places] for one in (strong, weak)]
    assert more <= (truth[0] > truth[1]).sum() and less <= (truth[1] > truth[0]).sum()
    assert more + less > 4
    said = TOLERANCE.verdict(result, params)
    assert len(said.models) == 2 and "takes more than" in said.sentence


def test_a_model_without_gradients_or_bounds_says_so_and_never_holds(rows):
    data, _ = rows

    def scores(batch: np.ndarray) -> np.ndarray:
        batch = np.asarray(batch)
        return np.stack([0.5 - batch[:, 0], batch[:, 0] - 0.5], 1)

    model = Classifier.from_callable(scores, (6,), NAMES, name="black box")
    steps, params = run((model,), data, most=10)
    result = steps[-1].result
    assert np.isinf(result.broken).all() and not result.proven.any()
    said = TOLERANCE.verdict(result, params)
    assert said.status is Status.UNKNOWN
    assert any(reason.startswith("black box gives no gradients") for reason in said.because)
    assert any("no formal bounds" in reason for reason in said.because)
    assert said.sentence == (
        "Without gradients no attack was tried, and there is no proof: nothing is known about 10"
        " inputs."
    )
    assert any("single input to try random noise" in reason for reason in said.because)
    assert said.number.words == "not known" and np.isnan(said.number.value)
    views = TOLERANCE.views(result, params)
    known = [row.name for row in views[0].series if row.values.any()]
    assert known == ["undecided"] and views[0].note == "", "nothing is claimed"
    assert {box.ink for box in views[1].boxes} == {Ink("unknown")}
    assert "Green" not in views[1].note


def test_without_gradients_a_proof_counts_and_what_was_not_attacked_is_not_said_to_resist():
    proven = np.array([0.05, 0.0, 0.05])
    result = replace(made(proven, np.full(3, np.inf)), no_attack=("one gives no gradients: x",))
    said = TOLERANCE.verdict(result, ToleranceParams())
    assert said.status is Status.UNKNOWN
    assert said.sentence == (
        "Without gradients no attack was tried; proven to keep their class when values change by"
        " at most 0.03 of their range: 2 of 3 inputs."
    )
    parts = at_hold(TOLERANCE.views(result, ToleranceParams())[0])
    assert parts == {"proven to keep their class": 2, "undecided": 1}


def at_hold(view: Bars) -> dict[str, int]:
    """What the picture shows at the size that must be taken, without what is empty."""
    place = int(np.flatnonzero(view.edges[1:] == view.marks[0].at)[0])
    return {row.name: int(row.values[place]) for row in view.series if row.values[place]}


def test_the_picture_tells_what_is_proven_broken_and_unknown_at_every_size():
    proven = np.array([0.05, 0.0, 0.0, 0.01, 0.0])
    result = made(proven, np.array([np.inf, 0.03, 0.031, 0.2, 0.0]))
    result = replace(result, wrong=np.array([[False] * 4 + [True]]), total=9)
    view = TOLERANCE.views(result, ToleranceParams(hold=0.03))[0]
    assert at_hold(view) == {
        "proven to keep their class": 1,
        "undecided": 2,
        "change class": 1,
        "wrong even unchanged": 1,
    }
    assert (sum(row.values for row in view.series) == 5).all(), "all looked at, at every size"
    assert view.value.high == 9 and view.note.startswith("Not looked at: 4 inputs, the empty")
    assert view.x.title == "change of every value (1 = its whole range)"
    for size in (0.011, 0.0306, 0.05, 0.199):
        place = int(np.searchsorted(view.edges, size)) - 1
        assert view.edges[place] < size <= view.edges[place + 1]
        turned = (result.broken[0][:4] <= view.edges[place + 1]).sum()
        assert {row.name: row.values[place] for row in view.series}["change class"] == turned


def test_before_the_first_input_the_picture_is_the_one_to_come():
    before = replace(made(np.zeros(0), np.zeros(0)), total=6, available=6)
    first, *_ = TOLERANCE.views(before, ToleranceParams())
    assert isinstance(first, Bars) and at_hold(first) == {} and first.value.high == 6


def test_steps_come_before_the_first_input_has_an_answer_and_claim_nothing(rows, monkeypatch):
    data, _ = rows
    monkeypatch.setattr(Pace, "awaited", True)
    steps, params = run((linear(), linear(seed=5)), data, most=6)
    early = [step for step in steps if step.done == 0]
    assert len(early) > 10, "a stop is heard within the first inputs"
    said = TOLERANCE.verdict(early[0].result, params)
    assert said.status is Status.UNKNOWN and said.sentence == "No input has an answer yet."
    assert all(one.status is Status.UNKNOWN for one in said.models)
    assert TOLERANCE.findings(early[-1].result, params) == []
    assert {step.note for step in early} >= {"Attacking input 1 of 6.", "Proving input 1 of 6."}
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert 1 in {step.done for step in steps}, "the first answer comes alone"


def test_steps_are_complete_and_survive_the_codec(rows):
    data, _ = rows
    steps, params = run((linear(),), data, most=12)
    for step in steps:
        assert step.result.proven.shape == step.result.broken.shape == (1, step.done)
        assert len(TOLERANCE.views(step.result, params)) >= min(3, 1 + step.done)
    record, arrays = encode(steps[-1].result)
    again = decode(ToleranceResult, record, arrays)
    np.testing.assert_array_equal(again.broken, steps[-1].result.broken)
    assert TOLERANCE.verdict(again, params) == TOLERANCE.verdict(steps[-1].result, params)


def test_a_time_limit_ends_after_any_input_and_keeps_those_that_were_done(rows, monkeypatch):
    data, _ = rows
    whole, _ = run((linear(),), data, most=12)
    ticks = count()
    monkeypatch.setattr(Clock, "seconds", property(lambda clock: next(ticks)))
    steps, _ = run((linear(),), data, most=12, max_seconds=200)
    last, done = steps[-1], steps[-1].done
    assert last.cut and 0 < done < 12
    np.testing.assert_array_equal(last.result.broken, whole[-1].result.broken[:, :done])
    with pytest.raises(ParamsError, match="longer than the time limit"):
        run((linear(),), data, max_seconds=1)


def test_what_must_be_taken_lies_within_what_is_looked_at():
    with pytest.raises(ParamsError, match="larger than the largest change"):
        ToleranceParams.parse({"hold": 0.3, "largest": 0.25})


def test_several_classes_at_once_are_refused(rows):
    data, _ = rows
    model = linear()
    several = model.with_settings(model.settings.change(multi_label=True))
    with pytest.raises(ModelError, match="several classes at once"):
        run((several,), data)


def test_what_is_wrong_and_what_is_turned_are_told_apart():
    result = made(np.zeros(6), np.array([0.0, 0.0, 0.01, 0.1, 0.2, np.inf]))
    wrong = np.array([[True, True, False, False, False, False]])
    said = TOLERANCE.verdict(replace(result, wrong=wrong), ToleranceParams())
    assert said.sentence == (
        "Of 6 inputs, 1 changes class when values change by at most 0.03 of their range, 2 are"
        " wrong even unchanged and 3 are undecided."
    )
    assert "An attack turns 3 of 4 right answers; the median of these changes is 0.1." in said.text
    said = TOLERANCE.verdict(result, ToleranceParams())
    assert "An attack turns 5 of 6 answers;" in said.text, "without labels none is known as right"
    none = replace(result, wrong=wrong, broken=np.array([[0.0, 0.0, 0.1, 0.1, 0.2, np.inf]]))
    said = TOLERANCE.verdict(none, ToleranceParams())
    assert said.sentence == (
        "Of 6 inputs, none is known to change class when values change by at most 0.03 of their"
        " range, 2 are wrong even unchanged and 4 are undecided."
    )
    said = TOLERANCE.verdict(replace(none, no_attack=("no gradients",)), ToleranceParams())
    assert said.sentence == (
        "Of 6 inputs, 2 are wrong even unchanged and 4 could not be attacked, for want of"
        " gradients."
    )


def test_half_way_nothing_is_said_of_inputs_that_are_still_to_come():
    part = replace(made(np.zeros(2), np.array([0.01, 0.02])), total=6, available=2000)
    said = TOLERANCE.verdict(part, ToleranceParams())
    assert said.sentence == (
        "Of the first 2 of 6 inputs, 2 change class when values change by at most 0.03 of their"
        " range."
    )
    assert said.number.words == "0 of the first 2", "not a share, and true when it is stopped"
    kept = replace(part, proven=np.full((1, 2), 0.05), broken=np.full((1, 2), np.inf))
    said = TOLERANCE.verdict(kept, ToleranceParams())
    assert said.status is Status.UNKNOWN and "the first 2 of 6 inputs: proven." in said.sentence
    whole = made(np.array([0.05, 0.0, 0.0]), np.array([np.inf, 0.1, 0.01]))
    assert TOLERANCE.verdict(whole, ToleranceParams()).number.words == "1 to 2 of 3"


def test_a_proof_is_tried_at_the_size_that_decides(rows):
    data, x = rows
    model = linear()
    far = data.subset(np.argsort(-exact(model, x))[:5])
    hold = float(exact(model, x).max(initial=0) * 0.2)
    steps, params = run((model,), far, hold=hold, sizes=1, largest=0.9)
    assert TOLERANCE.verdict(steps[-1].result, params).status is Status.HOLDS


def test_of_several_models_the_worst_is_named_with_its_number(rows):
    data, _ = rows
    steps, params = run((linear(name="one"), linear(seed=5, name="two")), data, most=4)
    said = TOLERANCE.verdict(steps[-1].result, params)
    worst = min(said.models, key=lambda one: (list(Status).index(one.status), one.number.value))
    name = steps[-1].result.networks[said.models.index(worst)]
    assert said.sentence.startswith(f"{name}: {worst.sentence}")
    assert said.number.name.endswith(f", {name}") and said.number.value == worst.number.value
    one, both, two, examples, _ = TOLERANCE.views(steps[-1].result, params)
    assert both.names == ("one", "two") and both.model is None
    assert (one.model, two.model) == (0, 1)
    for place, view in enumerate((one, two)):
        shown = {row.name: int(row.values[place]) for row in both.series if row.values[place]}
        assert shown == at_hold(view), "the same at the size that decides"
    assert all(one.caption.startswith(("one, ", "two, ")) for one in examples.pictures[::2])


def test_a_change_beyond_what_is_a_risk_is_shown_and_is_no_finding(rows):
    data, x = rows
    model = linear()
    far = data.subset(np.argsort(-exact(model, x))[:5])
    steps, params = run((model,), far, hold=0.002, largest=0.4)
    result = steps[-1].result
    assert result.examples and not TOLERANCE.findings(result, params)
    wide = ToleranceParams(hold=0.39, largest=0.4)
    assert len(TOLERANCE.findings(result, wide)) == len(result.examples)


def split(at: float) -> Classifier:
    """One value decides: "high" above ``at``."""
    layer = nn.Linear(1, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[-20.0], [20.0]]))
        layer.bias.copy_(torch.tensor([20.0 * at, -20.0 * at]))
    return Classifier.from_module(nn.Sequential(layer), (1,), NAMES, name="split")


@pytest.fixture(scope="module")
def one_value(tmp_path_factory):
    """The value 0.5, 0.1 below the boundary of ``split(0.6)``."""
    path = tmp_path_factory.mktemp("value") / "one.npz"
    np.savez(path, x=np.full((1, 1), 0.5, np.float32))
    return open_dataset(path, kind="table")


@pytest.fixture(scope="module")
def of_one(one_value):
    """The steps and the settings of a run on that value."""
    return run((split(0.6),), one_value, sizes=12, largest=0.4)


def test_how_much_noise_one_input_takes_is_that_of_a_known_law(of_one):
    # noise of size s passes 0.6 with chance (s - 0.1) / (2 s): never up to 0.1, 1 in 10,000 at
    # 0.10002, 1 in 4 at 0.2, never 1 in 2
    steps, _ = of_one
    result = steps[-1].result
    (noise,) = result.noise
    low, high = noise.fails(1e-4)
    assert low <= 0.10002 <= high and high <= 0.14
    low, high = noise.fails(0.25)
    assert low <= 0.2 <= high and high < 0.4
    assert noise.fails(0.5)[1] == np.inf, "half is never reached"
    for size, samples, failed in zip(noise.sizes, noise.samples, noise.failures, strict=True):
        chance = max(0.0, (min(1, 0.5 + size) - 0.6) / (min(1, 0.5 + size) - max(0, 0.5 - size)))
        assert abs(failed / samples - chance) < 4 * (chance / samples) ** 0.5 + 1e-9
    assert noise.validated <= 0.1, "noise beyond 0.1 does fail"
    assert result.proven[0][0] <= 0.1 <= result.broken[0][0] * (1 + 1e-5)


def test_one_input_is_drawn_on_one_axis_and_what_nobody_knows_is_said_to_be_unknown(
    one_value, of_one
):
    steps, params = of_one
    result = steps[-1].result
    axis = TOLERANCE.views(result, params)[0]
    assert axis.title == "What row 0 takes"
    assert axis.lanes == ("attack", "noise 50 %", "noise 1e-4", "validated 1e-6", "proven")
    words = dict(
        zip(*(one.cells for one in TOLERANCE.views(result, params)[1].columns), strict=True)
    )
    assert words["attack"] == "0.1" and words["proven"].startswith("up to 0.0")
    assert words["noise 1e-4"].startswith("more rarely at 0.0751, more often at 0.13")
    assert words["noise 50 %"].startswith("more rarely at ")
    assert any(step.note == "Trying random noise." and step.done < step.total for step in steps)
    steps, params = run((split(0.6),), one_value, samples=0, prove=False)
    bare = steps[-1].result
    assert bare.noise == ()
    table = TOLERANCE.views(bare, params)[1]
    assert table.columns[1].cells == (*["not known"] * 4, "0.1")
    record, arrays = encode(result)
    again = decode(ToleranceResult, record, arrays)
    assert again.noise[0].validated == result.noise[0].validated
    del record["fields"]["noise"]
    assert decode(ToleranceResult, record, arrays).noise == (), "runs of older workspaces open"


def test_a_size_that_is_validated_never_fails_in_a_million_samples(rows):
    data, x = rows
    model = linear()
    place = int(np.argmax(exact(model, x)))
    steps, params = run((model,), data.subset([place]), largest=0.4)
    result = steps[-1].result
    (noise,) = result.noise
    assert noise.validated > 0.05
    drawn = np.random.default_rng(0).uniform(-1, 1, (1_000_000, 6)) * noise.validated
    answers = model.infer((x[place] + drawn).clip(0, 1).astype(np.float32)).argmax(1)
    own = int(model.infer(x[place][None].astype(np.float32)).argmax())
    assert int((answers != own).sum()) <= 5
    said = TOLERANCE.verdict(result, params).because
    assert any("fails more rarely than 1e-6, 99 % sure" in reason for reason in said)


def test_the_calls_of_one_input_stay_within_their_estimate(one_value):
    steps, params = run((split(0.6),), one_value)
    subject = Subject(1, 1, "table", (1,), 2, gradients=True)
    known = tolerance_calls(params, subject)
    assert known.fewest <= steps[-1].result.model_calls <= known.most


class Spread(nn.Module):
    """Class "high" where the spread of the values lies between 0.06 and 0.2: noise of middle size."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        high = 0.07 - (x.std(1) - 0.13).abs()
        return torch.stack([-high, high], 1)


def test_noise_that_fails_at_middle_sizes_only_is_not_said_to_be_harmless(tmp_path):
    # all of size 0.5 and more fill the cube, whose spread is 0.29: they never fail; 0.2 always does
    np.savez(tmp_path / "flat.npz", x=np.full((1, 64), 0.5, np.float32))
    data = open_dataset(tmp_path / "flat.npz", kind="table")
    model = Classifier.from_module(Spread(), (64,), NAMES, name="spread")
    steps, params = run((model,), data, prove=False)
    (noise,) = steps[-1].result.noise
    low, high = noise.fails(1e-4)
    assert 0.03 < low < high <= 0.14, "noise of size 0.1 has a spread of 0.058"
    assert 0 < noise.validated <= low
    assert noise.fails(0.5)[1] <= 0.2
    said = " ".join(TOLERANCE.verdict(steps[-1].result, params).because)
    assert "it fails more rarely than 1 time in 10,000" in said and "of size 1 " not in said
    assert "other sizes may do otherwise" in said


def test_a_size_is_rare_by_its_own_samples_and_below_all_that_fail_more_often():
    none, some = (37_000, 0), (2000, 1500)
    for sizes, tried, known in (
        ([0.1, 0.2, 0.4, 0.8], [none, none, some, none], (0.2, 0.4)),
        ([0.8, 0.4, 0.2, 0.1], [none, some, none, none], (0.2, 0.4)),
        ([0.1, 0.2], [some, none], (0.0, 0.1)),
        ([0.1, 0.2, 0.4], [none, (2000, 0), none], (0.4, np.inf)),
        ([0.1, 0.2], [none, none], (0.2, np.inf)),
    ):
        samples, failures = np.array(tried).T
        assert NoiseTolerance(np.array(sizes), samples, failures).fails(1e-4) == known


def test_noise_that_fails_at_small_sizes_is_followed_down_to_where_it_is_rare(tmp_path):
    np.savez(tmp_path / "one.npz", x=np.full((1, 1), 0.5, np.float32))
    data = open_dataset(tmp_path / "one.npz", kind="table")
    steps, _ = run((split(0.504),), data, prove=False)
    low, high = steps[-1].result.noise[0].fails(1e-4)
    assert 0.002 < low <= 0.004 <= high < 0.006


def test_noise_is_drawn_at_the_sizes_tried_and_nowhere_else(of_one):
    steps, params = of_one
    result, (noise,) = steps[-1].result, steps[-1].result.noise
    axis, _, tried = TOLERANCE.views(result, params)[:3]
    proven = float(result.proven[0][0])
    assert {box.width for box in axis.boxes if box.ink == Ink("holds")} == {proven}
    drawn = [spot for spot in axis.spots if 1 < spot.y < 3]
    assert drawn and {spot.x for spot in drawn} <= set(noise.sizes.tolist())
    for spot in drawn:
        told = noise.told(0.5 if spot.y < 2 else 1e-4)[noise.sizes.tolist().index(spot.x)]
        assert spot.ink == {-1: Ink("holds"), 0: Ink("unknown"), 1: Ink("risk")}[told]
    green = [spot for spot in axis.spots if spot.ink == Ink("holds") and 2 < spot.y < 3]
    assert len(green) == 1, "one size was sampled in full"
    assert tried.columns[0].cells == tuple(noise.sizes.tolist())
    assert len(to_csv(axis).splitlines()) == 1 + len(axis.boxes) + len(axis.spots)


def test_a_size_that_is_rare_is_seldom_called_frequent():
    # the ways to be called frequent at a chance of just 1e-4: in the first 200 samples, or in the
    # first batch of 2,000 that fails
    wrong, silent = 0.0, 1.0
    for before, after in [
        (0, 200),
        (200, 2000),
        *((n, n + 2000) for n in range(2000, 37_000, 2000)),
    ]:
        for failures in range(1, 6):
            tried = NoiseTolerance(np.ones(1), np.array([after]), np.array([failures]))
            if tried.told(1e-4)[0] > 0:
                wrong += silent * binom.pmf(failures, after - before, 1e-4)
        silent *= (1 - 1e-4) ** (after - before)
    assert 0.01 < wrong < 0.05
    assert (1 - 1e-4) ** 37_000 < 0.025, "nor is a frequent one called rare"


def test_noise_of_one_input_costs_little_more_than_one_size_in_full(rows):
    data, x = rows
    model = linear()
    place = int(np.argmax(exact(model, x)))
    steps, params = run((model,), data.subset([place]), largest=0.4)
    (noise,) = steps[-1].result.noise
    assert noise.fails(1e-4)[0] > 0
    assert int(noise.samples.sum()) < 2 * params.samples
