"""One page per method, with one panel per analysis as its tabs.

The pages are made from the methods that are installed. An analysis has the panel that the
entry-point group ``robgui.panels`` names for it, else the generic one. pyqtgraph is imported with
the first panel, not with the window.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.core.execution.analysis import Analysis
from robgui.core.execution.method import methods

if TYPE_CHECKING:
    from robgui.gui.panels.panel import Panel
    from robgui.gui.state.store import Store

GROUP = "robgui.panels"
#: Needed soon, but not for the first picture of the window.
_REST = (
    *("scipy.special", "scipy.cluster.hierarchy", "scipy.spatial.distance"),
    *("robgui.gui.model.model_dialog", "robgui.gui.data.data_dialog", "robgui.gui.show.demo"),
    *("robgui.gui.app.palette", "robgui.gui.app.preferences", "robgui.gui.pages.help"),
    *("robgui.core.dataset.picture", "robgui.analyses.deepinspect.pair_views"),
    "robgui.analyses.feature_game.example",
)


@dataclass(frozen=True)
class Page:
    """What the rail must know of a method: its title, its icon, the analyses of its tabs."""

    title: str
    icon: Path
    analyses: tuple[Analysis, ...]


def pages() -> tuple[Page, ...]:
    """One for each method, in the order of the rail."""
    return tuple(Page(method.title, method.icon_path, method.analyses) for method in methods())


def make_panel(
    store: Store, analysis: Analysis, entries: Mapping[str, EntryPoint] | None = None
) -> Panel:
    """The panel of an analysis.

    One that cannot be made is a sentence in the log, and the generic one takes its place.

    Args:
        store: What the panel knows.
        analysis: What it draws.
        entries: ``panel_entries()``, where many panels are made at once.
    """
    from robgui.gui.panels.generic import GenericPanel

    entry = (panel_entries() if entries is None else entries).get(analysis.name)
    if entry is None:
        return GenericPanel(store, analysis)
    try:
        panel: Panel = entry.load()(store, analysis)
    except Exception as error:  # noqa: BLE001 - foreign code raises anything; the window starts all the same
        sentence = (
            f"The panel of {analysis.title} ({entry.value}) cannot be made: {type(error).__name__}:"
            f" {error}; its views are shown instead."
        )
        store.say("error", sentence, traceback.format_exc())
        return GenericPanel(store, analysis)
    return panel


def preload() -> None:
    """Imports the panels and what they show ahead; called away from the GUI thread."""
    importlib.import_module("robgui.gui.panels.generic")
    from robgui.gui.widgets.heat import lookup

    for name in ("magma", "cividis"):  # pyqtgraph reads them from files
        lookup(name)
    panels = [entry.load for entry in panel_entries().values()]
    words = [analysis.import_words for page in pages() for analysis in page.analyses]
    for load in (*panels, *words):
        try:
            load()
        except Exception:  # noqa: BLE001 - said when the panel is made, where it can be shown
            continue


def preload_rest() -> None:
    """Imports what results compute with, and the first dialogs; called away from the GUI thread.

    The first of each then does not hold the window up.
    """
    for name in _REST:
        importlib.import_module(name)


def panel_entries() -> dict[str, EntryPoint]:
    """The panels by the name of their analysis.

    Ours come first, so they cannot be replaced.
    """
    found = sorted(
        entry_points(group=GROUP), key=lambda entry: not entry.value.startswith("robgui.")
    )
    # Of equal names a dictionary keeps the last, so ours are put in last.
    return {entry.name: entry for entry in reversed(found)}
