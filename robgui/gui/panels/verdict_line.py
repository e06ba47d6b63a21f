"""VerdictLine: a Verdict in words: status with sign and colour, sentence, and reasons."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt, QTimer
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from robgui.core.verdict import Status, Verdict
from robgui.core.view.ink import status_ink
from robgui.gui.app.theme import set_heading, theme
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.plain import Label, tip, unbroken

#: Lines of what a verdict rests on; more are shown when they are asked for.
LINES = 1
#: Not "More", as the tabs below say of pictures that do not fit.
WHY, LESS = "Why?", "Less"


class VerdictLine(QWidget):
    """What was found: status and sentence large, then on what, then why; plain text throughout.

    Args:
        brief: Status and sentence alone; the tool tip has the rest.
    """

    def __init__(self, *, brief: bool = False) -> None:
        super().__init__()
        self._brief = brief
        self._most = LINES
        self.verdict: Verdict | None = None
        self.setAccessibleName("Verdict")
        self.status, self.sentence, self.rest = (_label() for _ in range(3))
        # Of two wrapped labels in a row Qt may narrow either; the status is short and stays whole.
        self.status.setWordWrap(False)
        for label in (self.status, self.sentence):
            set_heading(label, "verdict")
        self.rest.setProperty("role", "quiet")
        self.more = QPushButton(WHY, checkable=True)
        self.more.setProperty("role", "link")
        self.more.toggled.connect(self._unfold)
        self._arrange()
        theme.changed.connect(self._tint)

    def text(self) -> str:
        """The whole verdict as running text."""
        if self.verdict is None:
            return ""
        return self.verdict.text

    def show_verdict(self, verdict: Verdict | None, *, live: bool = False) -> None:
        """Says this; None says nothing. While ``live``, nothing known is nothing known yet."""
        self.verdict = verdict
        if verdict is None:
            status = sentence = ""
        else:
            status, sentence = status_words(verdict.status, live), verdict.sentence
        self.status.setText(status)
        self.sentence.setText(unbroken(sentence))
        self.setAccessibleDescription(self.text())
        self.setToolTip(tip(self.text()) if self._brief else "")
        self._tint()
        self._fit()

    def set_lines(self, most: int) -> None:
        """How many lines of what it rests on are shown without being asked for."""
        if most != self._most:
            self._most = most
            self._fit()
            self.hold_height(grow_only=False)

    def hold_height(self, *, grow_only: bool) -> None:
        """Takes the height of its words.

        With ``grow_only``, while a run goes on, it may grow a line but not shrink, so the picture
        does not jump.
        """
        if grow_only:
            held = self.minimumHeight()
        else:
            held = 0
        self.setMinimumHeight(0)  # A height for a width is never below the minimum.
        self.setMinimumHeight(max(held, self.heightForWidth(self.width())))
        layout = self.layout()
        assert layout is not None
        layout.invalidate()  # It has laid out other words in this width, and would keep that.
        layout.activate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width takes another number of lines."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_again()

    def changeEvent(self, event: QEvent) -> None:
        """Larger text takes more lines; its size is known once the style has been told."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            QTimer.singleShot(0, self, self._fit_again)

    def _fit_again(self) -> None:
        self._fit()
        if self.minimumHeight():
            self.hold_height(grow_only=False)

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(self.status, 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self.sentence, 1)
        top.addWidget(self.more, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.rest)

    def _rest(self) -> list[str]:
        """Scope and reasons of the verdict."""
        verdict = self.verdict
        if verdict is None or self._brief:
            return []
        return [part for part in (verdict.scope, *verdict.because) if part]

    def _fit(self) -> None:
        """The whole, or as many whole sentences as a few lines hold, with a button for the rest."""
        parts = self._rest()
        shown, room = len(parts), self.width()
        # One sentence at least where any are wanted: the first is the scope.
        least = min(1, self._most)
        while shown > least and room > 0 and self._lines(parts[:shown], room) > self._most:
            shown -= 1
        self.more.setVisible(shown < len(parts))
        words = " ".join(parts if self.more.isChecked() else parts[:shown])
        self.rest.setText(unbroken(words))
        self.rest.setVisible(bool(words))

    def _lines(self, parts: list[str], room: int) -> int:
        """How many lines they take."""
        metrics, wrap = self.rest.fontMetrics(), Qt.TextFlag.TextWordWrap.value
        box = metrics.boundingRect(QRect(0, 0, room, 10_000), wrap, unbroken(" ".join(parts)))
        return round(box.height() / metrics.lineSpacing())

    def _unfold(self, whole: bool) -> None:
        self.more.setText(LESS if whole else WHY)
        self._fit()

    def _tint(self) -> None:
        if self.verdict is not None:
            palette = self.status.palette()
            palette.setColor(QPalette.ColorRole.WindowText, colour(status_ink(self.verdict.status)))
            self.status.setPalette(palette)


def status_words(status: Status, live: bool) -> str:
    """A status with its sign, of a run that has ended or is ``live``."""
    # "Cannot tell" is a conclusion, and a run that has just begun has come to none.
    if live and status is Status.UNKNOWN:
        return "… Not known yet"
    return f"{status.sign} {status.words}"


def _label() -> QLabel:
    label = Label(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    return label
