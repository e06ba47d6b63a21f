"""A post-mortem on the screen: a paragraph whose sentences lead to their pictures."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.views import view_widget

if TYPE_CHECKING:
    from robgui.core.view import View
    from robgui.gui.state.store import Store
    from robgui.report.postmortem.words import Sentence


class PostMortemDialog(QDialog):
    """The paragraph on a finding; a click on a sentence shows its run, or its own picture below.

    Args:
        store: Shows the runs.
        title: Of the finding.
        told: The sentences.
        parent: Over which it stands.
    """

    def __init__(
        self, store: Store, title: str, told: list[Sentence], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._told = told
        self.setWindowTitle("Post-mortem")
        self.resize(720, 620)
        heading = Label(title, wordWrap=True)
        font = heading.font()
        font.setPointSizeF(font.pointSizeF() * 1.2)
        heading.setFont(font)
        self.text = QTextBrowser(openLinks=False)
        self.text.setHtml("".join(_paragraph(place, one) for place, one in enumerate(told)))
        self.text.anchorClicked.connect(self._follow)
        self.picture: QWidget | None = None
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        self._layout = QVBoxLayout(self)
        self._layout.addWidget(heading)
        self._layout.addWidget(self.text, 1)
        self._layout.addWidget(buttons)
        view = next((one.view for one in told if one.view is not None), None)
        if view is not None:
            self._show(view)

    def _follow(self, address: QUrl) -> None:
        """Shows the picture of the sentence whose number the address is."""
        sentence = self._told[int(address.toString())]
        if sentence.view is not None:
            self._show(sentence.view)
            return
        run = next((one for one in self._store.history.runs if one.id == sentence.run), None)
        if run is not None:
            self._store.history.show_run(run)

    def _show(self, view: View) -> None:
        if self.picture is not None:
            self.picture.deleteLater()
        self.picture = view_widget(view)
        self._layout.insertWidget(2, self.picture, 1)


def _paragraph(place: int, sentence: Sentence) -> str:
    return f'<p><a href="{place}">{escape(sentence.text)}</a></p>'
