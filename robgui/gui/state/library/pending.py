"""Pending: background work of the library, with words for the status bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from robgui.gui.state.background import Background


class Pending(QObject):
    """Runs pieces of work one after another and announces the first.

    Args:
        background: Does what ends soon.
        opening: Does what has to wait for a model, which may take for ever.
        parent: Who owns it.

    Signals:
        working: What is being done now, in words; empty when idle.
        failed: ``(sentence, details)``.
    """

    working = Signal(str)
    failed = Signal(str, str)

    def __init__(
        self, background: Background, opening: Background, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background, self._opening = background, opening
        self._under_way: list[str] = []
        self._loading: list[str] = []
        self._left = 0

    @property
    def loading(self) -> str:
        """Which file is being read now, in words; empty when none is."""
        if self._loading:
            return self._loading[0]
        return ""

    def leave(self) -> None:
        """Lets go of the answers to whatever quiet work is under way."""
        self._left += 1

    def run(
        self,
        words: str,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        *,
        loads: bool = False,
        asks: bool = False,
        quiet: bool = False,
    ) -> None:
        """Does a piece of work.

        Args:
            words: What is being done.
            work: Does it, on another thread.
            done: Takes the answer, here.
            loads: Whether a file is read.
            asks: Whether a model has to answer.
            quiet: Whether it is part of a larger step, which ``leave`` ends.
        """
        # Empty pages say what is being loaded; the status bar says everything.
        lists = (self._under_way, self._loading) if loads else (self._under_way,)
        for waiting in lists:
            waiting.append(words)

        left = self._left

        def over() -> None:
            for waiting in lists:
                waiting.remove(words)
            self._tell()

        def answered(answer: Any) -> None:
            over()
            # Left meanwhile: the answer belongs to a workspace that is no longer open.
            if not quiet or left == self._left:
                done(answer)

        def failed(sentence: str, details: str) -> None:
            over()
            self.failed.emit(sentence, details)

        if asks:
            thread = self._opening
        else:
            thread = self._background
        thread.run(work, answered, failed=failed)
        self._tell()

    def _tell(self) -> None:
        self.working.emit(self._under_way[0] if self._under_way else "")
