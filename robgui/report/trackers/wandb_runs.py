"""Records as runs of Weights & Biases: kept on this machine, unless WANDB_MODE says otherwise."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.errors import RobguiError
from robgui.report.trackers.installed import reason

if TYPE_CHECKING:
    from robgui.report.trackers.record import Record

#: What it would do by itself: tell its makers of errors, print, ask who the user is.
_SILENT = {"WANDB_ERROR_REPORTING": "false", "WANDB_SILENT": "true"}
_MODE = "WANDB_MODE"


class WandbRuns:
    """Writes records into one project of Weights & Biases.

    Args:
        experiment: Name of the project.
    """

    def __init__(self, experiment: str) -> None:
        for name, value in (*_SILENT.items(), (_MODE, "offline")):
            # Before the import, which reads them; what the user has set stays.
            os.environ.setdefault(name, value)
        import wandb

        self._wandb: Any = wandb
        self._project = experiment
        self._folder = ""

    @property
    def place(self) -> str:
        """Where the runs are kept."""
        if os.environ[_MODE] == "offline":
            later = "; 'wandb sync' sends them"
        else:
            later = ""
        return f"{self._folder or self._project}{later}"

    def known(self, run: str) -> bool:
        """A run has the same number there, so one that is logged again is the same."""
        return False

    def add(self, record: Record) -> None:
        """Logs one record as a finished run."""
        try:
            self._add(record)
        except Exception as error:  # it raises everything; the sentence keeps the reason
            raise RobguiError(
                f"Weights & Biases does not take it ({reason(error)}); check its settings"
                " (WANDB_MODE, WANDB_DIR)."
            ) from error

    def close(self) -> None:
        """Nothing is left open."""

    def _add(self, record: Record) -> None:
        # No machine name, program, source code or processor use.
        quiet = self._wandb.Settings(
            disable_git=True,
            disable_code=True,
            console="off",
            x_disable_stats=True,
            x_disable_meta=True,
            x_save_requirements=False,
            host="",
            username="",
        )
        run = self._wandb.init(
            project=self._project,
            # Longer names are refused there.
            name=record.name[:128],
            id=record.run or None,
            config=record.params,
            settings=quiet,
        )
        try:
            run.summary.update({**record.numbers, **record.tags})
            for path in record.files:  # Copied: what is only linked is gone when it is sent.
                run.save(shutil.copy(path, run.dir), base_path=run.dir, policy="now")
            self._folder = str(Path(run.dir).parent)
        finally:
            run.finish()
