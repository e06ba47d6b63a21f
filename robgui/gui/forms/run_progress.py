"""RunProgress: how far the run at work is, and which one it is where another page asked for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QProgressBar

from robgui.core.execution.run import RunState
from robgui.core.text.words import duration, time_left
from robgui.gui.widgets.plain import Label, set_tip

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution


class RunProgress:
    """A bar and the words below it.

    Attributes:
        bar: How far it is; it moves to the strip while the settings are folded.
        words: The time so far, the time left and what the engine says.
    """

    def __init__(self) -> None:
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName("Progress")
        self.words = Label(wordWrap=True)
        self.words.setProperty("role", "quiet")

    def show(self, job: Execution | None, other: str) -> None:
        """Shows how far ``job`` is.

        Args:
            job: None hides both.
            other: The title of its analysis, where the page on show is not its own.
        """
        self.bar.setVisible(job is not None)
        self.words.setVisible(job is not None)
        if job is None:
            return
        share, step = job.share, job.newest
        if share is None:
            # Qt's way to say that nobody knows: a bar that moves without filling.
            self.bar.setRange(0, 0)
        else:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * share))
        note = f". {step.note}" if step is not None and step.note else ""
        whose = f"{other}: " if other else ""
        self.words.setText(f"{whose}{duration(job.seconds)} so far, {_time_left(job)}{note}")
        set_tip(self.bar, self.words.text())


def _time_left(job: Execution) -> str:
    if job.state is RunState.PAUSED:
        return "paused"
    left = job.seconds_left
    if left is None:
        return "starting" if job.newest is None else "time left not known yet"
    return time_left(left)
