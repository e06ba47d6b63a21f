"""Saving: what the actions write to files and the clipboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QFileDialog

import robgui
from robgui.gui.show import export
from robgui.gui.widgets.save_dialog import ask_file

if TYPE_CHECKING:
    import numpy as np

    from robgui.gui.app.main_window import MainWindow
    from robgui.gui.panels.panel import Panel

#: The formats of a report, as a file dialog lists them.
_REPORTS = "HTML (*.html);;PDF (*.pdf)"


class Saving:
    """Asks where to, and writes: runs, findings, reports, pictures, numbers."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._store = window.store

    def export_workspace(self) -> None:
        """Writes every run as plain files."""
        folder = QFileDialog.getExistingDirectory(
            self._window, "Export all runs into a folder", self._window.settings.last_folder
        )
        if folder:
            self._store.history.exports.export(Path(folder))

    def export_findings(self) -> None:
        """Writes the findings that pass the filter of their dock as images and CSV."""
        folder = QFileDialog.getExistingDirectory(
            self._window, "Export findings into a folder", self._window.settings.last_folder
        )
        if folder:
            self._store.history.exports.export_findings(Path(folder), self._window.findings.shown())

    def export_made(self) -> None:
        """Writes the inputs that the run on show has made."""
        from robgui.gui.state.evidence.exporting import export_made

        panel = self._window.current_panel
        if panel is None or panel.analysis.export is None or panel.request is None:
            return
        export, name = panel.analysis.export, f"{panel.analysis.name}.npz"
        if path := self._ask_save(export.title, name, export.places):
            export_made(self._store, panel.request, panel.result, path)

    def make_tests(self) -> None:
        """Writes the starred findings as tests that a later model has to pass."""
        from robgui.gui.state.evidence import guarding

        folder = QFileDialog.getExistingDirectory(
            self._window,
            "Make tests of the starred findings in a folder",
            self._window.settings.last_folder,
        )
        if folder:
            guarding.make_tests(self._store, Path(folder))

    def write_report(self) -> None:
        """Writes the report, as one HTML file or as PDF by its ending."""
        # Drawn while the person chooses a name: the report is then written in a moment.
        self._store.history.exports.prepare_report()
        if path := self._ask_save("Write report", "report", _REPORTS):
            self._store.history.exports.write_report(path)

    def write_model_report(self) -> None:
        """Writes the report of the model in use alone."""
        model = self._store.library.model
        if model is None:
            return
        self._store.history.exports.prepare_report((model.fingerprint,))
        if path := self._ask_save(f"Write report of {model.name}", "report", _REPORTS):
            self._store.history.exports.write_report(path, models=(model.fingerprint,))

    def log_runs(self, tracker: str) -> None:
        """Logs every run of the workspace to a tracker of experiments."""
        workspace = self._store.history.workspace
        if workspace is not None:
            self._store.tracking.start(workspace.path, tracker)

    def ask_report_words(self) -> None:
        """Asks for the title, the text and the logo on top of every report of this workspace."""
        from robgui.gui.show.report_dialog import ReportDialog
        from robgui.report.own import read_own, write_own

        workspace = self._store.history.writable
        if workspace is None:
            self._store.say("info", "This workspace cannot be written to; save it as another one.")
            return
        dialog = ReportDialog(read_own(workspace), self._window)
        if dialog.exec():
            own = dialog.own()
            self._store.keeping.run(lambda: write_own(workspace, own))

    def save_picture(self) -> None:
        """Saves the views of the result on show; a film also as an animation."""
        exported = self.exported()
        if exported is None:
            return
        kinds = "PNG (*.png);;SVG (*.svg);;PDF (*.pdf)"
        if exported.film is not None:
            kinds += ";;GIF (*.gif);;MP4 (*.mp4)"
        if path := self._ask_save("Save picture", f"{export.slug(exported.title)}.png", kinds):
            self._write(lambda: export.save_picture(exported, path), f"Saved {path}.")

    def copy_picture(self) -> None:
        """Puts the picture of the result on show on the clipboard."""
        exported = self.exported()
        if exported is None:
            return

        def copied(pixels: np.ndarray) -> None:
            from robgui.gui.widgets.plots import to_qimage

            # The clipboard belongs to the GUI thread; only the drawing is done elsewhere.
            QApplication.clipboard().setImage(to_qimage(pixels))
            self._store.say("info", "Picture copied.")

        self._store.writing.run(lambda: export.to_pixels(exported), copied)

    def save_numbers(self) -> None:
        """Saves the numbers behind the picture."""
        exported = self.exported()
        if exported is None:
            return
        if path := self._ask_save(
            "Save numbers", f"{export.slug(exported.title)}.csv", "CSV (*.csv);;NPZ (*.npz)"
        ):
            self._store.writing.run(
                lambda: export.save_numbers(exported, path),
                lambda files: self._store.say(
                    "info", f"Saved {', '.join(file.name for file in files)} in {path.parent}."
                ),
            )

    def exported(self) -> export.Exported | None:
        """What the panel on show shows, with its origin; says so if there is nothing."""
        from robgui.gui.state.evidence.reopening import experiment_on_show

        panel = self._window.current_panel
        if panel is None or panel.result is None or panel.request is None:
            self._store.say(
                "info", "There is no picture yet; press Run, or show a run of the history."
            )
            return None
        # Read here, on the GUI thread: what is on show may change while the file is written.
        subject, provenance = self._store.subjects.words(panel.request), _provenance(panel)
        return export.Exported(
            tuple(panel.views()),
            panel.analysis.title,
            subject,
            provenance,
            experiment_on_show(self._store, panel),
        )

    def _write(self, work: Callable[[], None], sentence: str) -> None:
        """Writes a file away from the GUI thread, which also reports errors."""
        self._store.writing.run(work, lambda _: self._store.say("info", sentence))

    def _ask_save(self, title: str, name: str, kinds: str) -> Path | None:
        start = str(Path(self._window.settings.last_folder) / name)
        path = ask_file(self._window, title, start, kinds)
        if path is not None:
            self._window.settings.last_folder = str(path.parent)
        return path


def _provenance(panel: Panel) -> str:
    """Where a picture comes from: the program, the seed, the run."""
    if panel.run_id:
        run = f", run {panel.run_id}"
    else:
        run = ""
    return f"robgui {robgui.__version__}, {panel.analysis.title}, seed {panel.params.seed}{run}"
