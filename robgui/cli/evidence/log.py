"""``robgui log``: sends runs of a workspace to an installed experiment tracker."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.cli import Parser
from robgui.core.errors import ParamsError, WorkspaceError
from robgui.report.trackers.installed import TRACKERS, lacking

if TYPE_CHECKING:
    from robgui.report.trackers.mlflow_runs import MlflowRuns
    from robgui.report.trackers.wandb_runs import WandbRuns


def log(words: list[str]) -> int:
    """Logs each run with its settings, numbers, verdict and picture, and the report on all."""
    given = parser().parse_args(words)
    if not Path(given.workspace).exists():
        raise WorkspaceError(f"There is no workspace {given.workspace}; check the path.")
    if why := lacking(given.to):
        raise ParamsError(f"{why}.")
    from robgui.cli.printing import print_line
    from robgui.core.text.words import count
    from robgui.core.workspace import Workspace
    from robgui.report.trackers.record import chosen, record, whole_report

    with (
        Workspace.open(given.workspace, create=False) as workspace,
        tempfile.TemporaryDirectory(prefix="robgui-") as folder,
    ):
        chapters = chosen(workspace, given.run)
        tracker = _tracker(given.to, given.experiment)
        # Logging again after more runs adds only those.
        fresh = [one for one in chapters if not tracker.known(one.run.id)]
        for place, told in enumerate(fresh):
            own = Path(folder) / str(place)
            # One each: files of two runs have the same names.
            own.mkdir()
            tracker.add(record(workspace, told, own))
        if fresh:
            tracker.add(whole_report(workspace, Path(folder), chapters))
        tracker.close()
    old = len(chapters) - len(fresh)
    if old:
        before = f", {old:,} logged before"
    else:
        before = ""
    title = TRACKERS[given.to][0]
    print_line(f"{title}: {count(len(fresh), 'run')} logged{before}: {tracker.place}")
    return 0


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = Parser(
        prog="robgui log",
        description=(
            "Logs the runs of a workspace to MLflow or Weights & Biases, where that is installed:"
            " settings, numbers, verdict, picture, and the report on all of them."
        ),
        epilog=(
            "Nothing leaves this machine unless the tracker is set up so: MLflow follows"
            " MLFLOW_TRACKING_URI, Weights & Biases stays offline unless WANDB_MODE says otherwise."
        ),
        allow_abbrev=False,
    )
    made.add_argument("workspace", help="the workspace file (*.robgui)")
    made.add_argument("--to", required=True, choices=tuple(TRACKERS), help="which tracker")
    made.add_argument(
        "--run",
        action="append",
        default=[],
        metavar="ID",
        help="this run alone, by its name in the report (may be repeated)",
    )
    made.add_argument(
        "--experiment",
        default="robgui",
        metavar="NAME",
        help="experiment of MLflow, project of Weights & Biases [robgui]",
    )
    return made


def _tracker(name: str, experiment: str) -> MlflowRuns | WandbRuns:
    if name == "mlflow":
        from robgui.report.trackers.mlflow_runs import MlflowRuns

        return MlflowRuns(experiment)
    from robgui.report.trackers.wandb_runs import WandbRuns

    return WandbRuns(experiment)
