"""FindingView: the page of one finding, with everything that is known of its input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from robgui import manual
from robgui.core.finding_pair import is_drawn, pair_of
from robgui.core.view.ink import status_ink
from robgui.gui.app.theme import icon, set_heading, theme
from robgui.gui.pages.findings.answer_row import AnswerRow
from robgui.gui.pages.findings.known import (
    among,
    answers,
    beyond,
    others,
    place_of,
    spot_of,
    subject_of,
)
from robgui.gui.widgets.elided import ElidedLink
from robgui.gui.widgets.flow import Flow
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.pair import PairView
from robgui.gui.widgets.pair.confusion_label import ConfusionLabel
from robgui.gui.widgets.pair.fitted import Fitted
from robgui.gui.widgets.plain import Label, unbroken
from robgui.gui.widgets.when_seen import WhenSeen

if TYPE_CHECKING:
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.gui.state.store import Store

#: Lines of the note.
_NOTE_LINES = 3
#: Milliseconds after the last letter of a note until it is kept.
_PAUSE = 600
#: Other findings of the same input that are listed; the wall has all.
_MOST_OTHERS = 4
#: Findings on single inputs that are listed for a finding about several.
_MOST_AMONG = 12


class FindingView(WhenSeen, QWidget):
    """Before and after on the left; what it means and what else is known on the right.

    Attributes:
        finding: The one on show; None before any is.

    Signals:
        wants_run: The finding whose run to draw.
        wants_finding: Another finding of the same input.
        wants: The analysis to run on its input, which is chosen already.
        wants_presentation: Asks to present the findings on the whole screen.
        wants_cause: Asks for the cause of the finding.
        wants_look: Asks what the model looks at in it.
    """

    wants_run = Signal(object)
    wants_finding = Signal(object)
    wants = Signal(str)
    wants_presentation = Signal()
    wants_cause = Signal()
    wants_look = Signal()

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self.finding: StoredFinding | None = None
        self._make_head()
        self._make_pictures()
        self._make_words()
        self._arrange()
        store.history.runs_changed.connect(self._runs_changed)
        theme.changed.connect(self._tint)
        self._tint()

    def show_finding(self, finding: StoredFinding | None, row: int = 0, total: int = 1) -> None:
        """Shows another finding, number ``row`` of ``total``."""
        self._keep_note()
        self.finding = finding
        self.pair.show_pair(None)
        self.alone.show_picture(None)
        if finding is not None:
            self.note.setPlainText(finding.note)
            self.refresh(finding, row, total)
            self._fetch(finding)

    def refresh(self, finding: StoredFinding, row: int, total: int) -> None:
        """The same finding with another star or note, or among others; its picture stays."""
        self.finding = finding
        # What is being typed is not overwritten by an answer of the workspace.
        if not self._noting.isActive() and self.note.toPlainText().strip() != finding.note:
            self.note.setPlainText(finding.note)
        self.star.setText("Starred" if finding.starred else "Star")
        for button in (self.cause, self.looks):
            button.setEnabled(finding.confusion is not None)
        self.place.setText(f"{row + 1:,} of {total:,}" if row >= 0 else "not among those shown")
        self.earlier.setEnabled(row > 0)
        self.later.setEnabled(0 <= row < total - 1)
        self.title.setText(unbroken(finding.title))
        self.chips.show_confusion(finding.confusion)
        self.severity.setText(self._store.history.harm.words(finding))
        self._show_known()
        self._tint()
        self.up_to_date()

    # --- making -----------------------------------------------------------------------------------

    def _make_head(self) -> None:
        self.back = QPushButton("All findings")
        self.earlier, self.later = QPushButton(), QPushButton()
        for button, words in ((self.earlier, "The finding before"), (self.later, "The next one")):
            button.setToolTip(words)
            button.setAccessibleName(words)
            button.setProperty("tight", True)
        self.place = Label()
        self.place.setProperty("role", "quiet")
        self.star = QPushButton("Star")
        self.star.clicked.connect(self._turn_star)
        self.run = QPushButton("Show its run", toolTip="The analysis that found it, as it was")
        self.run.clicked.connect(lambda: self.wants_run.emit(self.finding))
        self.cause = QPushButton(
            "Post-mortem",
            toolTip="Runs what is missing for a minute, and says what is behind it",
        )
        self.cause.clicked.connect(self.wants_cause)
        self.looks = QPushButton(
            "What it looks at",
            toolTip="Which parts speak for the class, before and after the change",
        )
        self.looks.clicked.connect(self.wants_look)
        self.present = QPushButton("Present", toolTip="Tells the findings as a story (F11)")
        self.present.clicked.connect(self.wants_presentation)

    def _make_pictures(self) -> None:
        self.pair, self.alone = PairView(), Fitted()
        self.pictures = QStackedWidget()
        self.pictures.addWidget(self.pair)
        self.pictures.addWidget(self.alone)

    def _make_words(self) -> None:
        self.chips = ConfusionLabel()
        self.title = set_heading(_wrapped(), "title")
        self.status, self.sentence = _wrapped(), _wrapped()
        self.subject, self.severity, self.plain = _wrapped(), _wrapped(), _wrapped()
        for label in (self.subject, self.severity, self.plain):
            label.setProperty("role", "quiet")
        self.note = QPlainTextEdit(placeholderText="Write a note", tabChangesFocus=True)
        self.note.setAccessibleName("Note")
        self.note.setFixedHeight(self.fontMetrics().height() * _NOTE_LINES + 12)
        self._noting = QTimer(self, singleShot=True, interval=_PAUSE)
        self._noting.timeout.connect(self._keep_note)
        self.note.textChanged.connect(self._noting.start)
        self._known_title = set_heading(
            Label("What is known of this input", wordWrap=True), "section"
        )
        self._known = QVBoxLayout()
        self._known.setSpacing(4)

    def _arrange(self) -> None:
        head = QHBoxLayout()
        for leading in (self.back, self.earlier, self.place, self.later):
            head.addWidget(leading)
        head.addStretch(1)
        acting = Flow()
        acting.show_items([self.star, self.looks, self.cause, self.run, self.present])
        head.addWidget(acting)
        words = QWidget()
        column = QVBoxLayout(words)
        column.setContentsMargins(8, 0, 8, 0)
        column.setSpacing(8)
        column.addWidget(self.chips)
        for label in (self.title, self.subject, self.status, self.sentence):
            column.addWidget(label)
        column.addWidget(self.note)
        column.addWidget(self._known_title)
        column.addLayout(self._known)
        for label in (self.severity, self.plain):
            column.addWidget(label)
        column.addStretch(1)
        scroll = QScrollArea(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(words)
        middle = QSplitter(Qt.Orientation.Horizontal)
        middle.addWidget(self.pictures)
        middle.addWidget(scroll)
        middle.setStretchFactor(0, 13)
        middle.setStretchFactor(1, 7)
        middle.setChildrenCollapsible(False)
        middle.setSizes([650, 350])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 8)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addWidget(middle, 1)

    # --- what is shown ----------------------------------------------------------------------------

    def _run(self) -> Run | None:
        wanted = None if self.finding is None else self.finding.run_id
        return next((run for run in self._store.history.runs if run.id == wanted), None)

    def _fetch(self, finding: StoredFinding) -> None:
        """Both pictures, or the one there is."""
        workspace = self._store.history.workspace
        if workspace is None or not finding.has_picture:
            return

        def read(whole: StoredFinding) -> None:
            if self.finding is None or self.finding.id != whole.id:
                return
            pair = pair_of(whole)
            self.pair.show_pair(pair)
            alone = whole.picture if pair is None else None
            self.alone.show_picture(alone, drawn=is_drawn(whole))
            self.pictures.setCurrentWidget(self.alone if pair is None else self.pair)

        self._store.pictures.run(lambda: workspace.finding(finding.id), read, key="finding page")

    def _show_run(self, run: Run | None) -> None:
        self.run.setEnabled(run is not None and run.has_result)
        self.subject.setText(
            "" if run is None else subject_of(self._store, self.finding, run.request)
        )
        said = None if run is None else self._store.history.shown(run)
        self.status.setText("" if said is None else f"{said.status.sign} {said.status.words}")
        title = "" if self.finding is None else self.finding.title
        self.sentence.setText("" if said is None else unbroken(beyond(title, said)))
        if run is None:
            page = None
        else:
            page = manual.page_of(run.request.analysis)
        self.plain.setText("" if page is None else f"{page.title}. {page.plain}")
        if said is not None:
            palette = self.status.palette()
            palette.setColor(QPalette.ColorRole.WindowText, colour(status_ink(said.status)))
            self.status.setPalette(palette)

    def _runs_changed(self) -> None:
        self.when_seen(self._show_known)

    def _show_known(self) -> None:
        """One row per analysis with something to say about the input, then what else fails."""
        while (item := self._known.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        run = self._run()
        if run is None or self.finding is None:
            spot = None
        else:
            spot = spot_of(self.finding, run.request)
        self._known_title.setText("What is known of this input")
        self._known_title.setVisible(spot is not None)
        if self.finding is None:
            return
        if spot is None:
            self._show_among(run)
            return
        for answer in answers(self._store, spot):
            if answer.run is None:
                said = None
            else:
                said = self._store.history.shown(answer.run)
            row = AnswerRow(answer, said)
            row.opened.connect(self._store.history.show_run)
            row.asked.connect(self._ask)
            self._known.addWidget(row)
        for other in others(self._store, self.finding, spot)[:_MOST_OTHERS]:
            self._link(f"Also: {other.title}", other)

    def _show_among(self, run: Run | None) -> None:
        """What was found on single inputs of a finding about several."""
        if run is None or self.finding is None:
            return
        inside = among(self._store, self.finding, run.request)
        self._known_title.setText("What is known of its inputs")
        self._known_title.setVisible(bool(inside))
        for other in inside[:_MOST_AMONG]:
            self._link(other.title, other)

    def _link(self, words: str, other: StoredFinding) -> None:
        link = ElidedLink(words, "Open this finding")
        link.clicked.connect(lambda: self.wants_finding.emit(other))
        self._known.addWidget(link)

    def _ask(self, analysis: str) -> None:
        """Chooses model and input of the finding; the window runs the analysis."""
        run = self._run()
        if run is None or self.finding is None:
            return
        library = self._store.library
        spot = spot_of(self.finding, run.request)
        model = next(
            (one for one in library.models if spot is not None and one.fingerprint == spot.model),
            None,
        )
        if not self._store.subjects.choose(run.request, place_of(self.finding, run.request)):
            return
        if model is not None and model is not library.model:
            library.use_model(model)
        self.wants.emit(analysis)

    # --- what a user does -------------------------------------------------------------------------

    def _turn_star(self) -> None:
        if self.finding is not None and self._store.history.writable is not None:
            self._store.navigation.change_finding(self.finding, starred=not self.finding.starred)

    def _keep_note(self) -> None:
        self._noting.stop()
        note = self.note.toPlainText().strip()
        if self.finding is None or note == self.finding.note:
            return
        if self._store.history.writable is not None:
            self._store.navigation.change_finding(self.finding, note=note)

    def _tint(self) -> None:
        self._show_run(self._run())
        starred = self.finding is not None and self.finding.starred
        self.star.setIcon(icon("star-filled" if starred else "star"))
        for button, name in (
            (self.back, "grid"),
            (self.earlier, "back"),
            (self.later, "forward"),
            (self.cause, "search"),
            (self.looks, "gallery"),
            (self.run, "eye"),
            (self.present, "present"),
        ):
            button.setIcon(icon(name))


def _wrapped() -> QLabel:
    return Label(wordWrap=True)
