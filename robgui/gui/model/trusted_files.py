"""The files that the user has allowed to run code, and how to take that back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.errors import RobguiError
from robgui.core.trust import revoke, trusted
from robgui.gui.widgets.plain import Label

NOTHING = "No file may run code. A model that would ask you first."
SOMETHING = "These may run code when they are opened, as long as not a letter of them changes."


class TrustedFiles(QWidget):
    """One line per trusted file; the chosen ones can be made strangers again.

    Attributes:
        files: The lines.
        revoke: The button.
        words: What the list means, or what went wrong.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = Label(wordWrap=True)
        self.words.setProperty("role", "quiet")
        self.files = QListWidget(selectionMode=QListWidget.SelectionMode.ExtendedSelection)
        self.files.setAccessibleName("Files that may run code")
        self.files.setMaximumHeight(6 * self.fontMetrics().height())
        self.revoke = QPushButton("Trust no longer")
        # Return belongs to the dialog that this stands in.
        self.revoke.setAutoDefault(False)
        self.revoke.clicked.connect(self._revoke)
        self.files.itemSelectionChanged.connect(self._follow)
        row = QHBoxLayout()
        row.addWidget(self.words, 1)
        row.addWidget(self.revoke)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(row)
        layout.addWidget(self.files)
        self.refresh()

    def refresh(self) -> None:
        """Reads what is trusted now."""
        self.files.clear()
        for digest, what in sorted(trusted().items(), key=lambda pair: pair[1]):
            # One line each, whatever the name of a file holds.
            item = QListWidgetItem(" ".join(what.split()) or digest)
            item.setData(Qt.ItemDataRole.UserRole, digest)
            self.files.addItem(item)
        self.words.setText(SOMETHING if self.files.count() else NOTHING)
        self.files.setVisible(self.files.count() > 0)
        self._follow()

    def _follow(self) -> None:
        self.revoke.setVisible(self.files.count() > 0)
        self.revoke.setEnabled(bool(self.files.selectedItems()))

    def _revoke(self) -> None:
        try:
            for item in self.files.selectedItems():
                revoke(item.data(Qt.ItemDataRole.UserRole))
        except RobguiError as error:
            self.words.setText(str(error))
            return
        self.refresh()
