"""StaleBadge: says that a picture no longer shows what Run would compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.core.execution.likeness import same_question
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.gui.state.store import Store

#: What stands on the badge, and what its tool tip adds.
STALE = "Stale: press Run"
STALE_FOR_NOW = "Stale"
FIRST_LOOK = "First look: press Run for more"
CHANGED = "Settings, model or input have changed since this was computed."
SHORT = "This has the short settings of Inspect everything. Run gives the full result."


class StaleBadge(Label):
    """Hidden while a picture is up to date."""

    def __init__(self, store: Store, analysis: str) -> None:
        super().__init__(STALE)
        self._store, self._analysis = store, analysis
        self.setProperty("role", "badge")

    def check(self, shown: Request | None) -> None:
        """Compares what is on show with what would be asked for now; None is never stale."""
        if shown is None:
            self.hide()
            return
        now = self._store.next_run.request(self._analysis)
        # The form cannot be sent as it is, so nothing can be compared; pressing Run is no advice
        # here, nor where model and inputs do not fit.
        if now is None:
            self._say(STALE_FOR_NOW, CHANGED)
            self.setVisible(not self._awaits_files())
            return
        stale = not same_question(now, shown)
        if stale and self._store.next_run.obstacle(self._analysis):
            self._say(STALE_FOR_NOW, CHANGED)
        elif stale and self._store.inspection.gave(shown, now):
            self._say(FIRST_LOOK, SHORT)
        elif stale:
            self._say(STALE, CHANGED)
        self.setVisible(stale)

    def _say(self, words: str, more: str) -> None:
        self.setText(words)
        self.setToolTip(more)

    def _awaits_files(self) -> bool:
        """Whether model or data are still being read, as when a workspace opens: not a change."""
        library = self._store.library
        return bool(library.pending.loading) and (library.model is None or library.dataset is None)
