"""What every search has to work with."""

from __future__ import annotations

import numpy as np

from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.params import GameParams
from robgui.analyses.feature_game.play.game import Goal
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord
from robgui.analyses.feature_game.play.tree import Node, ucb1, with_prior


class Search:
    """One search for one goal; iterating does the work.

    Attributes:
        root: The tree so far.
        record: What has been found so far.
    """

    def __init__(
        self,
        oracle: Oracle,
        goal: Goal,
        mixture: Mixture,
        rng: np.random.Generator,
        params: GameParams,
    ) -> None:
        self.root = Node()
        self.record = SearchRecord(oracle, goal, params)
        self._oracle = oracle
        self._game = oracle.game
        self._goal = goal
        self._mixture = mixture
        self._rng = rng
        self._params = params
        self._score = (with_prior if params.selection == "prior" else ucb1)(params.exploration)
