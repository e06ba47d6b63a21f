"""PanelPage: verdict, origin and picture of a run, from top to bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from robgui.gui.panels.explanation import Explanation
from robgui.gui.panels.found_button import FoundButton
from robgui.gui.panels.send_button import SendButton
from robgui.gui.panels.stale_badge import StaleBadge
from robgui.gui.panels.verdict_line import LINES, VerdictLine
from robgui.gui.widgets.elided import Caption

if TYPE_CHECKING:
    from robgui.core.execution.export import Export
    from robgui.gui.panels.panel import Panel

#: A panel lower than this many lines of text keeps its room for the picture.
LOW = 46


class PanelPage(QWidget):
    """What a panel shows of a run.

    Attributes:
        verdict: What the run says.
        origin: Which model and input, and the actions on it.
    """

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self.verdict = VerdictLine()
        self.origin = OriginLine(panel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 4)
        layout.setSpacing(4)
        layout.addWidget(self.verdict)
        layout.addLayout(self.origin)
        beside = QHBoxLayout()
        beside.addWidget(panel.content, 1)
        beside.addWidget(self.origin.explanation)
        layout.addLayout(beside, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low panel the verdict is its sentence; the rest is asked for."""
        super().resizeEvent(event)
        low = self.height() < LOW * self.fontMetrics().height()
        self.verdict.set_lines(0 if low else LINES)


class OriginLine(QHBoxLayout):
    """Which model on which input, and a stale mark beside it, so nothing below moves.

    Attributes:
        subject: Which model on which input.
        badge: Says that the picture is stale, or only a first look.
        explanation: Numbers on the picture, and words beside it.
        found: Leads to the findings of the run.
        send: Hands inputs to other analyses.
    """

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        analysis = panel.analysis
        self.subject = Caption(align=Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.subject.setAccessibleName("Which model on which input")
        self.subject.setProperty("role", "quiet")
        self.badge = StaleBadge(panel.store, analysis.name)
        self.send = SendButton(panel)
        self.explanation = Explanation(panel.content, analysis.explanation)
        self.found = FoundButton(panel)
        self.addWidget(self.subject, 1)
        self.addWidget(self.badge, 0, Qt.AlignmentFlag.AlignVCenter)
        self.addWidget(self._explain_button(bool(analysis.explanation)))
        self.addWidget(self.found)
        if analysis.export is not None:
            self.addWidget(_export_button(panel, analysis.export))
        self.addWidget(self.send)
        self.addStrut(self.send.sizeHint().height())  # a button that comes moves nothing

    def _explain_button(self, explained: bool) -> QPushButton:
        button = QPushButton("What am I looking at?", checkable=True)
        button.setProperty("role", "link")
        button.setVisible(explained)
        button.toggled.connect(self.explanation.set_open)
        return button


def _export_button(panel: Panel, export: Export) -> QPushButton:
    button = QPushButton("Export …")
    button.setToolTip(f"{export.title}, with labels and how each was made")
    button.setAccessibleName(export.title)
    button.clicked.connect(panel.store.export_wanted)
    return button
