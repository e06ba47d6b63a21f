"""Every analysis in every place side by side, for a person to look at.

``python -m tests.look.side_by_side FOLDER [--only ANALYSIS] [--states]`` runs each analysis on the
demo once and keeps the runs in FOLDER, so that a second call only draws. It writes, in light and
dark, the panel (each tab), the tile, the compare page, the figures of the report and the exports
(PNG, SVG through chromium, PDF through pdftoppm), and a sheet with all of them per analysis and
theme; with ``--states`` the panel live, stopped and done instead. Needs chromium and pdftoppm.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea, QWidget

from robgui import resources
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.registry import analyses
from robgui.core.view import View
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.app.theme import theme
from robgui.gui.show import export
from robgui.gui.widgets.tab_rows import TabRows
from robgui.report.drawing import draw_view, save
from tests.look.seen import Seen
from tests.look.sheets import contact_sheet

SIZE = (1366, 768)
PATIENCE = 900.0
THEMES = {"light": False, "dark": True}


class Camera:
    """Takes the pictures of a real window."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        application()
        self.window = open_window(folder / "look.robgui")
        self.store = self.window.store
        self.window.resize(*SIZE)
        self.window.show()
        store = self.store
        self.wait(lambda: bool(store.analyses) and store.history.workspace is not None, "start")
        self.wait(lambda: not store.busy, "the workspace")
        expected = sum(len(entry.models) for entry in resources.demo())
        if len(store.library.models) < expected:
            self.window.commands.start_demo()
            self.wait(lambda: len(store.library.models) >= expected, "the demo models")
        self.wait(lambda: not store.busy, "the demo")
        self.seen = Seen(folder, self.window, self.wait)

    def wait(self, until: Callable[[], bool], what: str) -> None:
        """Runs the event loop until something holds."""
        end = time.monotonic() + PATIENCE
        while not until():
            if time.monotonic() > end:
                raise SystemExit(f"Waited in vain for {what}.")
            QTest.qWait(10)

    def places(self, known: Analysis) -> None:
        """All places of one analysis, and a sheet of them per theme."""
        exports = self._exports(known)
        for name, dark in THEMES.items():
            theme.apply(dark)
            pictures = [
                *self._panel(known, "done", name),
                self._tile(known, name),
                self._compare(known, name),
                *self._report(known, name),
                *(exports if not dark else []),
            ]
            contact_sheet(pictures, self._folder / f"sheet-{known.name}-{name}.png", dark)

    def states(self, known: Analysis) -> None:
        """The panel live, stopped and done, and a sheet of them per theme."""
        for name, dark in THEMES.items():
            theme.apply(dark)
            states = ("live", "stopped", "done")
            pictures = [one for state in states for one in self._panel(known, state, name)]
            contact_sheet(pictures, self._folder / f"states-{known.name}-{name}.png", dark)

    def _panel(self, known: Analysis, state: str, look: str) -> list[Path]:
        """The window with the panel, once for each tab of its views."""
        panel = self.window.panel(known.name)
        assert panel is not None
        if state == "live":
            self._show(known, "stopped")
            request, result, _note = self.seen.live(known.name)
            params = known.params.parse(dict(request.params))
            panel.show_result(request, result, known.verdict(result, params))
        else:
            self._show(known, state)
        found = []
        bars = [bar for bar in panel.findChildren(TabRows) if bar.isVisible() and bar.count() > 1]
        for place in range(max(1, bars[0].count() if bars else 1)):
            if bars:
                bars[0].setCurrentIndex(place)
            found.append(self._grab(self.window, f"{known.name}-{state}-{place}-{look}"))
        if bars:
            bars[0].setCurrentIndex(0)
        return found

    def _show(self, known: Analysis, state: str) -> None:
        store = self.store
        run = next(r for r in store.history.runs if r.id == self.seen.runs[known.name][state])
        panel = self.window.panel(known.name)
        assert panel is not None
        store.history.show_run(run)
        self.wait(lambda: panel.run_id == run.id and not store.busy, "the run")

    def _tile(self, known: Analysis, look: str) -> Path:
        """The tile of the overview that tells of this run, whatever else the workspace holds."""
        self._show(known, "done")
        overview = self.window.overview
        tile = next(one for one in overview.tiles if known in one.page.analyses)
        self.window.go_to(1)
        run = next(r for r in self.store.history.runs if r.id == self.seen.runs[known.name]["done"])
        tile.set_run(run, overview.runs.said(run))
        views = self._views(known)
        tile.set_view(run, views[0])
        overview.findChild(QScrollArea).ensureWidgetVisible(tile)
        return self._grab(tile, f"{known.name}-tile-{look}")

    def _compare(self, known: Analysis, look: str) -> Path:
        ids = self.seen.runs[known.name]
        by_id = {run.id: run for run in self.store.history.runs}
        self.window.show_comparison()
        compare = self.window.compare
        wanted = (ids["done"], ids["other"])
        compare.show_pair(by_id[wanted[0]], by_id[wanted[1]])
        self.wait(lambda: compare.shown == wanted and not self.store.busy, "the comparison")
        return self._grab(self.window, f"{known.name}-compare-{look}")

    def _views(self, known: Analysis) -> tuple[View, ...]:
        panel = self.window.panel(known.name)
        assert panel is not None
        return tuple(panel.views())

    def _report(self, known: Analysis, look: str) -> list[Path]:
        """The figures of the report, each view as it draws it."""
        self._show(known, "done")
        found = []
        for place, view in enumerate(self._views(known)):
            path = self._folder / f"{known.name}-report-{place}-{look}.png"
            figure = draw_view(view, dark=THEMES[look], large=place == 0)
            path.write_bytes(save(figure, "png", 110))
            found.append(path)
        return found

    def _exports(self, known: Analysis) -> list[Path]:
        """PNG, SVG and PDF as the window writes them, the last two as others draw them."""
        self._show(known, "done")
        exported = self.window.commands.saving.exported()
        assert exported is not None
        base = self._folder / f"{known.name}-export"
        for ending in export.PICTURE_ENDINGS:
            export.save_picture(exported, base.with_suffix(ending))
        return [base.with_suffix(".png"), _svg(base), _pdf(base)]

    def _grab(self, widget: QWidget, name: str) -> Path:
        store = self.store
        self.wait(lambda: not store.busy and not store.pictures.busy, "the pictures")
        QTest.qWait(350)
        path = self._folder / f"{name}.png"
        widget.grab().save(str(path))
        return path


def _svg(base: Path) -> Path:
    """The SVG as a browser draws it, in a page that shows all of it."""
    page, out = base.with_name(base.name + "-svg.html"), base.with_name(base.name + "-svg.png")
    page.write_text(f'<body style="margin:0"><img src="{base.name}.svg" style="width:1120px">')
    words = base.with_suffix(".svg").read_text()
    wide, high = (float(one) for one in words.split('viewBox="0 0 ')[1].split('"')[0].split())
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    window = f"--window-size=1120,{round(1120 * high / wide)}"
    subprocess.run(
        [*command, window, f"--screenshot={out}", page.as_uri()], check=True, capture_output=True
    )
    return out


def _pdf(base: Path) -> Path:
    out = base.with_name(base.name + "-pdf")
    subprocess.run(
        ["pdftoppm", "-png", "-r", "160", "-singlefile", str(base.with_suffix(".pdf")), str(out)],
        check=True,
    )
    return out.with_name(out.name + ".png")


def main() -> None:
    """Runs what is missing and draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="ANALYSIS")
    parser.add_argument("--states", action="store_true", help="the panel live, stopped, done")
    given = parser.parse_args()
    folder = given.folder.resolve()
    os.environ["ROBGUI_CONFIG"] = str(folder / "settings.json")
    camera = Camera(folder)
    try:
        for known in analyses().values():
            if known.demo is None or (given.only and known.name not in given.only):
                continue
            theme.apply(False)
            camera.seen.compute(known)
            (camera.states if given.states else camera.places)(known)
            print(known.name, flush=True)
    finally:
        leave(camera.window, 0)


if __name__ == "__main__":
    main()
