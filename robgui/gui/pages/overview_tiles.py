"""What the tiles of the overview stand for, and how many stand beside each other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from robgui.core.execution.run import RunState
from robgui.core.verdict import Status
from robgui.core.view.owned import first_of

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.run import Run
    from robgui.core.verdict import Quantity, Verdict
    from robgui.core.view import View
    from robgui.core.workspace import Workspace
    from robgui.gui.panels import Page
    from robgui.gui.state.store import Store

#: How much wider than high a tile looks best.
_SHAPE = 1.7


def columns_for(tiles: int, least: int, width: int, height: int) -> int:
    """How many tiles of at least this width fit side by side and look best.

    Somewhat wider than high, in rows as even as possible: five become three and two.
    """
    by_rows = {-(-tiles // rows) for rows in range(1, tiles + 1)}
    fit = [columns for columns in by_rows if columns * least <= width]

    def unlike(columns: int) -> float:
        wide, low = width / columns, height / -(-tiles // columns)
        # By the logarithm twice too wide is as bad as twice too high.
        return abs(math.log(wide / low / _SHAPE))

    return min(fit, key=unlike, default=1)


def input_words(dataset: Dataset, at: int) -> str:
    """An input as its file is called, else by its number."""
    key = dataset.key(at)
    if key and key != str(at):
        return f"{key} of {dataset.name}"
    return f"{dataset.name}, input {at:,}"


def leading(page: Page, store: Store) -> str:
    """The analysis a method is opened with: the first that gives a first look."""
    names = [analysis.name for analysis in page.analyses]
    looks = (one for one in map(store.analyses.get, names) if one and one.first_look is not None)
    return next((one.name for one in looks), names[0])


def belongs(page: Page, analysis: str) -> bool:
    """Whether an analysis is one of a method."""
    return any(one.name == analysis for one in page.analyses)


def how_many_done(asked: Sequence[Sequence[Execution]]) -> str:
    """How many methods of an inspection have come to their end, and how many ended before it.

    Args:
        asked: The runs of each method.
    """
    # A method counts once, with the worst end of its runs, and only when all have ended.
    order = (RunState.FAILED, RunState.CANCELLED, RunState.DONE)
    ends = Counter(
        next(end for end in order if any(job.state is end for job in jobs))
        for jobs in asked
        if all(job.state.ended for job in jobs)
    )
    others = ((RunState.CANCELLED, "stopped"), (RunState.FAILED, "could not run"))
    rest = "".join(f", {ends[end]} {words}" for end, words in others if ends[end])
    return f"{ends[RunState.DONE]} of {len(asked)} methods done{rest}"


def first_view(workspace: Workspace, known: Analysis, run: Run, place: int) -> View | None:
    """The picture of an analysis, of the model at ``place``; called on a pool thread."""
    views = known.views(workspace.result(run.id), known.params.parse(dict(run.request.params)))
    return first_of(views, place)


def in_two_lines(words: str) -> str:
    """An interval stands below its number."""
    return words.replace(" (", "\n(", 1)


def scale_words(number: Quantity) -> str:
    """What a number is, and which way is good."""
    ways = {"high": "; more is better", "low": "; less is better", "neither": ""}
    return f"{number.name}{ways[number.better]}"


def scale_line(said: Verdict | None, part: str, *, low: bool) -> str:
    """What the number of a card is, and of what size or range “Holds” speaks.

    Args:
        said: What the card says; None for nothing.
        part: Of how few inputs the number is.
        low: The card is low: beside “Holds” it has no room for the number's meaning.
    """
    parts = []
    if said is not None and said.number is not None:
        parts.append(scale_words(said.number) + part)
    if said is not None and said.status is Status.HOLDS and said.reach:
        if low:
            parts.clear()
        parts.insert(0, f"Holds {said.reach}")
    return ". ".join(parts)
