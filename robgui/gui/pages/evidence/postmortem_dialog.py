"""A post-mortem on the screen: a paragraph whose sentences lead to their pictures."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QSplitter,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.theme import set_heading, theme
from robgui.gui.widgets.plain import Label, unbroken
from robgui.gui.widgets.views import view_widget
from robgui.report.postmortem.words import LEADS

if TYPE_CHECKING:
    from robgui.core.view import View
    from robgui.gui.state.store import Store
    from robgui.report.postmortem.words import Sentence


class PostMortemDialog(QDialog):
    """The paragraph on a finding beside a picture.

    Each sentence has a link to its own: that of its run in the window behind, or a view beside the
    words.

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
        self.resize(1040, 560)
        heading = set_heading(Label(unbroken(title), wordWrap=True), "title")
        # Qt would try to load the number of a sentence as a page.
        self.text = QTextBrowser(openLinks=False)
        self.text.setAccessibleName("What is behind the finding")
        self.text.anchorClicked.connect(self._follow)
        self.picture: QWidget | None = None
        self._beside = QSplitter(Qt.Orientation.Horizontal)
        self._beside.setChildrenCollapsible(False)
        self._beside.addWidget(self.text)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(8)
        layout.addWidget(heading)
        layout.addWidget(self._beside, 1)
        layout.addWidget(buttons)
        view = next((one.view for one in told if one.view is not None), None)
        if view is not None:
            self._show(view)
        theme.changed.connect(self._write)
        self._write()

    def _write(self) -> None:
        """The words, with links in the present theme."""
        # setHtml goes back to the top, and a change of theme must not.
        place = self.text.verticalScrollBar().value()
        paragraphs = (_paragraph(number, one) for number, one in enumerate(self._told))
        self.text.setHtml("".join(paragraphs))
        self.text.verticalScrollBar().setValue(place)

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
        self._beside.addWidget(self.picture)
        self._beside.setSizes([480, 520])


def _paragraph(place: int, sentence: Sentence) -> str:
    words = unbroken(sentence.text)
    lead = next((one for one in LEADS if words.startswith(one)), "")
    if lead:
        head = f"<b>{escape(lead)}</b>"
    else:
        head = ""
    link = f'<a href="{place}">{"Picture" if sentence.view is not None else "Run"}</a>'
    return f"<p>{head}{escape(words.removeprefix(lead))} {link}</p>"
