"""Tabbed: several widgets in one place, with a tab for each."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from robgui.gui.widgets.tab_rows import TabRows


class Tabbed(QWidget):
    """One widget at a time, chosen by its tab."""

    def __init__(self, widgets: dict[str, QWidget]) -> None:
        super().__init__()
        self.bar = TabRows()
        self.stack = QStackedWidget()
        for name, widget in widgets.items():
            self.bar.addTab(name)
            self.stack.addWidget(widget)
        self.bar.currentChanged.connect(self.stack.setCurrentIndex)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self._column.addWidget(self.bar)
        self._column.addWidget(self.stack, 1)

    def put_above(self, widget: QWidget) -> None:
        """Puts a widget above the tabs, where it stays whichever is chosen."""
        self._column.insertWidget(0, widget)
