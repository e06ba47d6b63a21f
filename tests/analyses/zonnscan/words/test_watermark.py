"""What a watermark check says."""

from __future__ import annotations

import numpy as np

from robgui.analyses.zonnscan import WatermarkParams
from robgui.analyses.zonnscan.words.watermark import findings, offers, verdict
from robgui.core.verdict import Status
from tests.analyses.zonnscan.results import marked

MAKE, COMPARE = WatermarkParams(runs=3), WatermarkParams(runs=3, mode="compare")


def values(move: float, runs: int = 3, count: int = 20) -> np.ndarray:
    """Uncertainties that move by the same amount at every input, beside some noise."""
    first = np.random.default_rng(0).uniform(0.2, 0.8, (1, count)) + np.random.default_rng(
        1
    ).normal(0, 1e-5, (runs, count))
    return np.stack([first, first - move + np.random.default_rng(2).normal(0, 1e-5, (runs, count))])


def test_models_that_differ_at_every_input_are_told_apart() -> None:
    told = verdict(marked(values(0.1)), MAKE)
    assert told.status is Status.AT_RISK
    assert (
        told.sentence
        == "The uncertainty tells a.pt2 from its watermarked copy: it differs around 20 of 20"
        " inputs."
    )
    (finding,) = findings(marked(values(0.1)), MAKE)
    assert finding.kind == "changed boundary" and "the boundary has moved" in finding.title


def test_differences_no_larger_than_the_scatter_of_the_runs_tell_nothing() -> None:
    centre = np.random.default_rng(0).uniform(0.3, 0.7, (1, 1, 12))
    index = np.clip(centre + np.random.default_rng(1).normal(0, 0.3, (2, 40, 12)), 0, 1)
    result, params = marked(index), WatermarkParams(runs=40)
    told = verdict(result, params)
    assert (
        told.status is Status.UNKNOWN
        and "does not tell" in told.sentence
        and findings(result, params) == []
    )
    assert any("as in the paper" in words for words in told.because)


def test_one_run_cannot_tell_a_difference_from_scatter() -> None:
    told = verdict(marked(values(0.1, runs=1)), WatermarkParams(runs=1))
    assert (
        told.status is Status.UNKNOWN
        and "One run cannot tell a difference from scatter." in told.because
    )


def test_a_model_and_itself_are_not_told_apart() -> None:
    same = np.repeat(values(0.0)[:1], 2, axis=0)
    told = verdict(marked(same, models=("a.pt2", "b.pt2")), COMPARE)
    assert told.status is Status.UNKNOWN and told.sentence.endswith(
        "does not tell a.pt2 from b.pt2."
    )


def test_a_check_under_way_says_how_far_it_is() -> None:
    nothing = marked(np.full((2, 3, 20), np.nan), rounds=1)
    assert (
        verdict(nothing, MAKE).sentence
        == "A copy of a.pt2 is being taught the watermark: 1 step so far."
    )
    assert verdict(nothing, MAKE).status is Status.UNKNOWN and findings(nothing, MAKE) == []
    half = values(0.1)
    half[:, 1:] = np.nan
    assert "1 of 3 runs so far" in verdict(marked(half), MAKE).scope


def test_what_fools_the_model_and_what_the_mark_costs_is_said() -> None:
    told = verdict(marked(values(0.1)), MAKE).because
    assert "10 of the key inputs fool a.pt2: they were moved by 0.1 against its gradient." in told
    assert "After 10 steps of fine-tuning the copy gives 10 of these 10 their class." in told
    assert "Of the inputs looked at they get 90.0 % and 88.0 % right." in told
    unlabelled = verdict(marked(values(0.1), accuracy=np.full(2, np.nan)), COMPARE).because
    assert "95.0 % of the inputs looked at keep their answer." in unlabelled and not any(
        "fool" in words for words in unlabelled
    )


def test_the_originals_are_offered() -> None:
    (offer,) = offers(marked(values(0.1)), MAKE)
    assert offer.places == tuple(range(20))


def test_runs_that_are_missing_leave_open_whether_the_two_differ() -> None:
    """After one of several runs nothing is known, and nothing is denied."""
    told = verdict(marked(values(0.1, runs=1)), WatermarkParams(runs=5))
    assert told.sentence.startswith("One run cannot tell whether the uncertainty differs between")
    assert told.number is not None and told.number.words == "not known from one run"
    same = np.repeat(values(0.0, runs=3)[:1], 2, axis=0)
    told = verdict(marked(same), WatermarkParams(runs=5))
    assert told.sentence.startswith("So far the uncertainty does not tell")
    told = verdict(marked(values(0.1, runs=3)), WatermarkParams(runs=5))
    assert told.sentence.startswith("So far the uncertainty tells a.pt2 from")
