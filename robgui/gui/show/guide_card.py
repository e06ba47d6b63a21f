"""What the guided tour shows: the card with text and buttons, and what a step is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout

from robgui.gui.app.theme import icon, set_heading, theme
from robgui.gui.widgets.plain import Label


@dataclass(frozen=True)
class TourStep:
    """One step of the tour.

    Attributes:
        title: Its heading.
        text: What to look at, in plain words.
        begin: What the window does.
        ended: Whether that is done.
        waiting: What is waited for.
    """

    title: str
    text: str
    begin: Callable[[], None]
    ended: Callable[[], bool] = lambda: True
    waiting: str = ""


class GuideCard(QFrame):
    """Title, text, and the buttons Back, Next and Close."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Guided tour")
        self.setProperty("role", "card")
        self.title = set_heading(Label(), "section")
        self.count = Label()
        self.count.setProperty("role", "quiet")
        self.text = Label(wordWrap=True)
        self.problem = Label(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.problem.setProperty("role", "warning")
        self._words = Label()
        self._words.setProperty("role", "quiet")
        self._progress = QProgressBar(textVisible=False)
        self._progress.setAccessibleName("Progress of this step")
        self._progress.setFixedWidth(160)
        # close_, because close is QWidget's own.
        self.back, self.next, self.close_ = (
            QPushButton("Back"),
            QPushButton("Next"),
            QPushButton("Close"),
        )
        self.show_report = QPushButton("Open the report")
        self._last = False
        self.next.setProperty("role", "primary")
        self._arrange()
        theme.changed.connect(self._tint)
        self._tint()

    def show_chapter(self, chapter: TourStep, number: int, total: int) -> None:
        """Shows a step."""
        self.title.setText(chapter.title)
        self.count.setText(f"{number + 1} of {total}")
        self.text.setText(chapter.text)
        self.say_problem("")
        self.show_report.hide()
        self.back.setEnabled(number > 0)
        self._last = number == total - 1

    def say_problem(self, sentence: str) -> None:
        """Says why a step could not do what it should; an empty sentence takes it back."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Sets the labels' heights: a toolbar does not ask how high wrapped text will be."""
        for label in (self.text, self.problem):
            label.setFixedHeight(max(0, label.heightForWidth(max(200, self.width() - 32))))

    def show_progress(self, waiting: bool, words: str, share: float | None) -> None:
        """Says what is waited for; Next becomes Skip meanwhile."""
        self._words.setText(words)
        self._progress.setVisible(waiting)
        if waiting:
            self._progress.setRange(0, 0 if share is None else 1000)
            self._progress.setValue(0 if share is None else round(1000 * share))
        onward = "Finish" if self._last else "Next"
        self.next.setText("Skip" if waiting else onward)

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addWidget(self.count)
        head.addStretch(1)
        for widget in (
            self._words,
            self._progress,
            self.show_report,
            self.back,
            self.next,
            self.close_,
        ):
            head.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 4, 16, 4)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.text)
        layout.addWidget(self.problem)

    def _tint(self) -> None:
        self.back.setIcon(icon("back"))
        self.next.setIcon(icon("forward", theme.colours.on_accent))
        self.close_.setIcon(icon("close"))
