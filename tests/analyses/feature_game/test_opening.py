"""Small images: how many one-pixel moves are tried before the search goes on."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analyses.feature_game.games import linear, play


@pytest.mark.parametrize("needed", [1, 2, 4])
def test_all_single_moves_are_tried_where_that_can_settle_it(needed):
    """With two pixels one might do; with four, moves beside those that do little are left out."""
    weights = np.linspace(1.0, 0.9, 144)
    result = play(
        linear(weights, 0.5 - needed), np.zeros((1, 12, 12)), max_calls=600, persistence=False
    )
    assert result.severity.l0_pixels == needed
    assert result.outcomes[0].optimal == (needed <= 2)
    seen = result.evidence
    assert (seen.singles == seen.moves) == (needed == 2)
