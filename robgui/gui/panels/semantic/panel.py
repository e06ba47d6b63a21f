"""What the panels of the semantic method share: the scene's controls, the regions' starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from robgui.analyses.semantic.params import IMAGE
from robgui.gui.panels.empty_state import EmptyState
from robgui.gui.panels.panel import Panel
from robgui.gui.panels.semantic.scene import SceneControls
from robgui.gui.widgets.when_seen import WhenSeen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robgui.analyses.semantic import MapParams, MapResult, RegionsParams, RegionsResult
    from robgui.core.execution.request import Request
    from robgui.core.verdict import Verdict
    from robgui.gui.state.store import Store

REGIONS = "semantic_regions"


class ScenePage(WhenSeen, QWidget):
    """The place of the controls behind a tab."""


class ScenePanel(Panel):
    """A panel with its scene's controls: below the invitation while empty, then behind a tab."""

    most_axes = 2
    several = True

    def make_controls(self) -> QWidget:
        """The controls, and the place where they stand once there is a result."""
        self.controls = SceneControls(self.store, self.analysis.name, self.most_axes, self.several)
        self._scene_page, self._waiting = ScenePage(), QWidget()
        for place in (self._scene_page, self._waiting):
            layout = QVBoxLayout(place)
            layout.setContentsMargins(0, 0, 0, 0)
        return self._scene_page

    def clear(self) -> None:
        """Back to the empty state, with the scene to choose."""
        super().clear()
        # Drops a move that still waits for the tab, which would take the controls away again.
        self._scene_page.up_to_date()
        self._put(self._waiting)

    def show_result(self, request: Request, result: Any, verdict: Verdict | None) -> None:
        """Draws ``result``; the controls make room for it, and come when their tab is chosen."""
        self._scene_page.when_seen(self._put_behind)
        super().show_result(request, result, verdict)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window the controls need the room of the picture."""
        super().resizeEvent(event)
        self.empty.set_pictured(event.size().height() > 60 * self.fontMetrics().height())

    def _put_behind(self) -> None:
        self._put(self._scene_page)

    def _put(self, place: QWidget) -> None:
        layout = place.layout()
        # A widget has one parent: adding it here takes it out of the other place. Qt hides what it
        # moves, so it must be shown again.
        if layout is not None and self.controls.parentWidget() is not place:
            layout.addWidget(self.controls)
            self.controls.show()

    def _empty(self) -> EmptyState:
        """With the scene to choose below the words."""
        page = super()._empty()
        page.put_below(self._waiting)
        return page


def keep_narrow(box: QComboBox, characters: int) -> None:
    """Lets a chooser be narrower than its longest entry."""
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(characters)


def starts_on(store: Store, result: MapResult | RegionsResult) -> tuple[tuple[float, ...], ...]:
    """The starts in the form of semantic regions, if they are on the axes of this result."""
    # Starts are bare numbers; on other axes they would be marked in the wrong places.
    params: Any = store.next_run.params.get(REGIONS)
    names = tuple(axis.name for axis in result.axes)
    if params is None or any(len(start) != len(names) for start in params.starts):
        return ()
    if tuple(params.axes) == names:
        return tuple(params.starts)
    return ()


def offer_starts(
    store: Store,
    params: MapParams | RegionsParams,
    result: MapResult | RegionsResult,
    spec: str,
    starts: Sequence[tuple[float, ...]],
) -> None:
    """Fills the form of semantic regions: the scene of a result as it stood, and where to start."""
    varied = {axis.name for axis in result.axes}
    whole = {axis.name: (axis.low, axis.high) for axis in result.scene_axes}
    ranges = {
        axis.name: (axis.low, axis.high)
        for axis in result.axes
        # A range as wide as the scene's own is the form's default and no choice.
        if (axis.low, axis.high) != whole[axis.name]
    }
    stands = zip(result.scene_axes, result.values, strict=True)
    fixed = {
        axis.name: float(value)
        for axis, value in stands
        if axis.name not in varied and value != axis.default
    }
    values = {
        "scene": spec,
        "axes": tuple(axis.name for axis in result.axes),
        "span": params.span,
        "ranges": ranges,
        "fixed": fixed,
        "target": params.target if spec == IMAGE else _class_name(result, spec),
        "starts": tuple(starts),
        "up": params.up,
    }
    store.params_offered.emit(REGIONS, values)


def _class_name(result: MapResult | RegionsResult, spec: str) -> str:
    specs = getattr(result, "specs", None)
    target = int(result.target) if specs is None else int(result.target[specs.index(spec)])  # type: ignore[index]
    if target >= 0:
        return result.labels[target]
    return ""
