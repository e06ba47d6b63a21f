"""Asks what stands between a model file and its use: trust, architecture, behaviour."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.core.errors import RobguiError, TrustError
from robgui.core.trust import trust
from robgui.gui.state.library.opening import Opening

if TYPE_CHECKING:
    from robgui.core.model.card import ModelCard
    from robgui.gui.app.main_window import MainWindow
    from robgui.gui.model.model_dialog import ModelDialog


class ModelQuestions:
    """Asks the user about model files, one dialog after another.

    Args:
        window: Over which the dialogs stand.
        declined: Called with a file that the user decides not to use.

    Attributes:
        dialog: The dialog on show; None while there is none.
    """

    def __init__(self, window: MainWindow, declined: Callable[[Path], None]) -> None:
        self._window = window
        self._store = window.store
        self._declined = declined
        self.dialog: ModelDialog | None = None
        self._opening = False
        # Not modal: the dialog shows live predictions, and the window stays usable beside it.
        self._waiting: deque[tuple[Opening, ModelCard]] = deque()
        library = self._store.library
        library.trust_needed.connect(self._ask_trust)
        library.details_needed.connect(self._ask_details)
        library.model_opened.connect(self._opened)

    def check(self, model: ModelCard) -> None:
        """Shows how a model of the library behaves; a file being opened is decided first."""
        from robgui.gui.model.model_dialog import ModelDialog

        if self.dialog is not None and self._opening:
            self.dialog.raise_()
            self.dialog.activateWindow()
            return
        if self.dialog is not None:
            self.dialog.close()
        self._show(ModelDialog(self._store, model, self._window), opening=False)

    def _opened(self, opening: Opening, model: ModelCard) -> None:
        """Several files may have been dropped: each is asked about in turn."""
        self._waiting.append((opening, model))
        if self.dialog is None:
            self._show_next()

    def _show_next(self) -> None:
        from robgui.gui.model.model_dialog import ModelDialog

        if self._waiting:
            opening, model = self._waiting.popleft()
            said = bool(opening.settings)
            dialog = ModelDialog(self._store, model, self._window, said=said)
            dialog.rejected.connect(lambda: self._declined(opening.path))
            dialog.accepted.connect(self._lead_on)
            self._show(dialog, opening=True)

    def _show(self, dialog: ModelDialog, *, opening: bool) -> None:
        self.dialog, self._opening = dialog, opening
        dialog.finished.connect(self._over)
        dialog.show()

    def _lead_on(self) -> None:
        """Leaves a page about other models for the overview of the new one."""
        window = self._window
        left = [window.findings, window.compare_place]
        # Without data the welcome page stays: it is where they are opened.
        if self._store.library.dataset is not None:
            left.append(window.welcome)
        if window.pages.currentWidget() in left:
            window.go_to(1)

    def _over(self) -> None:
        # Free before the next one asks whether it is.
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.deleteLater()
        self._show_next()

    def _ask_trust(self, opening: Opening, error: TrustError) -> None:
        """Asks once for exactly this code; the user's own store keeps the answer."""
        from robgui.gui.model.trust_dialog import ask_trust

        if error.code is None or not ask_trust(error.code, str(error), self._window):
            self._declined(opening.path)
            return
        try:
            # By digest: the same name with other code is asked about again.
            trust(error.code.digest, error.code.what)
        except RobguiError as problem:
            self._store.say("warning", f"It is trusted this time only: {problem}")
        self._store.library.load_model(opening.replace(trusted=error.code.digest))

    def _ask_details(self, opening: Opening, sentence: str) -> None:
        from robgui.gui.model.architecture_dialog import ArchitectureDialog

        dialog = ArchitectureDialog(opening.path, sentence, self._window)
        if dialog.exec():
            self._store.library.load_model(
                opening.replace(settings={**opening.settings, **dialog.overrides()})
            )
        else:
            self._declined(opening.path)
