"""Exports: what is written of the open workspace for others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace
    from robgui.gui.state.background import Background
    from robgui.gui.state.history.history import History


class Exports:
    """Writes plain files, findings and reports, and announces where each is.

    Args:
        history: The open workspace.
        background: Writes what is quick.
        writing: Writes reports.
    """

    def __init__(self, history: History, background: Background, writing: Background) -> None:
        self._history = history
        self._background = background
        self._writing = writing

    def export(self, folder: Path) -> None:
        """Writes every run and finding as plain files into ``folder``."""
        workspace = self._history.need()
        self._background.run(
            lambda: workspace.export(folder),
            lambda _: self._history.said.emit("info", f"Exported to {folder}.", ""),
        )

    def export_findings(self, folder: Path, ids: Sequence[int] | None = None) -> None:
        """Writes these findings, or all, as images and one CSV file into ``folder``."""
        workspace = self._history.need()

        def written(count: int) -> None:
            many = f"{count:,} finding{'' if count == 1 else 's'}"
            self._history.offered.emit(
                f"Exported {many} to {folder}, as images and findings.csv.",
                "Open",
                lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))),
            )

        self._background.run(lambda: _export_findings(workspace, folder, ids), written)

    def prepare_report(self, models: Collection[str] = ()) -> None:
        """Draws the pictures of a report of these models while somebody chooses where it goes."""
        workspace = self._history.need()

        def draw(each: list[Callable[[], object]]) -> None:
            for one in each:  # one by one: whoever quits waits for none of them
                self._writing.run(one)

        # Keyed: the drawings of a report that was asked for before are no longer wanted.
        self._writing.run(lambda: _drawings(workspace, models), draw, key="prepare report")

    def write_report(
        self,
        path: Path,
        done: Callable[[], None] | None = None,
        models: Collection[str] = (),
    ) -> None:
        """Writes the report as HTML or PDF, by the ending of ``path``, then calls ``done``.

        Args:
            path: Where.
            done: What comes after it.
            models: The fingerprints of the models it is about; empty for all.
        """
        workspace = self._history.need()
        # On a thread of its own: a long report must hold up neither notes nor openings.
        self._history.working.emit("Writing the report …")

        def written(_: Any) -> None:
            self._history.working.emit("")
            self._history.offered.emit(
                f"Report written: {path}",
                "Open",
                lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))),
            )
            if done is not None:
                done()

        def failed(sentence: str, details: str) -> None:
            self._history.working.emit("")
            self._history.said.emit("error", sentence, details)

        self._writing.run(
            lambda: write_workspace_report(workspace, path, models), written, failed=failed
        )


def _drawings(workspace: Workspace, models: Collection[str]) -> list[Callable[[], object]]:
    from robgui.report.contents import Scope
    from robgui.report.kept import KEPT
    from robgui.report.writing import drawings

    KEPT.use_shelf()
    return drawings(workspace, Scope(frozenset(models)))


def write_workspace_report(workspace: Workspace, path: Path, models: Collection[str] = ()) -> None:
    """Writes the report of a workspace, with the drawings that earlier ones have left."""
    from robgui.report.contents import Scope
    from robgui.report.kept import KEPT
    from robgui.report.writing import write_report

    KEPT.use_shelf()
    write_report(workspace, path, Scope(frozenset(models)))


def _export_findings(workspace: Workspace, folder: Path, ids: Sequence[int] | None) -> int:
    from robgui.core.workspace.export import export_findings

    return export_findings(workspace, folder, ids)
