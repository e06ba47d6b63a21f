"""Sweeps of large inputs: the first curve comes soon, and nothing else changes."""

from __future__ import annotations

import numpy as np
import torch

from robgui.core.model.classifier import Classifier
from tests.analyses.zonnscan.models import all_steps, sweep

SHAPE = (3, 96, 96)


def large() -> Classifier:
    weights = torch.linspace(-1, 1, 3 * 96 * 96)

    def answer(x):
        score = 0.2 * ((x.flatten(1) - 0.5) @ weights)
        return torch.stack([score, -score, 0 * score], 1)

    return Classifier.from_callable(answer, SHAPE, name="large", output="logits")


def test_the_first_curve_over_all_radii_takes_at_most_64_calls(monkeypatch) -> None:
    monkeypatch.setattr("robgui.analyses.zonnscan.sweep.Pace.due", lambda self: True)
    x = np.full(SHAPE, 0.5, dtype=np.float32)
    steps = all_steps(large(), x, samples=64, target_half_width=0, batch=4)
    whole = next(step.result for step in steps if (step.result.samples > 0).all())
    assert whole.samples[1:].sum() <= 64
    assert np.isfinite(whole.index).all()
    assert (whole.ci_high - whole.ci_low)[1:].min() > 0.5  # so few samples say little


def test_the_order_of_the_first_samples_changes_no_sample() -> None:
    x = np.random.default_rng(0).random(SHAPE).astype(np.float32)
    result = sweep(large(), x, samples=64, target_half_width=0, radii=(0.1, 0.3), batch=4)
    one = sweep(large(), x, samples=64, target_half_width=0, radii=(0.3,), batch=4)
    np.testing.assert_allclose(result.index[-1], one.index[-1], rtol=1e-6)
    assert (result.shown_class[-1] == one.shown_class[-1]).all() and (one.shown_class >= 0).all()
