"""Whether to quit while something runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMessageBox, QWidget

from robgui.core.text.words import count
from robgui.gui.widgets.plain import question

if TYPE_CHECKING:
    from robgui.gui.state.store import Store


def may_quit(store: Store, window: QWidget) -> bool:
    """Asks whether to stop what is running; yes if nothing runs."""
    runner = store.runner
    jobs = [job for job in runner.executions if not job.state.ended]
    if not jobs:
        return True
    waiting = len([job for job in jobs if job in runner.waits])
    first = store.analyses[jobs[0].request.analysis].title
    if len(jobs) - waiting > 1:
        going = count(len(jobs) - waiting - 1, "other run")
    else:
        going = ""
    if going:
        head = f"{first} and {going} are"
    else:
        head = f"{first} is"
    others = queued = ""
    if waiting:
        one = waiting == 1
        others = f" and {waiting:,} more {'run waits' if one else 'runs wait'}"
        queued = (
            f" The waiting {'run stays' if one else 'runs stay'} queued and can be started next"
            " time."
        )
    if going:
        they, have = ("they are", "they have")
    else:
        they, have = ("it is", "it has")
    kept = f"If you quit now, {they} stopped and what {have} found so far is kept.{queued}"
    box = question("Quit robgui", f"{head} still running{others}.", kept, window)
    leave = box.addButton("Stop and quit", QMessageBox.ButtonRole.DestructiveRole)
    stay = box.addButton("Keep running", QMessageBox.ButtonRole.RejectRole)
    # Neither Return nor Escape may end hours of computing.
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.exec()
    return box.clickedButton() is leave
