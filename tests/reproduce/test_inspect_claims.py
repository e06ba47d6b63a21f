"""The claims of the paper on models and inputs small enough to know what must come out."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.core.errors import DataError
from robgui.reproduce.claim import Setting, methods
from robgui.reproduce.deepinspect import claims as module
from robgui.reproduce.deepinspect.claims import claims
from tests.analyses.deepinspect.nets import told


def confused_table() -> tuple[np.ndarray, np.ndarray]:
    """Six classes in pairs: the nearer the members of a pair, the more often they are mixed up."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 6, 900)
    x = rng.uniform(0, 0.25, (900, 12))
    partner, strength = true ^ 1, np.array([0.55, 0.55, 0.25, 0.25, 0.0, 0.0])[true]
    for column in (true, true + 6):
        x[np.arange(900), column] += 0.6
    for column in (partner, partner + 6):
        x[np.arange(900), column] += strength * rng.uniform(0.8, 1.2, 900)
    return np.clip(x, 0, 1), true


def test_every_claim_is_run_for_a_given_model(tmp_path):
    x, true = confused_table()
    classifier, _ = told(x, 6)
    np.savez(tmp_path / "table.npz", x=x.astype(np.float32), y=true)
    found = list(claims(Setting(data=tmp_path / "table.npz", models=(classifier,))))
    assert len(found) == 10 and all(claim.method == "deepinspect" and claim.note for claim in found)
    verdict = {claim.statement.split(": ")[1]: claim.holds for claim in found}
    assert (
        verdict["the truly worst pairs are among the reported"]
        and verdict["reported confusions are true more often than by chance"]
    )
    assert found[3].detail["aucec"] > 0.9
    assert sum(len(claim.figures) for claim in found) == 3
    assert [figure.analysis for claim in found for figure in claim.figures] == [
        "deepinspect",
        "deepinspect_thresholds",
        "deepinspect_coverage",
    ]


def test_without_labels_the_claims_say_that_they_cannot_run(tmp_path):
    x, _ = confused_table()
    classifier, _ = told(x, 6)
    np.save(tmp_path / "table.npy", x.astype(np.float32))
    found = list(claims(Setting(data=tmp_path / "table.npy", models=(classifier,), quick=True)))
    assert [claim.holds for claim in found[:-1]] == [None] * 9 and all(
        "no labels" in claim.note for claim in found[:-1]
    )


def test_data_without_a_training_part_need_models(tmp_path):
    np.savez(tmp_path / "table.npz", x=np.zeros((4, 8, 8)), y=np.arange(4))
    with pytest.raises(DataError, match="--models"):
        next(claims(Setting(data=tmp_path / "table.npz")))


def test_the_bundled_models_are_those_with_layers_to_look_into(monkeypatch: pytest.MonkeyPatch):
    seen, said = [], []
    monkeypatch.setattr(module, "model_claims", lambda subject: iter([seen.append(subject.name)]))
    list(claims(Setting(quick=True, say=said.append)))
    assert (
        seen == ["fashion_mlp.pt2", "fashion_cnn.safetensors"]
        and "fashion_rnn.pt is left out" in said[0]
    )


def test_deepinspect_has_claims():
    assert "deepinspect" in methods()
