"""Shown: one window with a short run of every analysis, for tests of how every page looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from PySide6.QtTest import QTest

from robgui import resources
from robgui.core.execution.registry import analyses
from robgui.gui.app.app import application, open_window
from robgui.gui.app.main_window import MainWindow
from tests.look.seen import Seen

#: Seconds until something has happened or never will.
PATIENCE = 600
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


class Shown:
    """A window with the demo open and a run of every analysis.

    Attributes:
        window: The window.
    """

    def __init__(self, folder: Path) -> None:
        application()
        self.window: MainWindow = open_window(folder / "shown.robgui")
        self.window.show()
        store = self.window.store
        self._wait(lambda: bool(store.analyses) and store.history.workspace is not None, "start")
        self.window.commands.start_demo()
        expected = sum(len(entry.models) for entry in resources.demo())
        self._wait(lambda: len(store.library.models) >= expected, "the demo")
        self._wait(lambda: not store.busy, "the demo")
        self._seen = Seen(folder, self.window, self._wait)
        self._runs = {}
        for known in analyses().values():
            if known.demo is not None:
                demo = replace(
                    known.demo, params={**known.demo.params, **SHORT.get(known.name, {})}
                )
                self._runs[known.name] = self._seen.run(known, demo)

    def pages(self) -> Iterator[str]:
        """Shows one page after the other; the name of the one on show."""
        for number, name in ((0, "welcome"), (1, "overview")):
            self.window.go_to(number)
            yield self._settled(name)
        for name in self._runs:
            self.window.show_panel(name)
            yield self._settled(name)
        self.window.show_comparison()
        yield self._settled("compare")

    def settle(self) -> None:
        """Waits until the window stands still."""
        store = self.window.store
        self._wait(lambda: not store.busy and not store.pictures.busy, "the pictures")
        QTest.qWait(30)

    def _settled(self, name: str) -> str:
        self.settle()
        return name

    def _wait(self, until: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < end, f"waited in vain for {what}"
            QTest.qWait(10)
