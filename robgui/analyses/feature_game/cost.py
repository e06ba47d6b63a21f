"""How many images the model sees in a game."""

from __future__ import annotations

from robgui.analyses.choosing import ALL_CLASSES
from robgui.analyses.feature_game.params import (
    MOST_TARGETS,
    PLAYERS,
    FeatureGameBatchParams,
    FeatureGameParams,
)
from robgui.core.execution.budget.cost import Calls, Subject

#: Calls within which the first example mostly comes; a game may end when nothing is better.
_FIRST = 50


def game_calls(params: FeatureGameParams, subject: Subject) -> Calls:
    """Every search of one image; one that has found an example mostly goes on to the end."""
    if params.player == "all":
        players = len(PLAYERS)
    else:
        players = 1
    every = params.target.strip().casefold() == ALL_CLASSES
    searches = players * (min(MOST_TARGETS, subject.classes - 1) if every else 1)
    most = params.max_calls * searches
    return Calls(min(_FIRST, params.max_calls) * searches, most, usual=most)


def batch_calls(params: FeatureGameBatchParams, subject: Subject) -> Calls:
    """One search for each image; most go on to the end."""
    if params.images:
        images = min(subject.inputs, params.images)
    else:
        images = subject.inputs
    most = params.max_calls * images
    return Calls(min(_FIRST, params.max_calls) * images, most, usual=most)
