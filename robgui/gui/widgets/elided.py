"""A box of choices whose chosen words end in dots where they are too long, instead of in the
middle of a letter.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter


class ElidedBox(QComboBox):
    """Shortens what it shows in the middle.

    The list that opens and the model keep the whole words.
    """

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the box as the style does, with the words that fit."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = (
            self.style()
            .subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self)
            .width()
            - 4
        )
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideMiddle, room
        )
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
