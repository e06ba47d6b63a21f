"""The feature game: which few pixels flip the class (Wicker, Huang and Kwiatkowska)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.analyses.feature_game.batch import feature_game_batch
    from robgui.analyses.feature_game.engine import feature_game
    from robgui.analyses.feature_game.example import (
        before_and_after,
        difference,
        example_of,
        pictures,
    )
    from robgui.analyses.feature_game.features.keypoints import find_keypoints
    from robgui.analyses.feature_game.features.saliency import Mixture
    from robgui.analyses.feature_game.params import FeatureGameBatchParams, FeatureGameParams
    from robgui.analyses.feature_game.play.game import Game, Goal
    from robgui.analyses.feature_game.result import (
        FeatureGameBatchResult,
        FeatureGameResult,
        GameTree,
        Outcome,
        Persistence,
        Severity,
        SteepnessEvidence,
    )
    from robgui.analyses.feature_game.turning import persistence, scaled, turned
    from robgui.analyses.feature_game.words import NO_GUARANTEE

#: Public name -> module of this package; imported on first use, so the window reads the record
#: without torch.
_HOMES = {
    "feature_game_batch": "batch",
    "feature_game": "engine",
    **dict.fromkeys(("Game", "Goal"), "play.game"),
    "find_keypoints": "features.keypoints",
    **dict.fromkeys(("FeatureGameBatchParams", "FeatureGameParams"), "params"),
    **dict.fromkeys(("persistence", "scaled", "turned"), "turning"),
    **dict.fromkeys(("before_and_after", "difference", "example_of", "pictures"), "example"),
    **dict.fromkeys(
        (
            "SteepnessEvidence",
            "FeatureGameBatchResult",
            "FeatureGameResult",
            "Outcome",
            "Persistence",
            "Severity",
            "GameTree",
        ),
        "result",
    ),
    "Mixture": "features.saliency",
    "NO_GUARANTEE": "words",
}
__all__ = [
    "NO_GUARANTEE",
    "FeatureGameBatchParams",
    "FeatureGameBatchResult",
    "FeatureGameParams",
    "FeatureGameResult",
    "Game",
    "GameTree",
    "Goal",
    "Mixture",
    "Outcome",
    "Persistence",
    "Severity",
    "SteepnessEvidence",
    "before_and_after",
    "difference",
    "example_of",
    "feature_game",
    "feature_game_batch",
    "find_keypoints",
    "persistence",
    "pictures",
    "scaled",
    "turned",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
