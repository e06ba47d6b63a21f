"""Which runs are laid beside each other, and what each is called."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox

from robgui.core.execution.likeness import differences, incomparable
from robgui.core.view import View

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.run import Run
    from robgui.core.workspace import Workspace

NOTHING_YET = (
    "Run the same analysis twice, with two models or on two inputs: both pictures and their"
    " difference are shown here."
)
NOTHING_ALIKE = (
    "No two runs can be compared: they are of other data, or of other models and inputs at once."
    " Run the analysis with a second model on the same input, or choose two runs to see them"
    " beside each other."
)
#: The open list of runs is at most this wide, in pixels; a longer name is cut in its middle.
_WIDEST_LIST = 640

Pair = tuple[Sequence[View], Sequence[View]]


def partner(run: Run, runs: Sequence[Run], shown: str | None) -> Run | None:
    """What to lay beside ``run``: ``shown`` if the two compare, else another model's newest."""
    others = [
        other
        for other in runs
        if other.has_result and other.id != run.id and not incomparable(other.request, run.request)
    ]
    first = next((other for other in others if other.id == shown), None)
    unlike = next((other for other in others if other.request.models != run.request.models), None)
    return first or unlike or next(iter(others), None)


def other_run(run: Run, runs: Sequence[Run]) -> Run | None:
    """The newest run beside ``run`` that asks for something else and can be compared with it.

    Else the newest repetition; None if nothing can be compared.
    """
    others = [
        other
        for other in runs
        if other.id != run.id and not incomparable(other.request, run.request)
    ]
    mark = run.request.fingerprint
    unlike = next((other for other in others if other.request.fingerprint != mark), None)
    return unlike or next(iter(others), None)


def first_pair(runs: Sequence[Run]) -> tuple[Run | None, Run]:
    """What to compare unasked: two models that answered the same question, the newest first.

    Without such a pair, the newest run and what can be compared with it.

    Args:
        runs: At least one, newest first.
    """
    for run in runs:
        for other in runs:
            apart = [one.fingerprint for one in other.request.models] != [
                one.fingerprint for one in run.request.models
            ]
            if apart and not differences(other.request, run.request):
                return other, run
    return other_run(runs[0], runs), runs[0]


def moment_of(run: Run) -> str:
    """When a run began; it stands before its name, whose end is cut where it is long."""
    created, today = time.localtime(run.created), time.localtime()
    if created[:3] == today[:3]:
        day = ""
    else:
        day = time.strftime("%d %b ", created)
    return f"{day}{time.strftime('%H:%M:%S', created)}"


def models_of(run: Run) -> str:
    """The models of a run by name."""
    return ", ".join(model.name for model in run.request.models)


def views_of(workspace: Workspace, known: Analysis, first: Run, second: Run) -> Pair:
    """The views of both runs; called on a pool thread."""
    both = []
    for run in (first, second):
        params = known.params.parse(dict(run.request.params))
        both.append(tuple(known.views(workspace.result(run.id), params)))
    return both[0], both[1]


def fill_box(box: QComboBox, words: dict[str, str], chosen: str) -> None:
    """Offers runs by their words; the list that opens is wide enough to read them."""
    with QSignalBlocker(box):
        box.clear()
        for run_id, text in words.items():
            box.addItem(text, run_id)
        box.setCurrentIndex(box.findData(chosen))
    metrics = box.fontMetrics()
    widths = (metrics.horizontalAdvance(text) for text in words.values())
    room = max(widths, default=0) + 4 * metrics.averageCharWidth()
    box.view().setMinimumWidth(min(room, _WIDEST_LIST))
