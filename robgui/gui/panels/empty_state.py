"""EmptyState: what a panel shows before its first run: the input it would look at, its question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from robgui.core.execution.registry import method_of
from robgui.core.execution.run import RunState
from robgui.core.text.words import as_sentence, count
from robgui.gui.app.theme import icon, pixmap, set_heading, theme
from robgui.gui.widgets.elided import Caption
from robgui.gui.widgets.pair.fitted import Fitted
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    import numpy as np

    from robgui.core.execution.analysis import Analysis
    from robgui.gui.state.store import Store

#: Lines of text: how high the picture of the input is. Characters: how long a line of words is.
#: Pixels: how large the picture is read, and how large the sign of the method is.
_LINES, _LETTERS, _SIDE, _SIGN = 20, 56, 640, 64


class EmptyState(QWidget):
    """What it will be done to on the left; what is asked, what it costs and Run on the right.

    Attributes:
        picture: The input in use, where the analysis looks at one.
        text: What is asked; where the run stands once it is asked for.
        run: Runs the analysis on what is chosen, as the Run of the form does.
    """

    def __init__(self, store: Store, analysis: Analysis) -> None:
        super().__init__()
        self._store, self._analysis = store, analysis
        self._shown: object = None
        self._pictured = True
        self._mark = Label(alignment=Qt.AlignmentFlag.AlignLeft)
        self.picture = Fitted()
        self.picture.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._name = Caption()
        self._name.setProperty("role", "quiet")
        self.run = QPushButton("Run")
        self.run.setProperty("role", "primary")
        self.run.setAccessibleName(f"Run {analysis.title}")
        self.run.clicked.connect(self._start)
        self._cost = Label(wordWrap=True)
        self._cost.setProperty("role", "quiet")
        self._arrange()
        for signal in (store.selection_changed, store.library.datasets_changed):
            signal.connect(lambda *_: self._look())
        for signal in (
            store.selection_changed,
            store.params_changed,
            store.working,
            store.scope_changed,
            store.job_changed,
            store.library.models_changed,
            store.history.runs_changed,
        ):
            signal.connect(lambda *_: self._tell())
        self.tint()

    def tint(self) -> None:
        """Takes over the present theme and size of the text."""
        method = method_of(self._analysis.name)
        mark = "grid" if method is None else method.icon_path
        self._mark.setPixmap(pixmap(mark, _SIGN, theme.colours.quiet))
        self.run.setIcon(icon("run", theme.colours.on_accent))
        side = self.fontMetrics().height() * _LINES
        self.picture.setFixedSize(side, side)
        self._name.setFixedWidth(side)
        self._words.setMaximumWidth(self.fontMetrics().averageCharWidth() * _LETTERS)
        self._reveal()

    def set_pictured(self, pictured: bool) -> None:
        """Whether there is room for a picture beside the words."""
        self._pictured = pictured
        self._reveal()

    def put_below(self, widget: QWidget) -> None:
        """Puts ``widget`` below the words, which then stand on top."""
        layout = self._column
        for place in range(layout.count()):
            layout.setStretch(place, 0)
        layout.addSpacing(8)
        layout.addWidget(widget, 1)

    def showEvent(self, event: QShowEvent) -> None:
        """The input is read when somebody looks."""
        super().showEvent(event)
        self._look()
        self._tell()

    def _look(self) -> None:
        """Reads the input in use away from the GUI thread."""
        dataset, index = self._store.library.dataset, self._store.selection.input
        one = self._analysis.inputs == "one" and dataset is not None
        if not self.isVisible():
            return
        if not one or dataset is None or index is None or index >= len(dataset):
            self._show(None, None, "")
        # By identity: a dataset that was opened again may hold other pictures under the same names.
        elif self._shown != (wanted := (id(dataset), index)):
            self._store.pictures.run(
                lambda: (dataset.thumbnail(index, _SIDE), dataset.key(index)),
                lambda answer: self._show(answer[0], wanted, answer[1]),
                # Newest wins: only the last of several clicks in the gallery is read.
                key=f"empty {self._analysis.name}",
            )

    def _show(self, picture: np.ndarray | None, shown: object, name: str) -> None:
        if picture is None:
            self._shown = None
        else:
            self._shown = shown
        dataset = self._store.library.dataset
        self.picture.show_picture(picture, drawn=dataset is not None and dataset.kind != "image")
        self._name.set_words(name)
        self._reveal()

    def _reveal(self) -> None:
        seen = self._pictured and self._shown is not None
        for widget in (self.picture, self._name):
            widget.setVisible(seen)
        self._mark.setVisible(self._pictured and self._shown is None)

    def _tell(self) -> None:
        """What Run would cost, or what is missing before it can be pressed.

        Once the run is asked for, where it stands takes the place of the invitation.
        """
        if not self.isVisible():
            return
        under_way = self._under_way()
        self.text.setText(under_way or self._words_for_start())
        self.run.setVisible(not under_way)
        self._cost.setVisible(not under_way)
        if under_way:
            return
        obstacle = self._store.next_run.obstacle(self._analysis.name)
        if obstacle:
            cost = None
        else:
            cost = self._store.next_run.estimate(self._analysis.name)
        self.run.setEnabled(not obstacle)
        words = obstacle or ("" if cost is None else cost.words)
        self._cost.setText(as_sentence(words))
        self._cost.setVisible(bool(words))

    def _words_for_start(self) -> str:
        """How to begin, or why that failed; only the question where the model cannot be asked."""
        model = self._store.library.model
        if model is not None and self._analysis.refusal(model):
            return self._analysis.question
        if why := self._failure():
            return f"It could not run: {why}"
        return self._invitation

    def _failure(self) -> str:
        """Why the newest run of this analysis on what is in use failed; empty if it did not."""
        store, name = self._store, self._analysis.name
        of_it = (run for run in store.history.runs if run.request.analysis == name)
        newest = next((run for run in of_it if store.subjects.in_use(run.request)), None)
        if newest is None or newest.state is not RunState.FAILED:
            return ""
        return newest.error

    def _under_way(self) -> str:
        """Where the run of this analysis stands that has no picture yet; empty without one."""
        runner, name = self._store.runner, self._analysis.name
        jobs = [job for job in runner.executions if job.request.analysis == name]
        if any(job.begun for job in jobs):
            return "It is running; the picture appears with its first result."
        if not jobs:
            return ""
        before = runner.executions.index(jobs[0])
        return f"It waits for its turn in the queue, behind {count(before, 'other run')}."

    def _start(self) -> None:
        name = self._analysis.name
        if self._store.next_run.obstacle(name):
            request = None
        else:
            request = self._store.next_run.request(name)
        if request is not None:
            self.run.clearFocus()  # it vanishes, and the focus would jump to whatever is next
            self._store.submit(request)

    def _arrange(self) -> None:
        left, words = QVBoxLayout(), QWidget()
        self._words = words
        left.setSpacing(4)
        left.addStretch(1)
        for widget in (self.picture, self._name):
            left.addWidget(widget)
        left.addStretch(1)
        middle = QHBoxLayout()
        middle.setSpacing(32)
        middle.addStretch(1)
        middle.addLayout(left)
        middle.addWidget(words, 4)
        middle.addStretch(1)
        self._fill(words)
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.addStretch(2)
        layout.addLayout(middle)
        layout.addStretch(3)

    def _fill(self, place: QWidget) -> None:
        analysis = self._analysis
        title = set_heading(Label(analysis.title, wordWrap=True), "title")
        self._invitation = analysis.invitation or f"{analysis.question} Press Run."
        self.text = Label(self._invitation, wordWrap=True)
        self.text.setProperty("role", "quiet")
        row = QHBoxLayout()
        row.addWidget(self.run)
        row.addWidget(self._cost, 1)
        column = QVBoxLayout(place)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addStretch(1)
        for widget in (self._mark, title, self.text):
            column.addWidget(widget)
        column.addLayout(row)
        column.addStretch(1)
