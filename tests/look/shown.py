"""Shown: one window with a short run of every analysis, for tests of how every page looks.

A run takes seconds, all of them minutes: in a folder that is kept, only what is missing is run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from robgui import resources
from robgui.core.execution.registry import analyses
from robgui.core.execution.run import Run
from robgui.gui.app.app import application, open_window
from robgui.gui.app.main_window import MainWindow
from tests.look.dialogs import dialogs
from tests.look.seen import OTHER_MODELS, Seen

#: Seconds until something has happened or never will.
PATIENCE = 600
#: A window stands still when nothing has happened this many times in a row.
STILL = 3
#: Settings that make the demo of an analysis short; the picture has the same parts.
SHORT: dict[str, dict[str, object]] = {
    "zonnscan": {"samples": 32, "radii": (0.05, 0.2, 0.4, 0.6)},
    "zonnscan_populations": {"most": 24, "samples": 16},
    "zonnscan_corner_cases": {"most": 8, "samples": 16},
    "zonnscan_watermark": {},
    "semantic_map": {},
    "semantic_regions": {"start_count": 2, "iterations": 20},
    "srvr": {"start_count": 1, "iterations": 5},
    "operating_domain": {"samples": 500, "critical": 1e-3},
    "feature_game": {"max_calls": 800},
    "feature_game_batch": {"images": 4, "max_calls": 400},
    "attribution": {"steps": 10},
    "deepinspect": {},
    "deepinspect_thresholds": {},
    "deepinspect_coverage": {},
    "last_particle": {"samples": 0, "replicas": 4},
    "last_particle_table": {"most": 6, "radii": (0.05, 0.2)},
    "accuracy": {"most": 60, "compared": 60},
    "tolerance": {"most": 4, "sizes": 3},
    "corruptions": {"most": 8, "severities": (1, 5)},
    "pipeline_audit": {"pictures": 12},
}
#: Whose runs with two models the compare page lays side by side.
COMPARED = "deepinspect"
#: An analysis of one input, and an input on which it has not run: its page is empty.
EMPTY, UNSEEN = "feature_game", 3


class Shown:
    """A window with the demo open and a run of every analysis.

    Args:
        folder: Where the workspace is; what has run there before is not run again.

    Attributes:
        window: The window.
    """

    def __init__(self, folder: Path) -> None:
        application()
        self.window: MainWindow = open_window(folder / "shown.robgui")
        self.window.show()
        store = self.window.store
        self._wait(lambda: bool(store.analyses) and store.history.workspace is not None, "start")
        self._wait(lambda: not store.busy, "the workspace")
        expected = sum(len(entry.models) for entry in resources.demo())
        if len(store.library.models) < expected:
            self.window.commands.start_demo()
        self._wait(lambda: len(store.library.models) >= expected and not store.busy, "the demo")
        self._seen = Seen(folder, self.window, self._wait)
        self._names = [known.name for known in analyses().values() if known.demo is not None]
        for name in self._names:
            self._have(name)

    def pages(self) -> Iterator[tuple[str, QWidget]]:
        """Shows one page and one window after the other; its name, and the window it is in."""
        window = self.window
        for number, name in ((0, "welcome"), (1, "overview")):
            window.go_to(number)
            yield self._settled(name), window
        for name in self._names:
            window.show_panel(name)
            yield self._settled(name), window
        with self._empty():
            yield self._settled("empty"), window
        window.show_panel(COMPARED)
        window.show_comparison()
        yield self._settled("compare"), window
        window.compare.switch.setCurrentIndex(1)
        yield self._settled("scoreboard"), window
        window.compare.switch.setCurrentIndex(0)
        window.show_findings(window.store.history.entries()[0].lead)
        yield self._settled("finding"), window
        window.show_findings()
        yield self._settled("findings"), window
        for name, dialog in dialogs(window):
            yield self._settled(name), dialog

    def settle(self) -> None:
        """Waits until the window stands still: what is painted may ask for more pictures."""
        store, quiet = self.window.store, 0
        while quiet < STILL:
            self._wait(lambda: not store.busy and not store.pictures.busy, "the pictures")
            QTest.qWait(20)
            quiet = 0 if store.busy or store.pictures.busy else quiet + 1

    def _have(self, name: str) -> None:
        """Shows the run of an analysis after whatever is missing has been run."""
        known, store = analyses()[name], self.window.store
        assert known.demo is not None
        demo = replace(known.demo, params={**known.demo.params, **SHORT.get(name, {})})
        others = [replace(demo, model=OTHER_MODELS[demo.model])] if name == COMPARED else []
        for wanted in (*others, demo):
            if self._run_of(name, wanted.model) is None:
                self._seen.run(known, wanted)
        run, panel = self._run_of(name, demo.model), self.window.panel(name)
        assert run is not None and panel is not None
        store.history.show_run(run)
        self._wait(lambda: panel.run_id == run.id and not store.busy, name)

    def _run_of(self, name: str, model: str) -> Run | None:
        runs = (one for one in self.window.store.history.runs if one.request.analysis == name)
        return next(
            (one for one in runs if one.has_result and one.request.models[0].name == model), None
        )

    @contextmanager
    def _empty(self) -> Iterator[None]:
        """The page of an analysis before its first run on the chosen input."""
        store, panel = self.window.store, self.window.panel(EMPTY)
        assert panel is not None
        run = next(one for one in store.history.runs if one.id == panel.run_id)
        store.history.show_run(run)
        self.settle()
        store.select(store.selection.replace(input=UNSEEN))
        panel.clear()
        self.window.show_panel(EMPTY)
        self.settle()
        assert panel.result is None, "nothing has run on this input"
        yield
        store.history.show_run(run)
        self._wait(lambda: panel.run_id == run.id and not store.busy, EMPTY)

    def _settled(self, name: str) -> str:
        self.settle()
        return name

    def _wait(self, until: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < end, f"waited in vain for {what}"
            QTest.qWait(10)
