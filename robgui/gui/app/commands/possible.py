"""What can be done now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.report.trackers.installed import TRACKERS, lacking

if TYPE_CHECKING:
    from robgui.gui.app.main_window import MainWindow
    from robgui.gui.state.store import Store

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
        "post_mortem": chose_confusion(store),
        "look": chose_confusion(store),
        "make_tests": any(finding.starred for finding in store.history.findings),
    }


def chose_confusion(store: Store) -> bool:
    """Whether the chosen finding is a change of the answer: only that has a cause to look for."""
    wanted = store.selection.finding
    chosen = next((one for one in store.history.findings if one.id == wanted), None)
    return chosen is not None and chosen.confusion is not None


def _is_asked_about(window: MainWindow) -> bool:
    """Whether a run asks about the model in use."""
    store = window.store
    if store.library.model is None:
        return False
    mark = store.library.model.fingerprint
    return any(one.fingerprint == mark for run in store.history.runs for one in run.request.models)
