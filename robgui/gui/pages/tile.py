"""Tile: what one method says about the model in use: a big number, its scale, a small picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
)

from robgui.core.execution.run import RunState
from robgui.core.verdict import Status, Verdict
from robgui.core.view.ink import status_ink
from robgui.core.workspace.speaking import is_chosen_part
from robgui.gui.app.theme import icon, pixmap, set_heading, theme
from robgui.gui.pages.overview_tiles import in_two_lines, scale_line
from robgui.gui.panels import Page
from robgui.gui.panels.verdict_line import status_words
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.plain import Label, tip, unbroken
from robgui.gui.widgets.sized import keep_room

if TYPE_CHECKING:
    from robgui.core.execution.run import Run
    from robgui.core.view import View
    from robgui.gui.widgets.views import ViewWidget

#: A picture is at least this many lines of text high.
_PICTURE_LINES = 5
#: Pixels between the parts of a card and around them, from top to bottom.
_AROUND = 24
#: A card this many times as wide as it is high has its picture beside the words.
_WIDE = 1.5
#: Shares of the room that words beside a picture and the picture take.
_WORDS_SHARE, _PICTURE_SHARE = 2, 3
#: A card this many characters wide leaves more to its picture.
_WIDE_CARD = 60
#: Pixels of the sign of a method that has not run, at least.
_GHOST = 40
#: A card this many lines high has room for a large number beside its picture.
_ROOMY = 11
#: Letters of a number that is shown large.
_SHORT = 16
#: Pixels of the bar of a run.
BAR = 4
NOT_RUN = "Not run yet"
WAITS = "Waits its turn"
NOT_APPLICABLE = "Does not apply"
FAILED = "Could not run"  # "Failed" would read as a failure of the model.
#: How a run that ended before its end is called beside what it says.
_EARLY = {RunState.CANCELLED: "stopped", RunState.FAILED: "run failed"}


class Tile(QFrame):
    """One method: title, status, number, sentence, picture.

    Attributes:
        page: The method.
        verdict: What the run on show says of the model in use, or so far what a running one says;
            None without one.
        run: The run on show; None without one.
        picture: The first view of the run, small; None before it is read.

    Signals:
        opened: ``(page, run)``; the run is None when there is none yet.
    """

    opened = Signal(object, object)

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self.verdict: Verdict | None = None
        self._settled: Verdict | None = None
        self.picture: ViewWidget | None = None
        self.run: Run | None = None
        self._place = 0
        self._asked = ""
        self._moved = False  # Whether a run under way has drawn over the picture of the run.
        self.alert = self._beside = False
        self.setProperty("role", "card")
        self.setAccessibleName(page.title)
        self._mark = Label()
        self._ghost = Label(alignment=Qt.AlignmentFlag.AlignCenter)
        self._ghost.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.status, self.number, self.sentence = (_label() for _ in range(3))
        self.scale = _label()
        self.scale.setProperty("role", "quiet")
        set_heading(self.number, "title")
        self.progress = QProgressBar(textVisible=False, maximum=1000)
        self.progress.setAccessibleName(f"Progress of {page.title}")
        self.progress.setFixedHeight(BAR)
        self.progress.hide()
        keep_room(self.progress)
        self.sentence.setProperty("role", "quiet")
        self.status.setWordWrap(False)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.open = QPushButton(toolTip=f"Open {page.title}")
        self.open.setAccessibleName(f"Open {page.title}")
        self.open.setProperty("tight", True)
        self.open.clicked.connect(lambda: self.opened.emit(self.page, self.run))
        self._arrange(set_heading(_label(page.title), "section"))
        theme.changed.connect(self._tint)
        self._tint()

    def set_question(
        self, question: str, refusal: str, failure: str, *, waits: bool = False
    ) -> None:
        """What the method answers, why it cannot, why its run did not, or that one ``waits``."""
        if self.run is not None:
            return
        self.sentence.setText(refusal or failure or question)
        self.sentence.setVisible(True)
        words = WAITS if waits else NOT_RUN
        if failure:
            words = FAILED
        self.status.setText(NOT_APPLICABLE if refusal else words)
        self.open.setEnabled(not refusal)
        self.alert = bool(failure) and not refusal
        self._tint()

    def set_run(self, run: Run | None, verdict: Verdict | None = None, place: int = 0) -> None:
        """Shows a run and what it says of the model in use; its picture follows.

        Args:
            run: The run; None for none.
            verdict: What it says.
            place: Which of its models is the one in use.
        """
        self._settled = verdict
        same = run is not None and self.run is not None and run.id == self.run.id
        if same and place == self._place:
            self.run = run
            if verdict != self.verdict:
                self._say(verdict)
            if self._moved:
                self._moved, self._asked = False, ""
            return
        self._moved, self._asked = False, ""
        self._put(None)
        self.run, self._place = run, place
        self.open.setEnabled(True)
        self._say(verdict)

    @property
    def is_stopped(self) -> bool:
        """Whether the run on show was stopped, or failed, before its end."""
        return self.run is not None and self.run.state in _EARLY

    @property
    def told(self) -> Verdict | None:
        """The verdict that counts: that of the finished run, unless a running one is worse by now.

        The failure of the run is in the workspace, with its picture. A run under way that cannot
        tell yet has come to no verdict.
        """
        live = self.verdict
        if self.is_live and live is not None and live.status is Status.UNKNOWN:
            live = None
        known = [one for one in (self._settled, live) if one is not None]
        return min(known, key=lambda one: list(Status).index(one.status), default=None)

    @property
    def is_live(self) -> bool:
        """Whether what it says is what a run under way says so far."""
        return self.verdict is not None and self.verdict != self._settled

    def due(self, run: Run) -> bool:
        """Whether the picture of ``run`` is missing and has not been asked for yet."""
        if run.id == self._asked:
            return False
        self._asked = run.id
        return True

    def set_view(self, run: Run, view: View | None, place: int = 0) -> None:
        """The first view of ``run`` and one of its models, if they are still those on show."""
        same = self.run is not None and (self.run.id, self._place) == (run.id, place)
        if same and view is not None:
            self._show_view(view)

    def _show_view(self, view: View) -> None:
        # pyqtgraph is not imported with the window.
        from robgui.gui.widgets.views import view_widget

        if self.picture is not None and self.picture.fits(view):
            self.picture.show_view(view)
        else:
            self._put(view_widget(view, mini=True))

    def set_progress(self, share: float | None) -> None:
        """How far the run of the method is; None takes the bar away."""
        self.progress.setVisible(share is not None)
        self.progress.setValue(round(1000 * (share or 0.0)))

    def show_live(self, said: Verdict, view: View | None) -> None:
        """What a running method says so far; its run takes over when it ends.

        Where a run has ended, it knows more than what is only begun: only a graver failure shows
        before the new run has ended too.
        """
        order, known = list(Status), self._settled
        ended = self.run is None or self.run.state.ended
        if ended and known is not None and order.index(said.status) >= order.index(known.status):
            return
        self._say(said)
        if view is not None:
            self._moved = True
            self._show_view(view)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low card the picture stands beside the words, in a high one below them."""
        super().resizeEvent(event)
        way = QBoxLayout.Direction
        self._beside = self.width() > _WIDE * self.height()
        self._body.setDirection(way.LeftToRight if self._beside else way.TopToBottom)
        self._share()
        self._set_number(self.number.text())
        self._tell_scale()
        self._show_ghost()

    def _tell_scale(self) -> None:
        """What the number is, and of what size or range “Holds” speaks; a low card says this."""
        words = scale_line(self.verdict, self._part(), low=self._beside)
        self.scale.setText(unbroken(words))
        self.scale.setVisible(bool(words))

    def _share(self) -> None:
        """Words take the room that they need: half of a narrow card, less of a wide one."""
        wide = self.width() > _WIDE_CARD * self.fontMetrics().averageCharWidth()
        words = _PICTURE_SHARE
        if self.picture is not None and wide:
            words = _WORDS_SHARE
        self._body.setStretch(0, words if self._beside else 0)

    def _show_ghost(self) -> None:
        """Where a picture will be stands the sign of the method, pale."""
        side = min(self.height() // 3, self.width() // 4)
        # Why a run could not be done needs the whole width.
        free = self.picture is None and self.run is None and not self.alert
        self._ghost.setVisible(free and side >= _GHOST)
        # Not isVisible, which is False while the whole page is hidden.
        if self._ghost.isVisibleTo(self):
            self._ghost.setPixmap(pixmap(self.page.icon, side, theme.colours.line))

    def _say(self, said: Verdict | None) -> None:
        """Status, number and sentence of the model in use; an old run has words alone."""
        self.verdict = said
        self.alert = False
        number = None if said is None else said.number
        self.status.setText("" if said is None else status_words(said.status, self.is_live))
        if self.run is not None and self.is_stopped and said is self._settled:
            self.status.setText(f"{self.status.text()} ({_EARLY[self.run.state]})")
        self._set_number("" if number is None else in_two_lines(unbroken(number.words)))
        self.number.setVisible(number is not None)
        self._tell_scale()
        self.sentence.setText("" if said is None else unbroken(said.sentence))
        self.sentence.setVisible(number is None)
        self.setToolTip("" if said is None else tip(said.text))
        self._tint()

    def _part(self) -> str:
        """Of how few inputs a number is that somebody chose: it says nothing of the others."""
        if self.run is None or not is_chosen_part(self.run.request):
            return ""
        return f"; only {self.run.request.chosen or 'one input'}"

    def _set_number(self, words: str) -> None:
        """A short number is large; one that needs words to be true is as large as a heading."""
        roomy = self.height() > _ROOMY * self.fontMetrics().height()
        if len(words) <= _SHORT and (roomy or not self._beside):
            size = "title"
        else:
            size = "section"
        if self.number.property("heading") != size:
            set_heading(self.number, size)
            # A style sheet reads properties only when a widget is polished.
            self.number.style().unpolish(self.number)
            self.number.style().polish(self.number)
        self.number.setText(words)

    def _put(self, picture: ViewWidget | None) -> None:
        if self.picture is not None:
            # Until deleteLater comes round the layout would still give it room.
            self.picture.setParent(None)
            self.picture.deleteLater()
        self.picture = picture
        self._share()
        self._show_ghost()
        if picture is not None:
            policy = QSizePolicy.Policy
            picture.setSizePolicy(policy.Expanding, policy.Ignored)
            picture.setMinimumHeight(self.fontMetrics().height() * _PICTURE_LINES)
            self._body.addWidget(picture, _PICTURE_SHARE)
        # Wrapped words make Qt forget the picture's minimum height, and it would cover the edge.
        around = self.open.sizeHint().height() + BAR + _AROUND
        self.setMinimumHeight(0 if picture is None else around + picture.minimumHeight())

    def _arrange(self, title: QLabel) -> None:
        head = QHBoxLayout()
        head.addWidget(self._mark)
        head.addWidget(title)
        head.addStretch(1)
        head.addWidget(self.status)
        head.addWidget(self.open)
        words = QVBoxLayout()
        words.setSpacing(4)
        for widget in (self.number, self.scale, self.sentence):
            words.addWidget(widget)
        words.addStretch(1)
        self._body = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._body.setSpacing(8)
        self._body.addLayout(words)
        self._body.addWidget(self._ghost, _PICTURE_SHARE)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.progress)
        layout.addLayout(self._body, 1)

    def _tint(self) -> None:
        self._mark.setPixmap(
            pixmap(self.page.icon, max(24, round(1.5 * self.fontMetrics().height())))
        )
        self._show_ghost()
        self.open.setIcon(icon("forward"))
        if self.alert:
            status = Status.AT_RISK
        else:
            status = Status.UNKNOWN
        if self.verdict is not None:
            status = self.verdict.status
        palette = self.status.palette()
        palette.setColor(QPalette.ColorRole.WindowText, colour(status_ink(status)))
        self.status.setPalette(palette)


def _label(words: str = "") -> QLabel:
    return Label(words, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
