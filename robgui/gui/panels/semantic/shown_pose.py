"""ShownPose: what the network sees at a place of the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.analyses.semantic.words import place_words
from robgui.gui.panels.semantic.map_facts import MEAN, at_of
from robgui.gui.panels.semantic.preview import Looker, place_of
from robgui.gui.panels.semantic.seen import ScenePicture

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapResult
    from robgui.gui.panels.semantic.map import SemanticMapPanel
    from robgui.gui.panels.semantic.preview import PoseView


class ShownPose:
    """The picture under the mouse, or else the one at the place that was clicked.

    Attributes:
        pointed: What the model makes of the place that was clicked; None before one is.
        which: The network and the shape of that picture.
        inset: The picture over the map, where there is no room beside it.
    """

    def __init__(self, panel: SemanticMapPanel) -> None:
        self._panel = panel
        self.pointed: PoseView | None = None
        self.which: tuple[int, int] = (0, 0)
        self.inset = ScenePicture("Rendered picture")
        self.inset.setParent(panel.view)
        # A plain QWidget paints no ground of its own: the map would show through around the
        # picture.
        self.inset.setAutoFillBackground(True)
        self.inset.hide()
        # One key each: a hover must not cancel the look at the place that was clicked.
        self._hovering = Looker(panel.store, "semantic hover")
        self._pointing = Looker(panel.store, "semantic point")

    def clear(self) -> None:
        """Nothing is pointed at."""
        self.pointed = None

    def hover(self, point: tuple[float, ...], nearest: int = MEAN) -> None:
        """Shows a place for as long as the mouse is there.

        ``nearest`` is the network whose curve it points at.
        """
        self._look(self._hovering, point, nearest, keep=False)

    def point_at(self, point: tuple[float, ...], nearest: int = MEAN) -> None:
        """Shows a place that was clicked; it stays."""
        self._look(self._pointing, point, nearest, keep=True)

    def leave(self) -> None:
        """The mouse is elsewhere: back to the place that was clicked."""
        self._hovering.drop()
        self.show_pointed()

    def show_pointed(self) -> None:
        """The place that was clicked; before anything is, the scene as it stands."""
        if self.pointed is not None:
            self._show(self.pointed, self.which)
            return
        self.inset.hide()
        result = self._panel.result
        if result is not None and result.computed.all():
            self.hover(tuple(min(max(a.default, a.low), a.high) for a in result.axes))

    def looked_at(self, nearest: int = MEAN) -> tuple[int, int]:
        """The network and shape of a picture: those on show, the first where a mean is shown."""
        network, shape = self._panel.which
        return nearest if nearest >= 0 else max(0, network), max(0, shape)

    def _look(self, looker: Looker, point: tuple[float, ...], nearest: int, *, keep: bool) -> None:
        panel, result, which = self._panel, self._panel.result, self.looked_at(nearest)
        if panel.request is None or result is None:
            return
        where = place_of(panel.store, panel.request, panel.params, result, point, which)
        if isinstance(where, str):
            panel.here.show_words(where)
            return

        def seen(look: PoseView) -> None:
            if keep:
                self.pointed, self.which = look, which
                panel.send.refresh()
                # A place with the wanted class is no failure, so there is nothing to keep as a
                # finding.
                panel.star.setEnabled(look.classes[0] != int(result.target[which[1]]))
            self._show(look, which)
            # A path plays at the pace of the model: its next step waits for this picture.
            panel.path.arrived()

        looker.look(where, seen, lambda sentence, _: panel.here.show_words(sentence))

    def _show(self, look: PoseView, which: tuple[int, int]) -> None:
        panel, view, result = self._panel, self._panel.view, self._panel.result
        if result is None:
            return
        target = int(result.target[which[1]])
        panel.here.show_look(look, _words_at(result, look, which), target, result.labels)
        width = max(96, view.width() // 4)
        height = min(width, view.height() * 3 // 5)
        self.inset.setGeometry(view.width() - width, 0, width, height)
        self.inset.show_picture(look.picture)
        self.inset.setVisible(panel.stage.narrow)


def _words_at(result: MapResult, look: PoseView, which: tuple[int, int]) -> str:
    words = [place_words(result.axes, at_of(result, look)).capitalize()]
    words += [result.networks[which[0]]] if len(result.networks) > 1 else []
    words += [result.shapes[which[1]]] if len(result.shapes) > 1 else []
    return ", ".join(words)
