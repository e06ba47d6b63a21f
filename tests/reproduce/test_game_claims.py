"""The claims of the paper run on small data, and nothing in them is made up."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from robgui.cli.reproduce import figure_of
from robgui.core.errors import DataError
from robgui.reproduce.claim import Setting
from robgui.reproduce.feature_game import claims as module
from robgui.reproduce.feature_game.claims import GameSize, claims
from tests.analyses.feature_game.games import image, small_cnn
from tests.analyses.simple_modules import Constant

SIZE = GameSize(traffic=2, traffic_calls=120, images=2, calls=450, games=1)


@pytest.fixture
def data(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "SMALL", SIZE)
    x = np.stack([image(seed=seed) for seed in range(6)])
    labels = small_cnn(seed=2).infer(x).argmax(1).numpy()
    np.savez(tmp_path / "spots.npz", images=(x[:, 0] * 255).astype(np.uint8), labels=labels)
    return tmp_path / "spots.npz"


def test_given_data_are_played_with_the_given_network_and_every_claim_is_answered(data) -> None:
    seen: list[str] = []
    found = list(
        claims(
            Setting(data, (small_cnn(seed=2),), True, watch=lambda title, step: seen.append(title))
        )
    )
    assert len(found) == 4 and {claim.method for claim in found} == {"feature-game"} and seen
    few, convergence, players, persistence = found
    assert few.detail["played"] == 2 and few.holds == (
        few.detail["found"] == 2 and few.detail["mean"] <= 17
    )
    assert "iterations" in convergence.ours and players.detail["severities"].shape == (1, 3)
    assert persistence.holds in (True, False, None)
    for claim in found:
        for drawing in claim.figures:
            assert figure_of(drawing).axes


def test_a_network_that_never_changes_its_mind_fails_the_claim(data) -> None:
    stubborn = dataclasses.replace(SIZE, calls=300)
    classifier = module.Classifier.from_module(
        Constant([1.0, 0.0, 0.0, 0.0]), (1, 12, 12), output="logits"
    )
    subject = module.GameNetwork("spots", classifier, module.open_dataset(data))
    claim = module.small_images(Setting(quick=True), stubborn, subject)
    assert claim.holds is False and claim.detail["found"] == 0


def test_the_bundled_traffic_lights_are_played_untargeted_and_to_green(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SMALL", SIZE)
    found = list(module.traffic_claims(Setting(quick=True), SIZE))
    assert [claim.paper for claim in found] == ["4.85 pixels, 0.303 s", "3.23 pixels, 0.21 s"]
    assert all(claim.holds is not None or claim.note for claim in found)


def test_data_without_training_images_ask_for_models(data) -> None:
    with pytest.raises(DataError, match="--models"):
        list(claims(Setting(data, quick=True)))
