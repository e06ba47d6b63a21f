"""The map behind growing regions: the newest of the same network, scene and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapResult, RegionsResult
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.gui.state.store import Store

#: Newest maps that are searched; each is read whole from the workspace.
_LOOKED_AT = 8


class Backdrop(QObject):
    """Finds a finer map than the coarse one that regions come with.

    Signals:
        changed: Another map has been found.
    """

    changed = Signal()

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store
        self._map: MapResult | None = None

    def map_for(self, spec: str, result: RegionsResult) -> MapResult | None:
        """The map found last, if it is of the space of ``result``, whose scene is ``spec``."""
        if self._map is not None and same_space(self._map, spec, result):
            return self._map
        return None

    def ask(self, request: Request, spec: str, result: RegionsResult) -> None:
        """Looks for a map among the runs of the workspace, in the background."""
        workspace = self._store.history.workspace
        if workspace is None or self.map_for(spec, result) is not None:
            return
        runs = [run.id for run in self._store.history.runs if _may_fit(run, request)][:_LOOKED_AT]

        def read() -> Any:
            maps = (workspace.result(run) for run in runs)
            return next(
                (found for found in maps if found is not None and same_space(found, spec, result)),
                None,
            )

        def found(answer: MapResult | None) -> None:
            if answer is not None:
                self._map = answer
                self.changed.emit()

        if runs:
            self._store.background.run(read, found, key="semantic backdrop")


def same_space(found: MapResult, spec: str, result: RegionsResult) -> bool:
    """Whether a map shows the space in which regions grew."""
    if found.axes != result.axes or found.specs[0] != spec or found.shapes[0] != result.shape:
        return False
    if (
        found.networks[0] != result.network
        or found.target[0] != result.target
        or found.scene_axes != result.scene_axes
    ):
        return False
    varied = {axis.name for axis in result.axes}
    stands = [axis.name not in varied for axis in result.scene_axes]
    # Parameters that do not vary are held at some value, and another value is another space.
    return bool(np.allclose(found.values[stands], result.values[stands]))


def _may_fit(run: Run, request: Request) -> bool:
    """Of the same network, on the same input if there is one."""
    other = run.request
    if (
        other.analysis != "semantic_map"
        or not run.has_result
        or other.models[0].fingerprint != request.models[0].fingerprint
    ):
        return False
    # A scene of a mesh has no data; then both must have none.
    if other.dataset is None or request.dataset is None:
        return other.dataset is request.dataset
    same_input = (other.indices or ())[:1] == (request.indices or ())[:1]
    return other.dataset.fingerprint == request.dataset.fingerprint and same_input
