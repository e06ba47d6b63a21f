"""Which Ray cluster computes the window's runs."""

from __future__ import annotations

from importlib.util import find_spec

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QVBoxLayout, QWidget

from robgui.batch.address import check_answer, read_address
from robgui.core.errors import MissingExtraError, ParamsError
from robgui.gui.app.theme import heading_font
from robgui.gui.widgets.plain import Label

_ABOUT = (
    "Runs are computed there, one task each, and drawn here as they go; models are still opened and"
    " tried on this machine. A node that is lost costs the run its time so far, nothing else. What"
    " a cluster sends is believed, so use one that you trust."
)
_ADDRESSES = (
    "auto: the cluster that runs on this machine, or a new one. local: always a new one, which ends"
    " with the window. HOST:PORT: the head of a cluster, such as 10.0.0.5:6379."
)


class ClusterDialog(QDialog):
    """Asks for the address of a cluster.

    Args:
        address: The one in use, or the last one; empty for none.
        parent: The window.
    """

    def __init__(self, address: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Ray cluster")
        title = Label("Let a Ray cluster compute")
        title.setFont(heading_font())
        about = Label(_ABOUT, wordWrap=True)
        self.address = QLineEdit(address or "auto")
        self.address.setAccessibleName("Address of the cluster")
        addresses = Label(_ADDRESSES, wordWrap=True)
        addresses.setProperty("role", "quiet")
        self.problem = Label(wordWrap=True)
        self.problem.setProperty("role", "bad")
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.use = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.use.setText("Use cluster")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        for widget in (title, about, self.address, addresses, self.problem, self.buttons):
            layout.addWidget(widget)
        # Wrapped labels ask for a narrow, high window; about 80 characters is a line one can read.
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 80)
        self.address.textChanged.connect(lambda _: self._check())
        self._check()

    @property
    def chosen(self) -> str:
        """The address."""
        return self.address.text().strip()

    def _check(self) -> None:
        """Says what is wrong; the button waits until nothing is."""
        problem = obstacle() or _problem(self.chosen)
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.use.setEnabled(not problem)


def obstacle() -> str:
    """Why no cluster can be used here; empty if one can."""
    # Looked up, not imported: ray is large, and this runs on the GUI thread.
    if find_spec("ray") is not None:
        return ""
    return str(MissingExtraError("A cluster", "cluster"))


def answers(address: str) -> str:
    """The address, once something answers there; called away from the GUI thread."""
    check_answer(address)
    return address


def _problem(address: str) -> str:
    try:
        read_address(address)
    except ParamsError as error:
        return str(error)
    return ""
