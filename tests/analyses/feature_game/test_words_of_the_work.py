"""What is said to do the work in the game is what does it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from robgui.analyses.feature_game.play import search
from robgui.core.execution.registry import find
from tests.analyses.feature_game.games import image, play, small_cnn
from tests.bench.studies.ablation_feature_game import VARIANTS, without

MANUAL = Path(search.__file__).parents[1] / "help.md"


def test_the_manual_states_what_each_part_adds() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    for part in (
        "tree",
        "swaps",
        "tree and swaps",
        "features (random places)",
        "features (a grid)",
    ):
        row = next(line for line in text.splitlines() if line.strip().startswith(f"{part}  "))
        assert sum(word.replace(".", "").isdigit() for word in row.split()) >= 4
    words = find("feature_game").explanation
    assert "tree" not in words and "feature" not in words


def test_every_variant_of_the_ablation_runs_and_leaves_the_engine_as_it_was() -> None:
    before = play(small_cnn(seed=2), image(seed=2), max_calls=500)
    for patches in VARIANTS.values():
        with without(patches):
            changed = play(small_cnn(seed=2), image(seed=2), max_calls=500)
        assert changed.found_class >= 0 and len(changed.changed) <= len(before.changed) + 3
    after = play(small_cnn(seed=2), image(seed=2), max_calls=500)
    assert np.array_equal(replace(after, seconds=0).changed, before.changed)
