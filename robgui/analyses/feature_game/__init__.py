"""The feature game: which few pixels of a salient feature flip the class (Wicker, Huang and Kwiatkowska)."""

from robgui.analyses.feature_game.batch import feature_game_batch
from robgui.analyses.feature_game.engine import feature_game
from robgui.analyses.feature_game.game import Game, Goal
from robgui.analyses.feature_game.keypoints import find_keypoints
from robgui.analyses.feature_game.match import example_of
from robgui.analyses.feature_game.params import FeatureGameBatchParams, FeatureGameParams
from robgui.analyses.feature_game.persistence import persistence, scaled, turned
from robgui.analyses.feature_game.pictures import difference, pictures
from robgui.analyses.feature_game.result import (
    Evidence,
    FeatureGameBatchResult,
    FeatureGameResult,
    Outcome,
    Persistence,
    Severity,
    Tree,
)
from robgui.analyses.feature_game.saliency import Mixture
from robgui.analyses.feature_game.words import NO_GUARANTEE, before_and_after

__all__ = [
    "NO_GUARANTEE",
    "Evidence",
    "FeatureGameBatchParams",
    "FeatureGameBatchResult",
    "FeatureGameParams",
    "FeatureGameResult",
    "Game",
    "Goal",
    "Mixture",
    "Outcome",
    "Persistence",
    "Severity",
    "Tree",
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
