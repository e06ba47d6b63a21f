"""What the window does to explain a finding or check a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

if TYPE_CHECKING:
    from robgui.gui.app.main_window import MainWindow
    from robgui.gui.pages.evidence.check_dialog import CheckDialog
    from robgui.gui.pages.evidence.look_dialog import LookDialog
    from robgui.gui.pages.evidence.postmortem_dialog import PostMortemDialog
    from robgui.gui.state.evidence.looking import Looked
    from robgui.report.postmortem.facts import Facts


class EvidenceWindows:
    """Opens the post-mortem of a finding, and the check of a model against tests.

    Attributes:
        explained: The newest post-mortem.
        check: The newest check.
        seen: The newest look at what a model looks at.
    """

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._store = window.store
        self.explained: PostMortemDialog | None = None
        self.check: CheckDialog | None = None
        self.seen: LookDialog | None = None

    def post_mortem(self) -> None:
        """Explains the finding that the user points at, once what is missing has run."""
        from robgui.gui.state.evidence.explaining import explain

        chosen = self._store.selection.finding
        if chosen is not None:
            explain(self._store, chosen, self._explained)

    def look(self) -> None:
        """Shows what the model looks at in the finding that the user points at."""
        from robgui.gui.state.evidence.looking import ask_what_counts

        chosen = self._store.selection.finding
        if chosen is not None:
            ask_what_counts(self._store, chosen, self._looked)

    def _looked(self, looked: Looked) -> None:
        from robgui.gui.pages.evidence.look_dialog import LookDialog

        # Closing only hides a dialog that has a parent: without deleteLater each one would live as
        # long as the window.
        dialog = LookDialog(looked, self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()
        self.seen = dialog

    def check_tests(self) -> None:
        """Asks for a guard suite, and asks the model in use about it."""
        from robgui.gui.pages.evidence.check_dialog import CheckDialog

        folder = QFileDialog.getExistingDirectory(
            self._window,
            "The folder of tests that were made of findings",
            self._window.settings.last_folder,
        )
        if not folder:
            return
        self._window.settings.last_folder = folder
        dialog = CheckDialog(self._store, Path(folder), self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()
        self.check = dialog

    def _explained(self, facts: Facts) -> None:
        from robgui.gui.pages.evidence.postmortem_dialog import PostMortemDialog
        from robgui.report.postmortem.words import paragraph

        dialog = PostMortemDialog(self._store, facts.finding.title, paragraph(facts), self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()
        self.explained = dialog
