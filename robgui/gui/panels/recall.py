"""Recall: a panel draws what the workspace has for it, where nothing better is on show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robgui.core.execution.likeness import differences
from robgui.core.workspace.speaking import is_first_look

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.gui.panels.panel import Panel


class Recall:
    """Brings back the run that speaks for the model and input in use.

    This happens after a restart, and after a run that answers the same question less well.
    """

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._recalled = self._ended = ""
        self._in_use = ""

    def forget(self) -> None:
        """Allows what was brought back before to come back again."""
        self._recalled = ""

    def ended(self, run_id: str) -> None:
        """The run on show has just ended: another may speak in its place."""
        self._ended, self._recalled = run_id, ""

    def look(self, *_: object) -> None:
        """Draws that run, if the panel is seen and has nothing better on show."""
        panel = self._panel
        if panel.job is not None or not panel.isVisible():
            return
        run = self._wanted()
        # Called at every change of the store: a run is read from disk once, not once per signal.
        if run is not None and run.id != self._recalled:
            self._recalled = run.id
            panel.store.history.read(run, lambda result: self._draw(run, result))

    def model_changed(self) -> None:
        """With another model in use its own run takes the place of the other's picture.

        Where the analysis cannot look at it at all, the page says so in place of the picture.
        """
        panel, model = self._panel, self._panel.store.library.model
        if model is None or model.fingerprint == self._in_use:
            return
        self._in_use = model.fingerprint
        shown = panel.request
        if shown is None or panel.job is not None:
            return
        if any(one.fingerprint == model.fingerprint for one in shown.models[:1]):
            return
        if panel.analysis.refusal(model):
            panel.clear()
        elif (run := self._speaking_in_use()) is not None:
            panel.store.history.read(run, lambda result: self._replace(shown, run, result))

    def _replace(self, shown: Request, run: Run, result: Any) -> None:
        """Draws a run unless something else has come on show while it was read."""
        if self._panel.request is not shown or result is None:
            return
        # Reading takes a while; the user may have changed the model again, or a better run may have
        # ended.
        speaking = self._speaking_in_use()
        if speaking is not None and speaking.id == run.id:
            self._panel.show_stored(run, result)

    def _draw(self, run: Run, result: Any) -> None:
        if self._panel.job is not None or result is None:
            return
        wanted = self._wanted()
        if wanted is None or wanted.id != run.id:
            self._recalled = ""  # Other inputs were chosen while it was read.
            return
        self._panel.show_stored(run, result)

    def _wanted(self) -> Run | None:
        if self._panel.result is None:
            return self._speaking_in_use()
        return self._speaking_instead()

    def _speaking_in_use(self) -> Run | None:
        """The stored run that speaks for the model and inputs in use, or a first look's inputs."""
        store, name = self._panel.store, self._panel.analysis.name
        now = store.next_run.request(name)
        if now is None:
            return None
        first = store.inspection.first_look(name)
        if first is None:
            return store.history.speaking_like(now)
        return store.history.speaking_like(now, first)

    def _speaking_instead(self) -> Run | None:
        """The run that speaks in place of the one that just ended.

        That was a first look, or one stopped with the same settings.
        """
        history, shown = self._panel.store.history, self._panel.request
        # Until the history has committed the run that ended, it cannot tell which of the two
        # speaks.
        kept = any(run.id == self._ended and run.state.ended for run in history.runs)
        if shown is None or not kept or self._panel.run_id != self._ended:
            return None
        run = history.speaking_like(shown)
        if run is None or run.id == self._ended:
            return None
        if is_first_look(shown) or not differences(run.request, shown):
            return run
        return None
