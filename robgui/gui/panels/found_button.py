"""Found: from the picture of a run to the page of what it has found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPushButton

from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.plain import set_tip

if TYPE_CHECKING:
    from robgui.core.finding import Finding, StoredFinding
    from robgui.gui.panels.panel import Panel

#: On the button where the run has found one thing that can be laid side by side, or several. These
#: are findings as the wall counts them, a class or an input each: far fewer than wrong answers.
ONE, SEVERAL = "See the failure", "See {many:,} findings"
WHAT = "Before and after, what else is known of this input, and what to do next"
#: Where the one thing is no change of the answer: an uncertain zone has no before and after.
NO_FAILURE = "See the finding"


class FoundButton(QPushButton):
    """Opens the worst finding of the run on show; hidden if there is none."""

    def __init__(self, panel: Panel) -> None:
        super().__init__(ONE)
        self._panel = panel
        self.setProperty("role", "primary")
        self.setToolTip(WHAT)
        self.clicked.connect(self._open)
        theme.changed.connect(self._tint)
        self._tint()
        self.hide()

    def refresh(self) -> None:
        """Shows itself when the run on show has findings."""
        found = self._found()
        words = ONE if any(one.confusion for one in found) else NO_FAILURE
        self.setText(words if len(found) < 2 else SEVERAL.format(many=len(found)))
        set_tip(self, WHAT if len(found) < 2 else counted_by_kind(found))
        self.setVisible(bool(found))

    def _found(self) -> list[StoredFinding]:
        """The findings of the run on show, those that are alike as one, the worst first."""
        run, history = self._panel.run_id, self._panel.store.history
        if run is None or not any(one.run_id == run for one in history.findings):
            return []
        return [
            group.lead
            for group in history.entries()
            if any(one.run_id == run for one in group.members)
        ]

    def _open(self) -> None:
        found = self._found()
        if found:
            self._panel.store.finding_wanted.emit(found[0])

    def _tint(self) -> None:
        self.setIcon(icon("findings", theme.colours.on_accent))


def counted_by_kind(found: Sequence[Finding]) -> str:
    """What the findings of a run are: a class that fails is one, however many inputs it has."""
    kinds = Counter(one.kind for one in found)
    parts = ", ".join(f"{many:,} of kind “{kind}”" for kind, many in kinds.items())
    return f"{parts[:1].upper()}{parts[1:]}. One finding may stand for many wrong inputs."
