"""Panel: draws the Results of one analysis; the same call live, after a stop and from a reopened workspace."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from robgui.core.execution.analysis import Pace
from robgui.core.execution.run import RunState
from robgui.gui.app.theme import HEADINGS, Themed, pixmap, set_heading, theme
from robgui.gui.panels.send_button import SendButton

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.gui.state.sending import Offer
    from robgui.gui.state.store import Store


STALE = "Stale: settings, model or input have changed. Press Run."
#: The same while Run cannot be pressed; the form says why.
STALE_FOR_NOW = "Stale: settings, model or input have changed."
FIRST_LOOK = "From Inspect everything, with short settings. Press Run for the full result."
#: Words that change thirty times a second cannot be read, and laying them out costs more than the picture.
WORDS_SECONDS = 0.25
#: A first sentence shorter than this does not stand alone.
SHORT_SENTENCE = 40


class Verdict(QLabel):
    """What was found, in words: the point of it large, the rest of the sentences as text."""

    def __init__(self) -> None:
        super().__init__(wordWrap=True)
        self._words = ""
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setAccessibleName("Verdict")
        self.setAlignment(Qt.AlignmentFlag.AlignTop)
        theme.changed.connect(self._restyle)

    def text(self) -> str:
        """The words as they were given."""
        return self._words

    def setText(self, words: str) -> None:
        """Shows ``words``."""
        self._words = words
        head, rest = split_verdict(words)
        points = self.font().pointSizeF() * HEADINGS["verdict"]
        self.setAccessibleDescription(words)
        super().setText(f'<span style="font-size:{points:.1f}pt; font-weight:600">{escape(head)}</span> {escape(rest)}')

    def _restyle(self) -> None:
        self.setText(self._words)


def split_verdict(words: str) -> tuple[str, str]:
    """The first sentence, or the first two when the first is short; and the rest."""
    end = 0
    for found in re.finditer(r"[.!?] (?=[A-Z“0-9])", words):
        end = found.end()
        if end >= SHORT_SENTENCE:
            return words[:end].strip(), words[end:]
    return words, ""


class Panel(Themed, QWidget):
    """Verdict in words, one big picture, then details.

    A subclass sets the class attributes, builds its picture in ``build`` and redraws it whole in ``draw``.
    """

    analysis = ""
    title = ""
    icon_name = ""
    invitation = ""
    explanation = ""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.result: Any = None
        self.request: Request | None = None
        self.run_id: str | None = None
        self._words_due = Pace(WORDS_SECONDS)
        self._job: Execution | None = None
        self._left: Execution | None = None
        self.setAccessibleName(self.title)
        self._make_page()
        self.clear()
        store.job_changed.connect(self._job_changed)
        store.job_stepped.connect(self._job_stepped)
        store.history.result_shown.connect(self._result_shown)
        for signal in (
            store.params_changed,
            store.selection_changed,
            store.scope_changed,
            store.library.models_changed,
            store.library.datasets_changed,
            store.library.working,
        ):
            signal.connect(self._check_stale)
        store.history.opened.connect(self._workspace_opened)
        store.history.run_deleted.connect(self._run_deleted)
        theme.changed.connect(self.look_changed)

    def build(self) -> QWidget:
        """Makes the picture and its details; called once."""
        raise NotImplementedError

    def draw(self, result: Any) -> None:
        """Shows a complete result; keeps its plot items and only gives them new data."""
        raise NotImplementedError

    def restyle(self) -> None:
        """Takes over the present theme; plots paint themselves."""

    def pictures(self) -> dict[str, QWidget]:
        """What can be exported as a picture, by name."""
        return {self.title: self._content}

    def table(self) -> dict[str, np.ndarray]:
        """What can be exported as numbers: columns by name."""
        return {}

    def clear(self) -> None:
        """Back to the empty state, which says what to do next."""
        self.result = self.request = self.run_id = self._job = None
        self._stale.hide()
        self._pages.setCurrentIndex(0)

    def show_result(self, request: Request, result: Any, verdict: str | None) -> None:
        """Draws ``result`` and remembers what it came from; without a ``verdict`` the words on show stay."""
        self.request, self.result = request, result
        if verdict is not None:
            self.verdict.setText(verdict)
            self._hold_height()
        self._pages.setCurrentIndex(1)
        self.draw(result)
        self.send.refresh()
        self._check_stale()

    def point_at(self, place: int) -> None:
        """Chooses an input of the picture in the gallery: number ``place`` of those that the run looked at."""
        if self.request is not None:
            self.store.choose(self.request, place, origin=self)

    def offers(self) -> Sequence[Offer]:
        """Inputs on show that another analysis may look at; they stand in the menu of Send to."""
        return ()

    @property
    def stale(self) -> bool:
        """Whether pressing Run would ask for something else than what the picture shows."""
        return not self._stale.isHidden()

    def _hold_height(self) -> None:
        """While a run goes on the verdict may grow a line but not shrink, so that the picture below does not jump."""
        held = self.verdict.minimumHeight() if self._job is not None else 0
        self.verdict.setMinimumHeight(0)  # a label's height for a width is never below its minimum
        self.verdict.setMinimumHeight(max(held, self.verdict.heightForWidth(self.verdict.width())))

    def _make_page(self) -> None:
        self.verdict = Verdict()
        self._subject = QLabel(wordWrap=True)
        self._subject.setAccessibleName("Which model on which input")
        self._subject.setProperty("role", "quiet")
        self._stale = QLabel(STALE)
        self._stale.setProperty("role", "badge")
        self._stale.setWordWrap(True)
        self._content = self.build()
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(16, 16, 16, 8)
        layout.setSpacing(8)
        layout.addWidget(self.verdict)
        layout.addWidget(self._subject)
        layout.addWidget(self._stale)
        layout.addWidget(self._content, 1)
        layout.addWidget(self._explained())
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self._empty())
        self._pages.addWidget(page)

    def _empty(self) -> QWidget:
        page = QWidget()
        self._mark = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        title = set_heading(QLabel(self.title, alignment=Qt.AlignmentFlag.AlignCenter), "title")
        text = QLabel(self.invitation, alignment=Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, wordWrap=True)
        text.setProperty("role", "quiet")
        text.setMaximumWidth(self.fontMetrics().averageCharWidth() * 72)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(text, 8)
        row.addStretch(1)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.addStretch(2)
        layout.addWidget(self._mark)
        layout.addWidget(title)
        layout.addLayout(row, 3)
        self._tint()
        return page

    def _explained(self) -> QWidget:
        box = QWidget()
        button = QPushButton("What am I looking at?", checkable=True)
        button.setProperty("role", "link")
        text = QLabel(self.explanation, wordWrap=True)
        text.setProperty("role", "quiet")
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        text.hide()
        button.toggled.connect(text.setVisible)
        self.send = SendButton(self)
        row = QHBoxLayout()
        row.addWidget(button)
        row.addStretch()
        row.addWidget(self.send)
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(row)
        layout.addWidget(text)
        return box

    def _workspace_opened(self, *_: object) -> None:
        """Another workspace begins with empty panels; a copy of this one keeps its picture."""
        if not any(run.id == self.run_id for run in self.store.history.runs):
            self.clear()

    def _run_deleted(self, run_id: str) -> None:
        """The picture of a deleted run goes with it; what runs now stays."""
        if run_id == self.run_id and self._job is None:
            self.clear()

    def _job_changed(self, job: Execution) -> None:
        if job.request.analysis != self.analysis:
            return
        if job.state is RunState.RUNNING and job is not self._left:
            self._job = job
        if job is self._job and job.state.ended:
            self._job, self.run_id = None, job.run_id
            if self.result is not None and self.request is not None:
                self._show_subject(self.request)
                self.verdict.setText(job.verdict)
                self._hold_height()
            self._check_stale()

    def _job_stepped(self, job: Execution) -> None:
        """Follows the run at work; a quick one is over before anyone has told that it runs."""
        step = job.newest
        if job.request.analysis == self.analysis and job is not self._left and step is not None:
            if job.request is not self.request:
                self._words_due = Pace(WORDS_SECONDS)
            self._job = job
            words = None
            if self._words_due.due():
                words = job.verdict
                self._show_subject(job.request, step.note)
            self.show_result(job.request, step.result, words)

    def _show_subject(self, request: Request, note: str = "") -> None:
        """Which model on which input; while it runs, how far it is where its engine says so."""
        subject = self.store.subject(request)
        self._subject.setText(f"{subject}. {note}" if note else subject)

    def _result_shown(self, run: Any, result: Any) -> None:
        if run.request.analysis != self.analysis:
            return
        self._job, self._left = None, self.store.runner.active
        self.run_id = run.id
        self._show_subject(run.request)
        self.show_result(run.request, result, run.verdict)

    def _check_stale(self, *_: object) -> None:
        if self.request is None or self._job is not None:
            self._stale.hide()
            return
        now = self.store.request(self.analysis)
        if now is None:
            self._stale.setText(STALE_FOR_NOW)
            self._stale.setVisible(not self._awaits_files())
            return
        stale = now.fingerprint != self.request.fingerprint
        if stale:
            self._stale.setText(FIRST_LOOK if self.store.inspection.gave(self.request, now) else STALE)
        self._stale.setVisible(stale)

    def _awaits_files(self) -> bool:
        """Whether model or data are still being read, as when a workspace is opened again: then nothing has changed yet."""
        library = self.store.library
        return bool(library.loading) and (library.model is None or library.dataset is None)

    def take_look(self) -> None:
        """Icon and picture in the present theme."""
        self._tint()

    def _tint(self) -> None:
        self._mark.setPixmap(pixmap(self.icon_name, 64, theme.colours.quiet))
        if self._pages_ready():
            self.restyle()
            if self.result is not None:
                self.draw(self.result)

    def _pages_ready(self) -> bool:
        return hasattr(self, "_pages")
