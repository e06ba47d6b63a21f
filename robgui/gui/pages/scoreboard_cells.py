"""The cells of the scoreboard: what a run says of a model, and how it reads."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from robgui.core.execution.likeness import differences
from robgui.core.execution.request import Request
from robgui.core.model.accuracy import MeasuredAccuracy
from robgui.core.text.words import count, percent
from robgui.core.verdict import Status, Verdict
from robgui.core.view import Ink
from robgui.core.view.ink import status_ink

#: A longer name has its ending on a second line: narrow columns are seen together.
LETTERS = 14
NOT_RUN = "–"
NOT_RUN_TIP = "Not run with this model yet; a double-click leads to its form."
#: What stands in the tool tip, so all models are seen at once: intervals and explanations.
_BRACKETS = re.compile(r" \(.*\)")
_EXTRAS = re.compile(r" \([^()]*\)|, by .*")


@dataclass(frozen=True)
class ScoreCell:
    """What a run says of a model, and on which inputs.

    Attributes:
        verdict: Adjusted for what other runs know.
        inputs: On which inputs.
        unlike: In what it differs from the question of its row; empty for like with like.
    """

    verdict: Verdict
    inputs: str
    unlike: str = ""

    @property
    def words(self) -> str:
        """Sign of the status and the number it comes down to.

        With what is other than in its row, such as the inputs, where it answers another question.
        """
        number = self.verdict.number
        if number is None:
            said = self.verdict.status.words
        else:
            said = _EXTRAS.sub("", number.words)
        if not self.unlike:
            return f"{self.verdict.status.sign} {said}"
        other = ", ".join(_BRACKETS.sub("", one) for one in self.unlike.split("; "))
        on = f": {self.inputs}" if self.inputs and "inputs" in other else ""
        return f"{self.verdict.status.sign} {said} · {other}{on}"

    @property
    def tip(self) -> str:
        """The status in words and the whole verdict."""
        said = f"{self.verdict.status.words}. {self.verdict.text}"
        if self.unlike:
            return f"Not comparable with the row: {self.unlike}. {said}"
        return said

    @property
    def rank(self) -> tuple[bool, int, float]:
        """The worst first; of one status, the better number last; other questions after all."""
        order, number = list(Status).index(self.verdict.status), self.verdict.number
        # Nan is neither less nor more than anything, so it would stand wherever sorting left it.
        if number is None or number.value != number.value or number.better == "neither":
            return bool(self.unlike), order, 0.0
        if number.better == "high":
            value = number.value
        else:
            value = -number.value
        return bool(self.unlike), order, value


@dataclass(frozen=True)
class RightAnswers:
    """How often a model is right, as far as that was counted."""

    counted: MeasuredAccuracy

    @property
    def words(self) -> str:
        """The share and of how many."""
        return f"{percent(self.counted.share)} of {self.counted.counted:,}"

    @property
    def tip(self) -> str:
        """The same as a sentence."""
        return f"Right on {self.words} inputs."

    @property
    def rank(self) -> tuple[bool, int, float]:
        """Before every verdict."""
        return False, -1, self.counted.share


#: What a cell holds; None if nothing has been run or counted.
Known = ScoreCell | RightAnswers | None


def in_lines(name: str) -> str:
    """A long name of a file in two lines, its ending below."""
    path = PurePath(name)
    if len(name) > LETTERS and path.suffix:
        return f"{path.stem}\n{path.suffix}"
    return name


def measured_in(cells: Sequence[Known]) -> str:
    """What the numbers of a row are; empty if none has a number."""
    said = (cell.verdict.number for cell in cells if isinstance(cell, ScoreCell))
    return next((number.name for number in said if number is not None), "")


def most_asked(
    told: Sequence[Sequence[Request]], gravity: Sequence[tuple[bool, int, float]]
) -> Request | None:
    """The question that most models have answered; of equals that with the worst answer.

    Args:
        told: The requests of the runs that speak, model by model.
        gravity: How grave what those of the first model with any say is, the worst lowest.
    """
    # Only requests of the same inputs can be alike: there may be thousands of others.
    alike: dict[Hashable, list[tuple[int, Request]]] = {}
    for model, own in enumerate(told):
        for request in own:
            alike.setdefault(_inputs_of(request), []).append((model, request))

    def answers(asked: Request) -> int:
        same = alike[_inputs_of(asked)]
        return len({model for model, one in same if not differences(asked, one)})

    first = next((own for own in told if own), ())
    ranked = zip(first, gravity, strict=True)
    best = min(ranked, key=lambda one: (-answers(one[0]), one[1]), default=None)
    return None if best is None else best[0]


def _inputs_of(request: Request) -> Hashable:
    return request.dataset and request.dataset.fingerprint, request.indices


def words_of(cell: Known) -> str:
    """How a cell reads."""
    if cell is None:
        return NOT_RUN
    return cell.words


def ink_of(cell: Known) -> Ink | None:
    """The colour of a status: a failure is one, also where it answers another question."""
    if isinstance(cell, RightAnswers):
        return None
    if cell is None:
        return Ink("unknown")
    return status_ink(cell.verdict.status)


def ground_of(cell: Known) -> Ink | None:
    """A tint of the status behind what can be compared."""
    if isinstance(cell, ScoreCell) and not cell.unlike:
        return ink_of(cell)
    return None


def tip_of(cell: Known) -> str:
    """What a cell says in full."""
    if cell is None:
        return NOT_RUN_TIP
    return cell.tip


def rank_of(cell: ScoreCell | RightAnswers) -> tuple[bool, int, float]:
    """What a known cell is sorted by."""
    return cell.rank


def verdict_words(names: Sequence[str], columns: Sequence[Sequence[Known]]) -> str:
    """What the scoreboard comes to: how many of the shared questions each model fails.

    Only questions that all models with an answer were asked alike count; without two such models
    or any such question it says so.

    Args:
        names: The models.
        columns: The cells of each, row by row.
    """
    asked = [
        (name, column)
        for name, column in zip(names, columns, strict=True)
        if any(isinstance(cell, ScoreCell) for cell in column)
    ]
    if len(asked) < 2:
        return "One model was asked so far." if asked else ""
    rows = list(zip(*(column for _, column in asked), strict=True))
    shared = [row for row in rows if all(_comparable(cell) for cell in row)]
    if not shared:
        return f"No question was put alike to all {len(asked)} models that were asked."
    failed = [sum(_fails(row[place]) for row in shared) for place in range(len(asked))]
    order = sorted(range(len(asked)), key=lambda place: -failed[place])
    told = [f"{asked[place][0]} fails {failed[place]}" for place in order]
    questions = count(len(shared), "question")
    return f"Of {questions} put alike to all {len(asked)} models, {', '.join(told)}."


def _comparable(cell: Known) -> bool:
    return isinstance(cell, ScoreCell) and not cell.unlike


def _fails(cell: Known) -> bool:
    return isinstance(cell, ScoreCell) and cell.verdict.status is Status.FAILS
