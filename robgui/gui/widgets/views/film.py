"""Film on the screen: one view after the other, by hand or by itself, with the name of its step."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from robgui.core.view import Film, Still, View, steadied
from robgui.gui.widgets.plots import Plot
from robgui.gui.widgets.timeline import Timeline
from robgui.gui.widgets.views.widget import ViewWidget


class FilmView(ViewWidget):
    """Draws a Film; what is pointed at and chosen is that of the view on show."""

    kind = Film

    def __init__(self, *, mini: bool = False, later: bool = False) -> None:
        self.screened: ViewWidget | None = None
        self._frames: tuple[Still, ...] = ()
        super().__init__(mini=mini, later=later)

    def build(self) -> None:
        """The view on show, and below it the steps."""
        self.timeline = Timeline("step")
        self.timeline.setVisible(not self.mini)
        box = QWidget()
        self._column = QVBoxLayout(box)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self._column.addWidget(self.timeline)
        self.put(box)
        # The view on show brings a foot of its own.
        self.foot.hide()
        self.timeline.moved.connect(self._show)

    def fits(self, view: View) -> bool:
        """Whether the frames are of the kind that is on show."""
        if not isinstance(view, Film):
            return False
        return self.screened is None or self.screened.fits(view.frames[0])

    @property
    def axes(self) -> Plot | None:
        """The plot of the view on show."""
        if self.screened is None:
            return None
        return self.screened.axes

    def draw(self, view: Film) -> None:
        """Follows the newest step, unless the user looks at another one."""
        # Late: the package imports this module.
        from robgui.gui.widgets.views import view_widget

        if self.screened is None:
            self.screened = view_widget(view.frames[0], mini=self.mini)
            self.screened.pointed.connect(self.pointed)
            self.screened.chosen.connect(self.chosen)
            self._column.insertWidget(0, self.screened, 1)
        # One range for all frames, so nothing jumps while it plays.
        self._frames = steadied(view).frames
        self.timeline.set_names(view.steps)
        self._show(self.timeline.place)

    def restyle(self) -> None:
        """The view on show listens to the theme itself."""

    def _show(self, place: int) -> None:
        if self.screened is not None and self._frames:
            self.screened.show_view(self._frames[min(place, len(self._frames) - 1)])
