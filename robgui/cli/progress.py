"""Progress on stderr: a bar in a terminal, a line per ten per cent elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

from robgui.cli.printing import plain
from robgui.core.text.words import duration, rough_percent, time_left

if TYPE_CHECKING:
    from robgui.core.execution.step import Step

_WIDTH = 30
#: Shortest bar that says anything.
_NARROWEST = 8
#: Seconds, and share of the work, before the time left is more than a wild guess and is shown.
_GUESS_AFTER, _FIRST_SHARE = 1.0, 0.002
#: A terminal far away must not be flooded with lines that nobody can read.
_REDRAW_SECONDS = 0.1


class ProgressLine:
    """Shows how far a run is and how long it will take; ``close`` leaves a clean line.

    Attributes:
        title: What stands before the bar; may change on the way.
    """

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self.title = title
        self._stream = stream or sys.stderr
        # Emacs' shell is a terminal that cannot erase a line.
        self._terminal = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._began: float | None = None
        self._drawn = 0.0
        self._tenth = -1

    def show(self, step: Step[Any]) -> None:
        """Draws if there is something new to show."""
        now = time.monotonic()
        if self._began is None:  # The time spent opening files says nothing about the work.
            self._began = now
        ended = step.total is not None and step.done >= step.total
        if self._terminal and (ended or now - self._drawn >= _REDRAW_SECONDS):
            self._drawn = now
            columns = shutil.get_terminal_size().columns
            # Back to the start, and EL of ECMA-48 erases the line. One column less: a full line
            # would wrap, and leave a copy behind at every redraw.
            self._stream.write(f"\r\x1b[K{plain(self._bar(step, columns))[: max(1, columns - 1)]}")
            self._stream.flush()
        elif not self._terminal and step.total and step.done * 10 // step.total > self._tenth:
            self._tenth = step.done * 10 // step.total
            self._stream.write(f"{plain(self.title)}: {self._words(step)}\n")
            self._stream.flush()

    def say(self, sentence: str) -> None:
        """Writes a line above the bar."""
        self._stream.write(
            f"\r\x1b[K{plain(sentence)}\n" if self._terminal else f"{plain(sentence)}\n"
        )
        self._stream.flush()

    def close(self) -> None:
        """Removes the bar."""
        if self._terminal and self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _bar(self, step: Step[Any], columns: int) -> str:
        """Title, bar and words; in a narrow terminal the bar shrinks first, then the title."""
        if step.total:
            share = min(1.0, step.done / step.total)
        else:
            share = 0.0
        words = self._words(step)
        width = min(_WIDTH, columns - 1 - len(self.title) - len(words) - 4)
        if width < _NARROWEST:
            if len(self.title) + len(words) + 1 < columns:
                return f"{self.title} {words}"
            return words
        filled = round(share * width)
        return f"{self.title} [{'#' * filled}{'.' * (width - filled)}] {words}"

    def _words(self, step: Step[Any]) -> str:
        if self._began is None:
            spent = 0.0
        else:
            spent = time.monotonic() - self._began
        if not step.total:
            return f"{step.done:,} done, {duration(spent)}"
        share = min(1.0, step.done / step.total)
        if _FIRST_SHARE <= share < 1 and spent >= _GUESS_AFTER:
            left = f", {time_left(spent * (1 - share) / share)}"
        else:
            left = ""
        return f"{rough_percent(share)}{left}"
