"""A failure that a run has met takes its certificates away, and the result says so."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from robgui.analyses.last_particle import (
    LastParticleParams,
    LastParticleTableParams,
    last_particle,
    last_particle_table,
    proof,
)
from robgui.analyses.last_particle.table.parts import merged
from robgui.bounds import Certificate
from robgui.core.dataset import Dataset, from_arrays
from robgui.core.model.classifier import Classifier

QUICK = {"critical": 1e-3, "steps": 10, "samples": 0, "attack_steps": 0}


def _halves() -> tuple[Classifier, Dataset]:
    """Class 1 above one half; three inputs at growing distances from there."""
    layer = nn.Linear(1, 2)
    layer.weight.data, layer.bias.data = torch.tensor([[-1.0], [1.0]]), torch.tensor([0.5, -0.5])
    classifier = Classifier.from_module(nn.Sequential(layer), (1,), name="Halves", output="logits")
    x = np.array([[0.1], [0.3], [0.45]], dtype=np.float32)
    return classifier, from_arrays(x, labels=np.zeros(3, dtype=int), names=("0", "1"), kind="table")


def _believes_everything(
    classifier: Classifier,
    x: Tensor,
    labels: Tensor,
    eps: Tensor,
) -> Generator[None, None, Certificate]:
    """Bounds that are wrong."""
    yield
    return Certificate(np.ones(len(x), dtype=bool), np.ones(len(x)))


@pytest.mark.parametrize("found_by", ["test", "samples", "gradients"])
def test_a_failure_met_outweighs_the_proof(monkeypatch: pytest.MonkeyPatch, found_by: str) -> None:
    monkeypatch.setattr(proof, "certifying", _believes_everything)
    classifier, data = _halves()
    settings = {
        "test": {"eps": 0.2},
        "samples": {"eps": 0.0503, "samples": 2000, "critical": 0.05, "particles": 20},
        "gradients": {"eps": 0.0502, "attack_steps": 10, "critical": 0.05, "particles": 20},
    }[found_by]
    params = LastParticleParams(**{**QUICK, **settings})
    *_, step = last_particle(classifier, data.subset([2]), params)
    result = step.result
    met = {
        "test": result.failure is not None,
        "samples": result.monte_carlo_failures > 0,
        "gradients": result.counterexample is not None,
    }
    assert met[found_by]
    assert not result.certified and np.isnan(result.certified_lower)
    assert "no formal bounds: this run met a failing input" in result.certified_reason


def test_without_a_failure_the_proof_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "certifying", _believes_everything)
    classifier, data = _halves()
    params = LastParticleParams(eps=0.1, critical=1e-3)
    *_, step = last_particle(classifier, data.subset([0]), params)
    assert step.result.certified and not step.result.certified_reason


def test_one_failure_clears_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    classifier, data = _halves()
    params = LastParticleTableParams(radii=(0.01, 0.1), **QUICK)
    *_, right = last_particle_table(classifier, data, params)
    assert right.result.certified.tolist() == [[True] * 3, [True, True, False]]
    monkeypatch.setattr(proof, "certifying", _believes_everything)
    *_, step = last_particle_table(classifier, data, params)
    assert not step.result.certified.any() and np.isnan(step.result.certified_lower).all()
    assert "this run met a failing input" in step.result.certified_reason
    assert step.done == step.total


def test_what_one_part_of_a_table_finds_against_the_proof_holds_for_the_whole() -> None:
    classifier, data = _halves()
    params = LastParticleTableParams(radii=(0.01,), **QUICK)
    *_, step = last_particle_table(classifier, data, params)
    off = replace(
        step.result,
        certified=np.zeros((1, 3), dtype=bool),
        certified_lower=np.full((1, 3), np.nan),
        certified_reason="Halves has no formal bounds: it differs.",
    )
    whole = merged([step.result, off], 12)
    assert whole.certified.shape == (1, 6) and not whole.certified.any()
    assert np.isnan(whole.certified_lower).all() and whole.certified_reason == off.certified_reason
