"""Asks what to do with a figure or report that carries the run behind it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QInputDialog, QMessageBox

from robgui.core.identify import Identity
from robgui.gui.widgets.plain import question, visible

if TYPE_CHECKING:
    from robgui.core.experiment import Experiment
    from robgui.gui.app.main_window import MainWindow
    from robgui.gui.state.evidence.reopening import FigureAction


class FigureQuestion:
    """Asks whether to go to the run that a dropped figure carries, or to set it up again.

    The figure loads and runs nothing: a run that is here is shown, and one that is not fills the
    form once its model and data are open.
    """

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._store = window.store

    def ask(self, path: Path, found: Identity) -> None:
        """Reads the record away from the GUI thread, then asks."""
        from robgui.gui.state.evidence.reopening import read_experiments

        self._store.background.run(
            lambda: read_experiments(path), lambda runs: self._choose(path, found, runs)
        )

    def _choose(self, path: Path, found: Identity, runs: list[Experiment]) -> None:
        from robgui.gui.state.evidence.reopening import way_of

        if len(runs) == 1:
            self._ask(path, found, way_of(self._store, runs[0]))
            return
        # Numbered: two runs may have one title, and the dialog gives back words only.
        titles = [f"{place}. {self._title(one)}" for place, one in enumerate(runs, 1)]
        chosen, sure = QInputDialog.getItem(
            self._window, "Runs of a report", "Which run do you want to see?", titles, 0, False
        )
        if sure:
            self._ask(path, found, way_of(self._store, runs[titles.index(chosen)]))

    def _ask(self, path: Path, found: Identity, way: FigureAction) -> None:
        said = way.experiment.printed
        if said is None:
            words = ""
        else:
            words = f"It says: {visible(said.sentence)}"
        box = question(
            "A figure with its run",
            f"{visible(path.name)} shows {self._title(way.experiment)}.",
            f"{words}\n\n{_what_next(way)}".strip(),
            self._window,
        )
        show = set_up = picture = None
        if way.run is not None:
            show = box.addButton("Show the run", QMessageBox.ButtonRole.AcceptRole)
        elif not way.missing and way.experiment.request.analysis in self._store.analyses:
            set_up = box.addButton("Set up the run", QMessageBox.ButtonRole.AcceptRole)
        if found.data is not None:
            picture = box.addButton("Open as a picture", QMessageBox.ButtonRole.ActionRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.exec()
        pressed = box.clickedButton()
        # With a parent it would live as long as the window.
        box.deleteLater()
        if way.run is not None and pressed is show:
            self._store.history.show_run(way.run)
        elif set_up is not None and pressed is set_up:
            self._set_up(way.experiment)
        elif picture is not None and pressed is picture:
            self._store.library.load_dataset(path)

    def _set_up(self, experiment: Experiment) -> None:
        request = experiment.request
        self._store.subjects.point_at(request)
        self._window.show_panel(request.analysis)
        self._store.params_offered.emit(request.analysis, dict(request.params))

    def _title(self, experiment: Experiment) -> str:
        from robgui.core.execution.request import subject

        request = experiment.request
        known = self._store.analyses.get(request.analysis)
        if known is None:
            title = request.analysis
        else:
            title = known.title
        return visible(f"{title}: {subject(request)}")


def _what_next(way: FigureAction) -> str:
    if way.run is not None:
        return "This run is in the workspace."
    if way.missing:
        names = visible(" and ".join(way.missing))
        return (
            f"This run is not in the workspace. To set it up, open {names} first, then drop the"
            " figure again; they are known by their content."
        )
    return "This run is not in the workspace. Its settings can be filled in; Run then starts it."
