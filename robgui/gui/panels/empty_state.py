"""EmptyState: what a panel shows before its first run: the input it would look at, its question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from robgui.core.execution.registry import method_of
from robgui.gui.app.theme import pixmap, set_heading, theme
from robgui.gui.widgets.pair.fitted import Fitted
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    import numpy as np

    from robgui.core.execution.analysis import Analysis
    from robgui.gui.state.store import Store

#: Lines of text: how high the picture of the input is. Pixels: how large it is read.
_LINES, _SIDE = 16, 320


class EmptyState(QWidget):
    """Says what to do next, beside what it will be done to.

    Attributes:
        picture: The input in use, where the analysis looks at one.
    """

    def __init__(self, store: Store, analysis: Analysis) -> None:
        super().__init__()
        self._store, self._analysis = store, analysis
        self._shown: object = None
        self._pictured = True
        self._mark = Label(alignment=Qt.AlignmentFlag.AlignCenter)
        self.picture = Fitted()
        side = self.fontMetrics().height() * _LINES
        self.picture.setFixedSize(side, side)
        self.picture.hide()
        self._arrange()
        for signal in (store.selection_changed, store.library.datasets_changed):
            signal.connect(lambda *_: self._look())
        self.tint()

    def tint(self) -> None:
        """Takes over the present theme."""
        method = method_of(self._analysis.name)
        mark = "grid" if method is None else method.icon_path
        self._mark.setPixmap(pixmap(mark, 64, theme.colours.quiet))

    def set_pictured(self, pictured: bool) -> None:
        """Whether there is room for a picture above the words."""
        self._pictured = pictured
        self._reveal()

    def put_below(self, widget: QWidget) -> None:
        """Puts ``widget`` below the words, which then stand on top."""
        layout = self._column
        layout.setStretch(0, 0)
        layout.setStretch(layout.count() - 1, 0)
        layout.addSpacing(8)
        layout.addWidget(widget, 1)

    def showEvent(self, event: QShowEvent) -> None:
        """The input is read when somebody looks."""
        super().showEvent(event)
        self._look()

    def _look(self) -> None:
        """Reads the input in use away from the GUI thread."""
        dataset, index = self._store.library.dataset, self._store.selection.input
        one = self._analysis.inputs == "one" and dataset is not None
        if not self.isVisible():
            return
        if not one or dataset is None or index is None or index >= len(dataset):
            self._show(None, None)
        elif self._shown != (wanted := (id(dataset), index)):
            self._store.pictures.run(
                lambda: dataset.thumbnail(index, _SIDE),
                lambda picture: self._show(picture, wanted),
                key=f"empty {self._analysis.name}",
            )

    def _show(self, picture: np.ndarray | None, shown: object) -> None:
        self._shown = None if picture is None else shown
        self.picture.show_picture(picture)
        self._reveal()

    def _reveal(self) -> None:
        self.picture.setVisible(self._pictured and self._shown is not None)
        self._mark.setVisible(self._pictured and self._shown is None)

    def _arrange(self) -> None:
        align = Qt.AlignmentFlag
        title = set_heading(_plain(self._analysis.title, align.AlignCenter), "title")
        words = self._analysis.invitation or f"{self._analysis.question} Press Run."
        text = _plain(words, align.AlignHCenter | align.AlignTop)
        text.setProperty("role", "quiet")
        text.setMaximumWidth(self.fontMetrics().averageCharWidth() * 72)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(text, 8)
        row.addStretch(1)
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.addStretch(2)
        layout.addWidget(self._mark)
        layout.addWidget(self.picture, 0, align.AlignHCenter)
        layout.addSpacing(8)
        layout.addWidget(title)
        layout.addLayout(row, 3)


def _plain(words: str, alignment: Qt.AlignmentFlag) -> QLabel:
    return Label(words, alignment=alignment, wordWrap=True)
