"""Presentation: the starred findings on the whole screen, one after the other, for people who do
not use the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QFont, QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from robgui import manual
from robgui.gui.app.theme import icon, theme
from robgui.gui.show.presentation_pictures import Part, Pictures, parts_of
from robgui.gui.widgets.inks import colour, status_ink
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.core.workspace import Workspace
    from robgui.gui.state.store import Store

NOTHING = "There is nothing to show yet"
_WHAT_TO_DO = (
    "Run an analysis; the failures it finds can be shown here. Star the ones that matter in the"
    " list of findings, and only those are shown."
)
_BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_Backspace)
_NEXT = (
    Qt.Key.Key_Right,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Space,
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
)
#: So many lines of text fit the height of the screen: readable from the back of a room.
_LINES = 36


class Presentation(QWidget):
    """A window of its own over the whole screen, without docks, toolbars or menu.

    Signals:
        left: It has been closed.
    """

    left = Signal()

    def __init__(self, store: Store, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._store = store
        self._shown: list[StoredFinding] = []
        self._at = 0
        self.setWindowTitle("robgui: presentation")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._make_words()
        self._make_controls()
        self._arrange()
        store.history.findings_changed.connect(self._take)
        theme.changed.connect(self._restyle)

    # --- what a user does -------------------------------------------------------------------------

    def toggle(self) -> None:
        """Begins at the first finding, or ends."""
        if self.isVisible():
            self.close()
            return
        self._at = 0
        self._take()
        parent = self.parentWidget()
        if parent is not None and parent.screen() is not None:
            self.setGeometry(parent.screen().geometry())
        self.showFullScreen()
        self.activateWindow()
        self.setFocus()

    def go(self, number: int) -> None:
        """Shows finding ``number``, counted from 0; the first and the last are the ends."""
        self._at = min(max(0, number), max(0, len(self._shown) - 1))
        self._show()

    @property
    def current(self) -> StoredFinding | None:
        """The finding on show."""
        return self._shown[self._at] if self._shown else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Escape, Qt.Key.Key_F11):
            self.close()
        elif key in _NEXT:
            self.go(self._at + 1)
        elif key in _BACK:
            self.go(self._at - 1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.go(0 if key == Qt.Key.Key_Home else len(self._shown))
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.left.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._look()

    # --- making -----------------------------------------------------------------------------------

    def _make_words(self) -> None:
        self.count, self.title, self.subject, self.status = Label(), Label(), Label(), Label()
        self.verdict, self.note, self.method, self.plain = Label(), Label(), Label(), Label()
        for label in (self.count, self.status, *self._words()):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        for label in (self.count, self.subject, self.plain):
            label.setProperty("role", "quiet")
        self.count.setWordWrap(False)
        self.pictures = Pictures()

    def _make_controls(self) -> None:
        self.back, self.forward, self.leave = (
            QPushButton("Back"),
            QPushButton("Next"),
            QPushButton("Leave"),
        )
        for button, tip in (
            (self.back, "Left arrow"),
            (self.forward, "Right arrow"),
            (self.leave, "Esc"),
        ):
            button.setToolTip(tip)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.back.clicked.connect(lambda: self.go(self._at - 1))
        self.forward.clicked.connect(lambda: self.go(self._at + 1))
        self.leave.clicked.connect(self.close)
        self._keys = Label("← → go through the findings, Esc leaves")
        self._keys.setProperty("role", "quiet")

    def _arrange(self) -> None:
        words = QWidget()
        column = QVBoxLayout(words)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(16)
        column.addStretch(1)
        for label in self._words():
            column.addWidget(label)
        column.insertWidget(column.indexOf(self.verdict), self.status)
        column.addStretch(1)
        self._scroll = QScrollArea(
            widgetResizable=True,
            frameShape=QScrollArea.Shape.NoFrame,
            focusPolicy=Qt.FocusPolicy.NoFocus,
        )
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(words)
        middle = QHBoxLayout()
        middle.setSpacing(48)
        middle.addWidget(self.pictures, 6)
        middle.addWidget(self._scroll, 5)
        controls = QHBoxLayout()
        controls.addWidget(self.count)
        controls.addStretch(1)
        for widget in (self._keys, self.back, self.forward, self.leave):
            controls.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(48, 40, 48, 24)
        layout.setSpacing(24)
        layout.addLayout(middle, 1)
        layout.addLayout(controls)

    # --- what is shown ----------------------------------------------------------------------------

    def _take(self) -> None:
        """The starred findings, or all when none is starred; the one on show stays on show."""
        now = self.current
        findings = self._store.history.findings
        self._shown = [finding for finding in findings if finding.starred] or list(findings)
        self._at = next(
            (
                i
                for i, finding in enumerate(self._shown)
                if now is not None and finding.id == now.id
            ),
            self._at,
        )
        self.go(self._at)

    def _show(self) -> None:
        finding = self.current
        run = None if finding is None else self._run(finding)
        total = len(self._shown)
        self.count.setText(f"{self._at + 1} of {total}" if total else "0 of 0")
        self.back.setEnabled(self._at > 0)
        self.forward.setEnabled(self._at < total - 1)
        page = manual.page_of(run.request.analysis) if run is not None else None
        self.title.setText(finding.title if finding is not None else NOTHING)
        self._fill(self.subject, "" if run is None else self._store.subject(run.request))
        self._show_verdict(finding, run)
        self._fill(
            self.note, f"Note: {finding.note}" if finding is not None and finding.note else ""
        )
        self._fill(self.method, "" if page is None else page.title)
        self._fill(self.plain, "" if page is None else page.plain)
        self._scroll.verticalScrollBar().setValue(0)
        self.setAccessibleName(self.title.text())
        self._fetch(finding, run)

    def _show_verdict(self, finding: StoredFinding | None, run: Run | None) -> None:
        """What the run of the finding says: its status with sign and colour, and its sentence."""
        said = None if run is None else self._store.history.shown(run)
        self._fill(self.status, "" if said is None else f"{said.status.sign} {said.status.words}")
        sentence = _WHAT_TO_DO if finding is None else ""
        self._fill(
            self.verdict, sentence if said is None else f"{said.sentence} {said.scope}".strip()
        )
        if said is not None:
            palette = self.status.palette()
            palette.setColor(QPalette.ColorRole.WindowText, colour(status_ink(said.status)))
            self.status.setPalette(palette)

    def _words(self) -> tuple[QLabel, ...]:
        """What stands beside the picture, from top to bottom.

        The status stands above the verdict.
        """
        return self.title, self.subject, self.verdict, self.note, self.method, self.plain

    def _fill(self, label: QLabel, text: str) -> None:
        label.setText(text)
        label.setVisible(bool(text))

    def _run(self, finding: StoredFinding) -> Run | None:
        return next((run for run in self._store.history.runs if run.id == finding.run_id), None)

    def _fetch(self, finding: StoredFinding | None, run: Run | None) -> None:
        """The picture of the finding, or the first view of its run where it has none."""
        self.pictures.show_parts(())
        workspace = self._store.history.workspace
        if finding is None or workspace is None:
            self._store.pictures.drop("presentation")
            return
        dark, known = (
            theme.dark,
            None if run is None else self._store.analyses.get(run.request.analysis),
        )
        self._store.pictures.run(
            lambda: _pictures(workspace, finding, run, known, dark),
            self.pictures.show_parts,
            key="presentation",
        )

    def _look(self) -> None:
        """Large type that follows the size of the screen, and the colours of the theme."""
        size = max(16.0, self.height() / _LINES)
        for label, scale, bold in (
            (self.title, 1.5, True),
            (self.subject, 0.8, False),
            (self.status, 1.0, True),
            (self.verdict, 1.0, False),
            (self.note, 1.0, True),
            (self.method, 0.85, True),
            (self.plain, 0.85, False),
            (self.count, 1.0, True),
        ):
            label.setFont(_font(size * scale, bold))
        for button, name in ((self.back, "back"), (self.forward, "forward"), (self.leave, "close")):
            button.setIcon(icon(name))
        self.pictures.set_type(_font(size * 0.8, False))

    def _restyle(self) -> None:
        """Another theme: a figure is drawn anew for it."""
        self._look()
        if self.isVisible():
            self._show()


def _font(pixels: float, bold: bool) -> QFont:
    font = QFont(QApplication.font())
    font.setPixelSize(round(pixels))
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


def _pictures(
    workspace: Workspace,
    finding: StoredFinding,
    run: Run | None,
    known: Analysis | None,
    dark: bool,
) -> Sequence[Part]:
    """Called on a pool thread."""
    parts = parts_of(workspace.finding(finding.id))
    if parts or run is None or known is None or not run.has_result:
        return parts
    from robgui.report.drawing import draw_view, save

    params = known.params.parse(dict(run.request.params))
    view = next(iter(known.views(workspace.result(run.id), params)), None)
    return () if view is None else (Part(save(draw_view(view, dark=dark), "png"), ""),)
