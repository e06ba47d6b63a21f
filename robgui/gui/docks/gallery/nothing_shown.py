"""NothingShown: why the gallery is empty, and what to do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from robgui.gui.widgets.plain import Label

NOTHING_OPEN = (
    "No inputs yet.\n\nOpen a folder of images, an array, a table or trajectories from the File"
    " menu, or drop them onto the window."
)
NOTHING_PASSES = "No input passes the search."
NOTHING_YET = "No input passes the search yet; the model has not answered for all of them."


class NothingShown(QWidget):
    """A message and a button, slightly above the centre.

    Attributes:
        words: The sentence.
        clear: Clears the search.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words = Label(NOTHING_OPEN, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.words.setProperty("role", "quiet")
        # A wrapped label is never narrower than its longest word, and would hold the dock at that.
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.clear = QPushButton("Clear the search")
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addWidget(self.words)
        column.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)

    def say(self, *, opened: bool, loading: str, unknown: int) -> None:
        """Says why.

        Args:
            opened: Whether data are open.
            loading: Which file is being read.
            unknown: Number of inputs for which the search is not decided yet.
        """
        if not opened:
            self.words.setText(loading or NOTHING_OPEN)
        elif unknown:
            self.words.setText(NOTHING_YET)
        else:
            self.words.setText(NOTHING_PASSES)
