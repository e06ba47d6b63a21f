"""Reopening: from a figure to the run behind it. It only asks; it loads and runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.core.errors import RobguiError
from robgui.core.experiment import Experiment, experiment_of, experiments_in

if TYPE_CHECKING:
    from robgui.core.execution.run import Run
    from robgui.gui.panels.panel import Panel
    from robgui.gui.state.store import Store


@dataclass(frozen=True)
class FigureAction:
    """What can be done with a figure that carries a run.

    Attributes:
        experiment: The run behind it.
        run: The same run in this workspace; None if it is not here.
        missing: The files that have to be opened before it can be set up, by name.
    """

    experiment: Experiment
    run: Run | None
    missing: tuple[str, ...]


def experiment_on_show(store: Store, panel: Panel) -> Experiment | None:
    """The run that a panel shows, as its picture will carry it."""
    from robgui.report.origin import experiment_of_run

    if panel.request is None or panel.result is None:
        return None
    run = next((one for one in store.history.runs if one.id == panel.run_id), None)
    if run is not None and run.verdict is not None:
        # The verdict as it is shown, beside all other evidence, and not as the run alone said it.
        return experiment_of_run(
            run, store.history.evidence.shown(run.verdict, run.request, run.id)
        )
    said = panel.analysis.verdict(panel.result, panel.params)
    return experiment_of(panel.request, said, state="running")


def read_experiments(path: Path) -> list[Experiment]:
    """The runs that a file carries; RobguiError if its record is damaged."""
    try:
        found = experiments_in(path)
    except OSError as error:
        raise RobguiError(f"{path} cannot be read ({error.strerror}); check the file.") from error
    # Pydantic's and json's errors are both ValueErrors.
    except ValueError as error:
        raise RobguiError(
            f"{path} carries the record of a run that is damaged; open the workspace it comes from"
            " instead."
        ) from error
    if not found:
        raise RobguiError(f"{path} carries no run with a result; open a workspace instead.")
    return found


def way_of(store: Store, experiment: Experiment) -> FigureAction:
    """What can be done here with a run that a figure carries."""
    request = experiment.request
    same = (run for run in store.history.runs if _fingerprint(run) == experiment.fingerprint)
    # A run that failed has the same fingerprint and nothing to draw.
    run = next((one for one in same if one.has_result), None)
    loaded = {model.fingerprint for model in store.library.models}
    loaded |= {data.fingerprint for data in store.library.datasets}
    wanted = (*request.models, *(() if request.dataset is None else (request.dataset,)))
    missing = tuple(one.name for one in wanted if one.fingerprint not in loaded)
    return FigureAction(experiment, run, missing)


def _fingerprint(run: Run) -> str:
    try:
        return run.request.fingerprint
    except RobguiError:  # Of another version of the program.
        return ""
