"""Program: a command of robgui in a process of its own, while the window goes on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Signal

#: Milliseconds that a process gets to go when the window closes.
_LEAVE = 2000


class Program(QObject):
    """One command at a time.

    Signals:
        told: Lines that it wrote to its standard error on the way.
        ended: ``(code, output)``: its exit code and all of its standard output.
        refused: It cannot be started on this machine.
    """

    told = Signal(str)
    ended = Signal(int, str)
    refused = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process = QProcess(self)
        self._process.readyReadStandardError.connect(self._read)
        self._process.finished.connect(self._end)
        self._process.errorOccurred.connect(self._fail)

    @property
    def running(self) -> bool:
        """Whether one is under way."""
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def start(self, words: Sequence[str], folder: Path | None = None) -> None:
        """Begins a command, as the command line takes it, in a folder."""
        frozen = bool(getattr(sys, "frozen", False))
        if frozen:
            # A frozen program takes the words itself, without -m.
            itself = []
        else:
            # -P: a file called robgui.py in the working directory must not be run instead.
            itself = ["-P", "-m", "robgui"]
        if folder is not None:
            self._process.setWorkingDirectory(str(folder))
        self._process.start(sys.executable, [*itself, *words])

    def stop(self) -> None:
        """Kills it early; ``ended`` is still emitted."""
        # On Windows a console program never hears terminate().
        self._process.kill()

    def close(self) -> None:
        """Kills it if it is running, without a signal."""
        # Whoever listens may be half destroyed by the time the process has gone.
        self._process.blockSignals(True)
        if self.running:
            self._process.kill()
            # A QProcess that is destroyed before its process has gone warns and blocks.
            self._process.waitForFinished(_LEAVE)

    def _read(self) -> None:
        if text := _text(self._process.readAllStandardError().data()):
            self.told.emit(text)

    def _end(self, code: int) -> None:
        # What it wrote last may not have been signalled yet.
        self._read()
        self.ended.emit(code, _text(self._process.readAllStandardOutput().data()).strip())

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self.refused.emit()


def _text(data: bytes | bytearray | memoryview) -> str:
    return bytes(data).decode("utf-8", "replace")
