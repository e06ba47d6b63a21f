"""What every search works with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.params import GameParams, Player
from robgui.analyses.feature_game.play.game import Goal
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord
from robgui.analyses.feature_game.play.tree import Node, Score, ucb1, with_prior


@dataclass(frozen=True, slots=True)
class SearchSetup:
    """What a search is given.

    Attributes:
        oracle: Answers for the model, and counts.
        goal: When the class counts as changed.
        mixture: The features, a Gaussian around each keypoint.
        rng: All the randomness of the search.
        params: The settings of the run.
        player: Who makes the second move.
    """

    oracle: Oracle
    goal: Goal
    mixture: Mixture
    rng: np.random.Generator
    params: GameParams
    player: Player = "cooperative"

    @property
    def score(self) -> Score:
        """How the tree weighs what it knows against what it has seldom tried."""
        if self.params.selection == "prior":
            return with_prior(self.params.exploration)
        return ucb1(self.params.exploration)

    def apart(self) -> SearchSetup:
        """The same with randomness of its own: how much a part draws changes nothing for others."""
        return replace(self, rng=self.rng.spawn(1)[0])


class Search:
    """One search for one goal; iterating does the work.

    Attributes:
        root: The tree so far.
        record: What has been found so far.
    """

    def __init__(self, setup: SearchSetup) -> None:
        params = setup.params
        self.root = Node()
        self.record = SearchRecord(setup.oracle, setup.goal, params)
        self._setup = setup
        self._oracle = setup.oracle
        self._game = setup.oracle.game
        self._goal = setup.goal
        self._mixture = setup.mixture
        self._rng = setup.rng
        self._params = params
        self._score = setup.score
