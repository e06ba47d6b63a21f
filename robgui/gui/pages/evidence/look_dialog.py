"""What the model looks at in a finding, on the screen: before and after, way by way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from robgui.gui.app.theme import set_heading
from robgui.gui.widgets.plain import Label, unbroken
from robgui.gui.widgets.views import view_widget

if TYPE_CHECKING:
    from robgui.gui.state.evidence.looking import Looked


class LookDialog(QDialog):
    """The pictures with what speaks for the class, and what is said of them.

    Args:
        looked: What the model looks at.
        parent: Over which it stands.
    """

    def __init__(self, looked: Looked, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("What the model looks at")
        self.resize(900, 720)
        heading = set_heading(Label(unbroken(looked.title), wordWrap=True), "title")
        self.words = Label(unbroken(looked.verdict.sentence), wordWrap=True)
        self.reasons = Label(unbroken(" ".join(looked.verdict.because)), wordWrap=True)
        self.reasons.setProperty("role", "quiet")
        self.picture = view_widget(looked.views[0])
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(8)
        layout.addWidget(heading)
        layout.addWidget(self.words)
        layout.addWidget(self.picture, 1)
        layout.addWidget(self.reasons)
        layout.addWidget(buttons)
