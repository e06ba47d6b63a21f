"""What attribution says: where the answer comes from, never whether it is right."""

from __future__ import annotations

import numpy as np

from robgui.analyses.feature_game.attribution.params import AttributionParams
from robgui.analyses.feature_game.attribution.result import AttributionResult
from robgui.core.text.words import count, percent, rough_percent
from robgui.core.verdict import Status, Verdict

_THIRDS = (("upper left", "upper middle", "upper right"), ("left", "middle", "right"),
           ("lower left", "lower middle", "lower right"))  # fmt: skip
#: Integrated gradients that leave more than this share unexplained are said to be coarse.
_COARSE = 0.1
#: Below this chance there is nothing that covering could take.
_HARDLY = 0.01
_CAVEAT = "It says where the answer comes from, not whether it is right."


def verdict(result: AttributionResult, params: AttributionParams) -> Verdict:
    """Where the strongest part lies, by the method that works on every model."""
    scope = (
        f"{count(len(result.names), 'picture')}, class “{result.labels[result.target]}”, squares of"
        f" {result.patch} pixels covered in {params.cover}."
    )
    if early := so_far(result):
        return Verdict(Status.UNKNOWN, early, None, scope, (*result.missing, _CAVEAT))
    if not result.ways or not result.heat[0].any():
        return Verdict(Status.UNKNOWN, "Covering parts changes nothing.", scope=scope)
    sentence = _sentence(result, 0)
    if len(result.names) > 1 and result.heat[0, 1].any():
        sentence += f" {_sentence(result, 1)}"
    return Verdict(Status.UNKNOWN, sentence, None, scope, _because(result))


def so_far(result: AttributionResult) -> str:
    """How many squares were covered, until all are; before that no place can be named."""
    if result.complete:
        return ""
    return f"So far {result.covered} of {count(result.squares, 'square')} were covered."


def where(heat: np.ndarray) -> tuple[str, np.ndarray]:
    """The ninth of the picture that speaks most for the class: in words, and its heat."""
    # Also where a side is no multiple of 3.
    rows, columns = (np.array_split(np.arange(size), 3) for size in heat.shape)
    heat = heat.clip(min=0)
    sums = [[float(heat[np.ix_(row, column)].sum()) for column in columns] for row in rows]
    down, across = np.unravel_index(int(np.argmax(sums)), (3, 3))
    return _THIRDS[down][across], heat[np.ix_(rows[down], columns[across])]


def _sentence(result: AttributionResult, picture: int) -> str:
    heat = result.heat[0, picture]
    klass, name = result.labels[result.target], result.names[picture]
    chance = float(result.confidence[picture])
    if chance < _HARDLY:
        return f"In {name} “{klass}” has hardly a chance, so covering has nothing to take."
    if not (heat > 0).any():
        return f"In {name} covering no part lowers the chance of “{klass}”."
    place, there = where(heat)
    left = percent(max(0.0, chance - float(there.max())))
    return (
        f"In {name} “{klass}” rests most on the {place}: covering it there lowers its chance"
        f" from {percent(chance)} to about {left}."
    )


def _because(result: AttributionResult) -> tuple[str, ...]:
    said = []
    for way, title in enumerate(result.ways):
        share = result.strongest(way, 0)
        if np.isfinite(share):
            said.append(
                f"By {title}, a tenth of the pixels of {result.names[0]} carries"
                f" {rough_percent(share)} of what speaks for the class."
            )
    coarse = result.unexplained[np.isfinite(result.unexplained)]
    if len(coarse) and coarse.max() > _COARSE:
        said.append(
            f"Integrated gradients leave {percent(float(coarse.max()))} unexplained; more steps are"
            " more exact."
        )
    return (*said, *result.missing, _CAVEAT)
