"""Timeline: goes through the pictures of a result by hand or by itself."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSlider, QWidget

from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.plain import Label

FRAMES_PER_SECOND = 20
#: A whole play takes no longer than this, however many pictures there are.
LONGEST_SECONDS = 8


class Timeline(QWidget):
    """A slider with Play; follows the newest picture until the user takes hold of it.

    Attributes:
        words: Which picture is on show.

    Signals:
        moved: Number of the picture to show.
    """

    moved = Signal(int)

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(f"Which {what}")
        self.play = QPushButton("Play", checkable=True, toolTip=f"Goes through every {what}")
        self.words = Label(textFormat=Qt.TextFormat.PlainText)
        self._names: tuple[str, ...] = ()
        self._following = True
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for widget, stretch in ((self.play, 0), (self.slider, 1), (self.words, 0)):
            layout.addWidget(widget, stretch)
        self._clock = QTimer(self, interval=1000 // FRAMES_PER_SECOND)
        self._clock.timeout.connect(self._next)
        self.play.toggled.connect(self._toggled)
        self.slider.valueChanged.connect(self._changed)
        theme.changed.connect(self._tint)
        self._tint()

    @property
    def place(self) -> int:
        """Number of the picture on show."""
        return self.slider.value()

    @property
    def count(self) -> int:
        """How many pictures there are."""
        return self.slider.maximum() + 1

    def set_count(self, count: int) -> None:
        """There are ``count`` pictures now.

        The last is shown unless the user looks at another one.
        """
        # Whoever gives the count draws the picture too; the signal would have it drawn twice.
        with QSignalBlocker(self.slider):
            self.slider.setMaximum(max(0, count - 1))
            if self._following and not self.play.isChecked():
                self.slider.setValue(max(0, count - 1))
        self._write()

    def set_names(self, names: Sequence[str]) -> None:
        """There is a picture for each of these names, which stand beside the slider."""
        self._names = tuple(names)
        widths = (self.fontMetrics().horizontalAdvance(name) for name in names)
        # As wide as the longest name: the slider keeps its length while it plays.
        self.words.setMinimumWidth(max(widths, default=0))
        self.set_count(len(names))

    def _changed(self, place: int) -> None:
        # While it plays, the slider passes pictures the user has not chosen.
        if not self.play.isChecked():
            self._following = place == self.slider.maximum()
        self._write()
        self.moved.emit(place)

    def _toggled(self, on: bool) -> None:
        if on:
            if self.place == self.slider.maximum():
                self.slider.setValue(0)
            self._clock.start()
        else:
            self._clock.stop()
        self.play.setText("Stop" if on else "Play")
        self._tint()

    def _next(self) -> None:
        if self.place >= self.slider.maximum():
            self.play.setChecked(False)
            # Played to its end it has caught up, and follows the pictures that a run still adds.
            self._following = True
            return
        stride = max(1, self.count // (FRAMES_PER_SECOND * LONGEST_SECONDS))
        self.slider.setValue(min(self.slider.maximum(), self.place + stride))

    def _write(self) -> None:
        if self._names:
            self.words.setText(self._names[min(self.place, len(self._names) - 1)])
        else:
            self.words.setText(f"{self._what} {self.place:,} of {self.slider.maximum():,}")

    def _tint(self) -> None:
        self.play.setIcon(icon("stop" if self.play.isChecked() else "run"))
