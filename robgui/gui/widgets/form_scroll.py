"""FormScroll: a form that scrolls; the wheel moves the form and never a value in it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QFrame,
    QScrollArea,
    QSlider,
    QWidget,
)

#: Widgets that Qt would change under a wheel that only wants to scroll.
_TURNED = (QComboBox, QAbstractSpinBox, QSlider)


class FormScroll(QScrollArea):
    """Holds a form; it scrolls up and down only.

    Args:
        form: The form.
    """

    def __init__(self, form: QWidget) -> None:
        super().__init__(widgetResizable=True, frameShape=QFrame.Shape.NoFrame)
        self._form = form
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(form)
        self._hold_still()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hands a wheel on to the form; a form that has changed may have new fields."""
        if event.type() is QEvent.Type.Wheel and isinstance(watched, _TURNED):
            # Kept from the field but not accepted, so Qt hands the wheel on to the parent, which
            # scrolls.
            event.ignore()
            return True
        # QScrollArea filters the events of its widget by itself, so these arrive without asking.
        if event.type() is QEvent.Type.LayoutRequest and watched is self._form:
            self._hold_still()
        return super().eventFilter(watched, event)

    def _hold_still(self) -> None:
        for kind in _TURNED:
            for field in self._form.findChildren(kind):
                field.installEventFilter(self)
                # By default boxes take the focus from a wheel too.
                field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
