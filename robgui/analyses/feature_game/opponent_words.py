"""What games against chance or an opponent say: the middle of whole games, or how many changed."""

from __future__ import annotations

import math

import numpy as np

from robgui.analyses.feature_game.params import UNITS, FeatureGameParams, Norm, Player
from robgui.analyses.feature_game.result import FEWEST_GAMES, FeatureGameResult, Outcome
from robgui.core.text.words import count, number
from robgui.core.verdict import Quantity

#: Who picks the pixel, in words.
RIVALS: dict[Player, str] = {
    "cooperative": "helped",
    "nature": "against chance",
    "adversarial": "against an opponent",
}
AS_PUBLISHED = (
    "Against chance or an opponent the paper plays one game by random play-outs, and at random"
    " where the calls did not suffice: its number depends on the calls allowed and is not the value"
    " of the game."
)


def only_hindered(result: FeatureGameResult, params: FeatureGameParams) -> Outcome | None:
    """The search to speak of when no search was helped: the first one, unless as published."""
    if params.preset == "paper" or not result.outcomes:
        return None
    # Then that search speaks, and the games against others are evidence beside it.
    if any(outcome.player == "cooperative" for outcome in result.outcomes):
        return None
    return result.outcomes[0]


def against(result: FeatureGameResult, params: FeatureGameParams) -> list[str]:
    """What chance and an opponent make of it, beside a search that was helped."""
    hindered = [outcome for outcome in result.outcomes if outcome.player != "cooperative"]
    if hindered and params.preset == "paper":
        return [AS_PUBLISHED]
    said = only_hindered(result, params)
    told = [_played(outcome, params.norm) for outcome in hindered if outcome is not said]
    return [f"{words[0].upper()}{words[1:]}." for words in told]


def sentence(result: FeatureGameResult, outcome: Outcome, params: FeatureGameParams) -> str:
    """The same as the whole statement."""
    name = result.labels[result.original]
    return f"{_played(outcome, params.norm)}, “{name}” becoming another class."


def quantity(outcome: Outcome, norm: Norm) -> Quantity:
    """The median of the games with their quartiles."""
    low, middle, high = outcome.quartiles
    name = f"{UNITS[norm].capitalize()} {RIVALS[outcome.player]}"
    if math.isfinite(middle):
        value = middle
    else:
        value = math.nan
    if math.isfinite(middle):
        text = f"{number(middle)} ({_between(low, high)})"
    else:
        text = _share(outcome)
    return Quantity(name, value, better="high", text=text)


def _played(outcome: Outcome, norm: Norm) -> str:
    """``against chance it takes 15 pixels in the middle of 15 games (half of them 12 to 18)``."""
    who, games = RIVALS[outcome.player], len(outcome.games)
    if games < FEWEST_GAMES:
        if not games:
            ended = "no game"
        else:
            ended = f"only {count(games, 'game')}"
        return f"{who} {ended} ended with the calls allowed, too few for a number"
    low, middle, high = outcome.quartiles
    if not math.isfinite(middle):
        return (
            f"{who} the class changes in {_share(outcome)}; in the others a quarter of the pixels"
            " does not suffice"
        )
    if norm == "l0":
        unit = "pixels"
    else:
        unit = f"({UNITS[norm]})"
    return (
        f"{who} it takes {number(middle)} {unit} in the middle of {games} games (half of them"
        f" {_between(low, high)})"
    )


def _between(low: float, high: float) -> str:
    if math.isfinite(high):
        return f"{number(low)} to {number(high)}"
    # A quarter of the games never changed the class, so there is no upper end.
    return f"{number(low)} or more"


def _share(outcome: Outcome) -> str:
    games = len(outcome.games)
    if games < FEWEST_GAMES:
        return "too few games ended"
    return f"{int(np.isfinite(outcome.games).sum())} of {count(games, 'game')}"
