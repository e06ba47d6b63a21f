"""What can be done now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.report.trackers.installed import TRACKERS, lacking

if TYPE_CHECKING:
    from robgui.gui.app.main_window import MainWindow

#: The installed experiment trackers.
_THERE = {name: not lacking(name) for name in TRACKERS}


def possible(window: MainWindow) -> dict[str, bool]:
    """Whether each named action can be done now; unnamed ones always can."""
    store, panel = window.store, window.current_panel
    shown, active = panel is not None, store.runner.active is not None
    opened, undo = store.library.model is not None, store.navigation.undo
    return {
        "undo": undo.canUndo(),
        "redo": undo.canRedo(),
        "back": store.navigation.can_go_back,
        "forward": store.navigation.can_go_forward,
        "run": panel is not None and not store.next_run.obstacle(panel.analysis.name),
        "pause": active,
        "stop": active,
        "stop_all": store.runner.busy or bool(store.library.pending.loading),
        "data_settings": store.library.dataset is not None,
        "check_model": opened,
        "check_tests": opened,
        "remove_model": opened,
        "save_picture": shown,
        "copy_picture": shown,
        "save_numbers": shown,
        "export_made": panel is not None and panel.exports,
        "find_missing": bool(store.history.missing),
        "report": bool(store.history.runs),
        "report_of_model": _is_asked_about(window),
        **{f"log_{name}": bool(store.history.runs) and there for name, there in _THERE.items()},
        "export_findings": bool(store.history.findings),
        "post_mortem": store.selection.finding is not None,
        "look": store.selection.finding is not None,
        "make_tests": any(finding.starred for finding in store.history.findings),
    }


def _is_asked_about(window: MainWindow) -> bool:
    """Whether a run asks about the model in use."""
    store = window.store
    if store.library.model is None:
        return False
    mark = store.library.model.fingerprint
    return any(one.fingerprint == mark for run in store.history.runs for one in run.request.models)
