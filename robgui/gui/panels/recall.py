"""Recall: an empty panel that comes on show draws what the workspace has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.core.execution.run import Run
    from robgui.gui.panels.panel import Panel


class Recall:
    """Brings back the run that speaks for the model and input in use, as after a restart."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._recalled = ""

    def forget(self) -> None:
        """Allows what was brought back before to come back again."""
        self._recalled = ""

    def look(self, *_: object) -> None:
        """Draws that run, if the panel is seen and empty."""
        panel = self._panel
        if not self._empty or not panel.isVisible():
            return
        run = self._speaking_in_use()
        if run is not None and run.id != self._recalled:
            self._recalled = run.id
            panel.store.history.read(run, lambda result: self._draw(run, result))

    @property
    def _empty(self) -> bool:
        return self._panel.result is None and self._panel.job is None

    def _draw(self, run: Run, result: Any) -> None:
        if not self._empty or result is None:
            return
        speaking = self._speaking_in_use()
        if speaking is None or speaking.id != run.id:
            self._recalled = ""  # Other inputs were chosen while it was read.
            return
        self._panel.show_stored(run, result)

    def _speaking_in_use(self) -> Run | None:
        """The stored run that speaks for the model and inputs in use, or for those inputs that a
        first look would take.
        """
        store, name = self._panel.store, self._panel.analysis.name
        now = store.next_run.request(name)
        if now is None:
            return None
        first = store.inspection.first_look(name)
        if first is None:
            return store.history.speaking_like(now)
        return store.history.speaking_like(now, first)
