"""ConfusionLabel: ``red → GREEN`` as chips."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.widgets.pair.chips import chip_height, confusion_words, draw_confusion


class ConfusionLabel(QWidget):
    """Which class is taken for which; hidden where a finding names none.

    Args:
        scale: How much larger than the text of the program.
    """

    def __init__(self, scale: float = 1.3) -> None:
        super().__init__()
        self._scale = scale
        self._pair: tuple[str, str] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_confusion(self, pair: tuple[str, str] | None) -> None:
        """Shows ``pair``, the class that is there and the class it is taken for."""
        self._pair = pair
        self.setVisible(pair is not None)
        self.setAccessibleName("" if pair is None else confusion_words(*pair))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, round(chip_height(self._font())) + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._pair is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._font())
        draw_confusion(painter, QPointF(0, 1), *self._pair, widest=self.width())

    def _font(self) -> QFont:
        font = QFont(QApplication.font())
        font.setPointSizeF(font.pointSizeF() * self._scale)
        font.setWeight(QFont.Weight.DemiBold)
        return font
