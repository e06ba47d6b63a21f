"""What a model makes of the tests that were made of findings: fixed, still there, new."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from robgui.core.text.words import count
from robgui.core.verdict import Status
from robgui.core.view.ink import status_ink
from robgui.gui.app.theme import set_heading, theme
from robgui.gui.state.evidence.checking import check_model, forget
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.views import ViewBoard

if TYPE_CHECKING:
    from robgui.batch.guards.checking import Checked
    from robgui.core.model.card import ModelCard
    from robgui.core.view import View
    from robgui.gui.state.store import Store


class CheckDialog(QDialog):
    """Asks a model of the list about every input of a guard suite, and shows what became of each.

    Args:
        store: Has the models.
        folder: Of the suite.
        parent: Over which it stands.

    Attributes:
        checked: The newest answer; None while a model is asked, and where it cannot be.
    """

    def __init__(self, store: Store, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store, self._folder = store, folder
        self.checked: Checked | None = None
        self.setWindowTitle("Check a model against tests")
        self.resize(900, 720)
        self.models = QComboBox(accessibleName="The model that is checked")
        self.models.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        # A copy: the box goes by places, and the list may change while the dialog is open.
        self._known: list[ModelCard] = list(store.library.models)
        self.models.addItems([model.name for model in self._known])
        self.summary = set_heading(Label(wordWrap=True), "title")
        self.summary.setAccessibleName("What became of the findings")
        self.scope = Label(wordWrap=True)
        self.board = ViewBoard()
        self._arrange()
        self.models.activated.connect(lambda _: self.ask())
        # A key of its own: two dialogs may be open, and equal keys replace each other's work.
        self._key = f"check against tests {id(self)}"
        self.finished.connect(lambda _: forget(store, self._key))
        theme.changed.connect(self._tint)
        if store.library.model in self._known:
            self.models.setCurrentIndex(self._known.index(store.library.model))
        self.ask()

    def ask(self) -> None:
        """Asks the chosen model."""
        place = self.models.currentIndex()
        if place < 0:
            return
        self.checked = None
        self.summary.setText("Asking …")
        self.scope.setText("")
        # It still shows what the model before made of the tests.
        self.board.hide()
        self._tint()
        model = self._known[place]
        check_model(self._store, self._folder, model, self._show, self._refuse, self._key)

    def _show(self, checked: Checked, views: Sequence[View]) -> None:
        from robgui.batch.guards.telling import numbers

        self.checked = checked
        self.summary.setText(numbers(checked))
        self.scope.setText(_scope(checked))
        self.board.show_views(views)
        self.board.show()
        self._tint()

    def _refuse(self, sentence: str, details: str) -> None:
        self.summary.setText("Not checked")
        self.scope.setText(sentence)
        if details:  # no sentence of ours: the log has the rest
            self._store.say("error", sentence, details)

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.addWidget(Label("Model"))
        head.addWidget(self.models)
        head.addWidget(Label(f"against the tests in {self._folder.name}"), 1)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addWidget(self.summary)
        layout.addWidget(self.scope)
        layout.addWidget(self.board, 1)
        # Takes the room of the board while that is hidden, so the words stay on top.
        layout.addStretch(0)
        layout.addWidget(self.buttons)

    def _tint(self) -> None:
        palette = self.summary.palette()
        shown = self.palette().color(QPalette.ColorRole.WindowText)
        if self.checked is not None:
            if self.checked.passed:
                status = Status.HOLDS
            else:
                status = Status.FAILS
            shown = colour(status_ink(status))
        palette.setColor(QPalette.ColorRole.WindowText, shown)
        self.summary.setPalette(palette)


def _scope(checked: Checked) -> str:
    """Of what the numbers are, and what they do not say."""
    suite = checked.suite
    found = ", ".join(dict.fromkeys(model.name for model in suite.models))
    of = f"{count(len(suite.findings), 'finding')} and {count(len(suite.guarded), 'guarded input')}"
    known = {model.fingerprint for model in suite.models}
    if checked.fingerprint in known:
        return f"{of}. They were found on this model."
    return (
        f"{of}, found on {found}. Still: a finding that is wrong as before. New: an input that"
        f" {found} had right. A model that was trained on the findings knows them by heart: fixed"
        " says nothing of other inputs."
    )
