"""Presentation: the findings as a full-screen story, for people who do not use the program.

The slides make themselves; their words can be edited, and all of it saved as PDF, MP4 or HTML.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QWidget,
)

from robgui.core.view.ink import status_ink
from robgui.gui.app.theme import icon, theme
from robgui.gui.show.stage import KEYS, SlideStage, font_of
from robgui.gui.show.telling import Told, tell, tell_right
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.plain import Label, breakable, unbroken
from robgui.gui.widgets.save_dialog import ask_file

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

NOTHING = "There is nothing to tell yet"
#: On the screen until the slides are made; the audience should not read that there are none.
MAKING = "Preparing the story …"
_WHAT_TO_DO = (
    "Run an analysis; what it finds makes a story here. Star the findings that matter, and only"
    " those are shown."
)
KINDS = "PDF (*.pdf);;Film (*.mp4);;One HTML file (*.html)"
_BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_Backspace)
_NEXT = (
    Qt.Key.Key_Right,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Space,
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
)
#: Lines of text on the height of a screen that are readable from the back of a room.
_LINES = 36


class Presentation(SlideStage):
    """A window of its own over the whole screen, without docks, toolbars or menu.

    Attributes:
        slides: The slides, in order.

    Signals:
        left: It has been closed.
    """

    left = Signal()

    def __init__(self, store: Store, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._store = store
        self.slides: list[Told] = []
        self._made = False
        self._at = 0
        self.setWindowTitle("robgui: presentation")
        # A plain widget takes no focus, and the keys would never arrive.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._connect()
        theme.changed.connect(self._restyle)

    def _connect(self) -> None:
        self.back.clicked.connect(lambda: self.go(self._at - 1))
        self.forward.clicked.connect(lambda: self.go(self._at + 1))
        self.leave.clicked.connect(self.close)
        self.edit.toggled.connect(self._turn_edit)
        self.again.clicked.connect(self._forget_words)
        self.export.clicked.connect(self._ask_write)

    # --- what a user does -------------------------------------------------------------------------

    def toggle(self) -> None:
        """Begins at the first slide, or ends.

        What is found while it is shown waits for the next time: no slide changes unseen.
        """
        if self.isVisible():
            self.close()
            return
        self._at = 0
        self._say(KEYS)
        parent = self.parentWidget()
        if parent is not None and parent.screen() is not None:
            # showFullScreen fills the screen that the window lies on.
            self.setGeometry(parent.screen().geometry())
        self.showFullScreen()
        self.activateWindow()
        self.setFocus()
        self._show()
        self._take()

    def go(self, number: int) -> None:
        """Shows slide ``number``, counted from 0; the first and the last are the ends."""
        self.edit.setChecked(False)
        self._say(KEYS)
        self._at = min(max(0, number), max(0, len(self.slides) - 1))
        self._show()

    @property
    def current(self) -> Told | None:
        """The slide on show."""
        if self._at < len(self.slides):
            return self.slides[self._at]
        return None

    def write(self, path: Path) -> None:
        """Writes the story as PDF, MP4 or HTML, by the ending of ``path``."""
        # Copied: words may be edited while the file is written.
        slides, title = [told.slide for told in self.slides], self._title()

        def work() -> None:
            from robgui.report.story.files import write_story

            write_story(slides, path, title=title)

        # Said here: the window's own messages stand behind the full screen.
        self._store.writing.run(
            work,
            lambda _: self._say(f"Written: {path}"),
            failed=lambda sentence, _: self._say(sentence),
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Escape, Qt.Key.Key_F11):
            self.close()
        elif key in _NEXT:
            self.go(self._at + 1)
        elif key in _BACK:
            self.go(self._at - 1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.go(0 if key == Qt.Key.Key_Home else len(self.slides))
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows go through the story from a button too; Space and Enter press it."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            presses = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if event.key() in (*_BACK, *_NEXT) and event.key() not in presses:
                self.keyPressEvent(event)
                return True
        return super().eventFilter(watched, event)

    def closeEvent(self, event: QCloseEvent) -> None:
        # Keeps what is being written.
        self.edit.setChecked(False)
        super().closeEvent(event)
        self.left.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._look()
        if not self.edit.isChecked():
            self._show()

    # --- what is shown ----------------------------------------------------------------------------

    def _take(self) -> None:
        """Makes the story anew, away from the GUI thread; the slide on show stays on show."""
        workspace = self._store.history.workspace
        if not self.isVisible() or workspace is None:
            return
        # Read here: the store belongs to the GUI thread.
        right, dark = tell_right(self._store), theme.dark
        model = self._store.library.model
        about = "" if model is None else model.fingerprint

        def made(slides: list[Told]) -> None:
            now = self.current
            self.slides, self._made = slides, True
            same = (at for at, one in enumerate(slides) if now and one.slide.key == now.slide.key)
            self._at = next(same, min(self._at, max(0, len(slides) - 1)))
            # Not while somebody writes on the slide.
            if not self.edit.isChecked():
                self._show()

        self._store.pictures.run(
            lambda: tell(workspace, right, dark, about), made, key="presentation"
        )

    def _show(self) -> None:
        told, total = self.current, len(self.slides)
        slide = None if told is None else told.slide
        self.count.setText(f"{min(self._at + 1, total)} of {total}" if self._made else "")
        self.back.setEnabled(self._at > 0)
        self.forward.setEnabled(self._at < total - 1)
        for button in (self.edit, self.export):
            button.setEnabled(slide is not None)
        self.again.setVisible(told is not None and told.edited)
        if slide is not None:
            title, text = slide.title, slide.text
        elif self._made:
            title, text = NOTHING, _WHAT_TO_DO
        else:
            title, text = MAKING, ""
        self._fill(self.title, title)
        self._fill(self.text, text)
        self._fill(self.number, "" if slide is None else slide.number)
        self._fill(self.subject, "" if slide is None else slide.subject)
        if slide is None:
            status = None
        else:
            status = slide.status
        self._fill(self.status, "" if status is None else f"{status.sign} {status.words}")
        if status is not None:
            palette = self.status.palette()
            palette.setColor(QPalette.ColorRole.WindowText, colour(status_ink(status)))
            self.status.setPalette(palette)
        self._scroll.verticalScrollBar().setValue(0)
        self.setAccessibleName(self.title.text())
        self._show_picture(told)

    def _show_picture(self, told: Told | None) -> None:
        if told is None:
            pair = None
            picture = None
        else:
            pair = told.slide.pair
            picture = told.picture
        self.alone.show_picture(picture)
        self.pictures.setCurrentWidget(self.alone if pair is None else self.pair)
        self.pictures.setVisible(pair is not None or picture is not None)
        # Last: the slider uncovers a pair only where it can be seen.
        self.pair.show_pair(pair)

    def _fill(self, label: Label, text: str) -> None:
        room, metrics = self._scroll.viewport().width(), label.fontMetrics()
        words = unbroken(text)
        long = any(metrics.horizontalAdvance(word) > room for word in words.split())
        label.setText(breakable(words) if long else words)
        label.setVisible(bool(text))

    # --- own words --------------------------------------------------------------------------------

    def _turn_edit(self, on: bool) -> None:
        told = self.current
        if told is None:
            return
        if on:
            self.title_edit.setPlainText(told.slide.title)
            self.text_edit.setPlainText(told.slide.text)
        # Turned on before there was a slide, nothing was opened to be written in.
        elif not self.title_edit.isHidden():
            self._keep_words(told)
        for editor in (self.title_edit, self.text_edit):
            editor.setVisible(on)
        for label in (self.title, self.text):
            label.setVisible(not on)
        self.edit.setText("Done" if on else "Edit")
        if on:
            self.title_edit.setFocus()
        else:
            self._show()
            self.setFocus()

    def _keep_words(self, told: Told) -> None:
        title = " ".join(self.title_edit.toPlainText().split())
        text = self.text_edit.toPlainText().strip()
        if (title, text) == (told.slide.title, told.slide.text):
            return
        self.slides[self._at] = told.saying(title or told.slide.title, text)
        self._change_words(told.slide.key, (title, text))

    def _forget_words(self) -> None:
        told = self.current
        if told is not None:
            self._change_words(told.slide.key, None)

    def _change_words(self, key: str, words: tuple[str, str] | None) -> None:
        workspace = self._store.history.writable
        if workspace is None:
            return

        def work() -> None:
            from robgui.report.story import read_edits, write_edits
            from robgui.report.story.words import Words

            kept = {name: one for name, one in read_edits(workspace).items() if name != key}
            write_edits(workspace, kept if words is None else {**kept, key: Words(*words)})

        self._store.keeping.run(work, lambda _: self._take())

    # --- writing ----------------------------------------------------------------------------------

    def _ask_write(self) -> None:
        path = ask_file(self, "Export the story", "story.pdf", KINDS)
        if path is not None:
            self._say("Writing …")
            self.write(path)

    def _title(self) -> str:
        workspace = self._store.history.workspace
        if workspace is None:
            return "Robustness"
        return f"Robustness: {workspace.path.stem}"

    def _say(self, words: str) -> None:
        self.keys.setText(words)

    # --- looks ------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Large type that follows the size of the screen, and the colours of the theme."""
        size = max(16.0, self.height() / _LINES)
        for widget, scale, bold in (
            (self.status, 1.0, True),
            (self.number, 2.6, True),
            (self.title, 1.5, True),
            (self.title_edit, 1.2, True),
            (self.text, 1.0, False),
            (self.text_edit, 1.0, False),
            (self.subject, 0.7, False),
            (self.count, 1.0, True),
        ):
            widget.setFont(font_of(size * scale, bold))
        for button, name in ((self.back, "back"), (self.forward, "forward"), (self.leave, "close")):
            button.setIcon(icon(name))
        self.export.setIcon(icon("export"))

    def _restyle(self) -> None:
        """Another theme: a figure is drawn anew for it."""
        self._look()
        self._take()
