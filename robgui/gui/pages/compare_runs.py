"""Which runs are laid beside each other, and what each is called."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout

from robgui.core.execution.likeness import differences, incomparable
from robgui.core.view import View
from robgui.gui.widgets.elided import ElidedBox
from robgui.gui.widgets.plain import Label, tip

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.run import Run
    from robgui.core.workspace import Workspace

NOTHING_RUN = (
    "Nothing has run yet. Open a model and data and press “Inspect everything” on the overview;"
    " what each model answers stands here side by side."
)
NOTHING_YET = (
    "Run the same analysis twice, with two models or on two inputs: both pictures and their"
    " difference are shown here. With a second model open, “Run missing” beside the scoreboard does"
    " it for every analysis."
)
NOTHING_ALIKE = (
    "No two runs can be compared: they are of other data, or of other models and inputs at once."
    " Run the analysis with a second model on the same input, or choose two runs to see them"
    " beside each other."
)
#: Among how many of the newest runs the comparison to begin with is looked for: these make 4,950
#: pairs.
_LATELY = 100
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


def most_useful(runs: Sequence[Run]) -> tuple[Run, Run] | None:
    """The two runs to begin with, the older first; None if no two can be compared.

    Two models that were asked the same; else one model that was asked two things, two models with
    different settings, a repetition. Of several the newest.

    Args:
        runs: The newest first.
    """
    found: dict[int, tuple[Run, Run]] = {}
    lately = [run for run in runs if run.has_result][:_LATELY]
    for place, run in enumerate(lately):
        for other in lately[place + 1 :]:
            if not incomparable(other.request, run.request):
                found.setdefault(_use(other, run), (other, run))
        # Nothing says more, and the newest came first.
        if 0 in found:
            break
    return found[min(found)] if found else None


def _use(one: Run, other: Run) -> int:
    """How little the comparison of two runs says: 0 says most."""
    first, second = one.request, other.request
    if first.fingerprint == second.fingerprint:
        return 3
    if [m.fingerprint for m in first.models] == [m.fingerprint for m in second.models]:
        return 1
    return 2 if differences(first, second) else 0


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


def run_boxes() -> tuple[QComboBox, QComboBox, QComboBox]:
    """Boxes for the analysis and for two of its runs."""
    boxes = (QComboBox(), ElidedBox(), ElidedBox())
    for box, name in zip(boxes, ("Analysis", "First run", "Second run"), strict=True):
        box.setAccessibleName(name)
        # By default a box is as wide as its longest entry, and so would be the page.
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(20 if box is boxes[0] else 24)
        box.view().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        # Bound as a default: a lambda sees a variable as the loop has left it.
        box.currentTextChanged.connect(lambda words, box=box: box.setToolTip(tip(words)))
    return boxes


def box_row(*boxes: QComboBox) -> QHBoxLayout:
    """The boxes of ``run_boxes`` in a sentence."""
    row = QHBoxLayout()
    for words, box in zip(("Compare", "of", "with"), boxes, strict=True):
        label = Label(words)
        label.setBuddy(box)
        row.addWidget(label)
        row.addWidget(box, 1 if box is boxes[0] else 2)
    return row


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
