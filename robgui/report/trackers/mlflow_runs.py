"""Records as runs of MLflow, where MLFLOW_TRACKING_URI says or where MLflow puts them itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from robgui.core.errors import RobguiError
from robgui.report.trackers.installed import reason

if TYPE_CHECKING:
    from robgui.report.trackers.record import Record

#: MLflow tells its makers how it is used, unless it is asked not to.
_SILENT = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}


class MlflowRuns:
    """Writes records into one experiment of MLflow.

    Args:
        experiment: Its name; made if there is none.
    """

    def __init__(self, experiment: str) -> None:
        # Before the import: it may tell at once.
        os.environ.update(_SILENT)
        from mlflow import MlflowClient

        try:
            self._client: Any = MlflowClient()
            known = self._client.get_experiment_by_name(experiment)
            if known is not None:
                self._experiment = known.experiment_id
            else:
                self._experiment = self._client.create_experiment(experiment)
        except Exception as error:  # its stores raise everything; the sentence keeps the reason
            raise RobguiError(_said(error)) from error

    @property
    def place(self) -> str:
        """Where the runs are kept."""
        return str(self._client.tracking_uri)

    def known(self, run: str) -> bool:
        """Whether a run of the workspace was logged before."""
        # Backquotes, because the name of the tag has a dot.
        found = self._client.search_runs(
            [self._experiment], f"tags.`robgui.run` = '{run}'", max_results=1
        )
        return bool(found)

    def add(self, record: Record) -> None:
        """Logs one record as a finished run."""
        try:
            self._add(record)
        except Exception as error:  # as above
            raise RobguiError(_said(error)) from error

    def close(self) -> None:
        """Nothing is left open."""

    def _add(self, record: Record) -> None:
        from mlflow.entities import Metric, Param, RunTag

        tags = {"mlflow.runName": record.name, **record.tags}
        made = self._client.create_run(self._experiment, run_name=record.name)
        number, when = made.info.run_id, made.info.start_time
        self._client.log_batch(
            number,
            [Metric(name, value, when, 0) for name, value in record.numbers.items()],
            [Param(name, value) for name, value in record.params.items()],
            [RunTag(name, value) for name, value in tags.items()],
        )
        for path in record.files:
            self._client.log_artifact(number, str(path))
        self._client.set_terminated(number)


def _said(error: Exception) -> str:
    return f"MLflow does not take it ({reason(error)}); check MLFLOW_TRACKING_URI."
