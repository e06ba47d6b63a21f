"""ViewWidget: one View on the screen, drawn in place, with a read-out of the pointer below it."""

from __future__ import annotations

from typing import Any, ClassVar

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy, QVBoxLayout, QWidget

from robgui.core.view import View
from robgui.gui.app.theme import Themed, theme
from robgui.gui.widgets.elided import beginning
from robgui.gui.widgets.plain import Label, unbroken
from robgui.gui.widgets.plots import Plot
from robgui.gui.widgets.views.callout import Callout
from robgui.gui.widgets.when_seen import in_turn

#: A small picture lower than this many lines of text has no titles at its axes.
TITLED = 12


class ViewWidget(Themed, QWidget):
    """Draws views of one kind; the next view of that kind changes the picture, nothing is rebuilt.

    A subclass sets ``kind``, makes its picture in ``build`` and fills it in ``draw``.

    Args:
        mini: Small and to be looked at only: no legend, no note, no mouse.
        later: The picture is made with the first view that is drawn, not at once.

    Attributes:
        built: Whether the picture is made.
        foot: The note below the picture, and what the pointer stands on.

    Signals:
        made: The picture is made; what else belongs into it can be added.
        pointed: What stands at the pointer, in words; empty when it has left.
        chosen: What was clicked; each kind says what that is.
    """

    made = Signal()
    pointed = Signal(str)
    chosen = Signal(object)

    kind: ClassVar[type[Any]]

    def __init__(self, *, mini: bool = False, later: bool = False) -> None:
        super().__init__()
        self.mini = mini
        self.built = False
        self._by_turns = self._due_soon = False
        self.setProperty("role", "surface")
        # A subclass of QWidget paints no ground from a style sheet without this.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.view: Any = None
        self.foot = Foot()
        self.foot.setVisible(not mini)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self._layout.addWidget(self.foot)
        if mini:
            # A click on a small picture is meant for the card around it.
            self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self.look_changed)
        if not later:
            self._make()

    def build(self) -> None:
        """Makes the picture and gives it to ``put``; called once."""
        raise NotImplementedError

    def _make(self) -> None:
        if not self.built:
            self.build()
            self.built = True
            self.made.emit()

    @property
    def complete(self) -> bool:
        """Whether what can be seen of it is drawn."""
        return not self._due_soon

    def show_view(self, view: View) -> None:
        """Shows ``view``, which must be of this widget's kind."""
        self._take(view)
        self.up_to_date()
        self._make()
        self.draw(view)

    def keep_view(self, view: View, *, by_turns: bool = False) -> None:
        """Takes ``view`` and draws it when it is looked at: now, or when it is next shown.

        Args:
            view: Of this widget's kind.
            by_turns: A run goes on and the window must answer: the first view comes in three turns
                of the event loop, in which the picture is made, filled and painted.
        """
        self._take(view)
        self._by_turns = by_turns
        self.when_seen(self._draw_kept)

    def _draw_kept(self) -> None:
        """Draws the view that was taken last; to take over a theme alone may draw less."""
        # Its turns have begun, and they end with the newest view.
        if self._due_soon:
            return
        if self._by_turns and not self.built:
            self._due_soon = True
            in_turn(self, self._make_soon)
        elif self.view is not None:
            self._make()
            self._fill()

    def _fill(self) -> None:
        self.draw(self.view)
        for plot in self.findChildren(pg.GraphicsView):
            # What a new range moves: done while painting, it would be painted twice.
            plot.scene().prepareForPaint()

    def hurry(self) -> None:
        """The user waits for it: once it is shown it is drawn at once."""
        self._by_turns = False

    def _make_soon(self) -> None:
        self.setUpdatesEnabled(False)  # An empty picture would be painted too.
        self._make()
        in_turn(self, self._fill_soon)

    def _fill_soon(self) -> None:
        # Hidden meanwhile: it is drawn when it is next shown.
        if not self.isVisible():
            self._paint_soon(None)
            return
        filled = self.view
        self._fill()
        in_turn(self, lambda: self._paint_soon(filled))

    def _paint_soon(self, filled: View | None) -> None:
        """Lets the first view be painted; what came since is drawn at the next occasion."""
        self._due_soon = False
        self.setUpdatesEnabled(True)
        if self.view is not filled:
            self.when_seen(self._draw_kept)

    def _take(self, view: View) -> None:
        if not self.fits(view):
            kinds = f"{self.kind.__name__}, not {type(view).__name__}"
            raise TypeError(f"{type(self).__name__} draws {kinds}")
        self.view = view
        self.setAccessibleName(view.title)
        self.setAccessibleDescription(view.note)
        self.foot.set_note(view.note)

    def fits(self, view: View) -> bool:
        """Whether it can draw ``view``."""
        return isinstance(view, self.kind)

    def draw(self, view: Any) -> None:
        """Gives the items of the picture their new data."""
        raise NotImplementedError

    def restyle(self) -> None:
        """Takes over the present theme."""
        if self.view is not None:
            self.draw(self.view)

    def apply_theme(self) -> None:
        """Takes over a theme that was chosen while it was hidden."""
        if self.built:
            self.restyle()

    @property
    def axes(self) -> Plot | None:
        """The plot it draws into, whose axes may be linked; None for a picture without axes."""
        return None

    def callouts(self) -> list[Callout]:
        """What to explain in the picture, and where it stands."""
        return []

    def put(self, picture: QWidget) -> None:
        """Puts the picture above the note."""
        self._layout.insertWidget(0, picture, 1)
        if self.mini:
            # Tab would stop at every small picture of a page.
            picture.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            parts: list[QWidget] = [picture, *picture.findChildren(Plot)]
            for part in parts:
                part.setMinimumSize(1, 1)  # It takes the room of its card, however little.
        if self.mini and isinstance(picture, QAbstractScrollArea):
            picture.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            picture.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def tell(self, words: str) -> None:
        """Reads out what stands at the pointer."""
        self.foot.set_words(words)
        self.pointed.emit(words)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A small picture gives the room of its titles to what it shows."""
        super().resizeEvent(event)
        if self.mini and self.axes is not None:
            self.axes.set_titled(self.height() >= self.fontMetrics().height() * TITLED)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer has left: nothing is read out."""
        super().leaveEvent(event)
        if self.built:
            self.tell("")

    def sizeHint(self) -> QSize:
        """A picture takes the room that it is given."""
        return QSize(320, 240)


class Foot(Label):
    """The note of a view, and in its place what stands at the pointer; the height stays."""

    def __init__(self) -> None:
        super().__init__(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.setProperty("role", "quiet")
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setContentsMargins(6, 0, 6, 0)
        # What stands at the pointer may be long, and must not widen the picture.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._note = self._words = ""
        self._hold()

    def set_note(self, note: str) -> None:
        """What stands there while nothing is pointed at."""
        if (note := unbroken(note)) != self._note:
            self._note = note
            self._hold()

    def set_words(self, words: str) -> None:
        """What stands at the pointer; empty brings the note back."""
        if words != self._words:
            self._words = words
            self._write()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width takes another number of lines."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._hold()

    def changeEvent(self, event: QEvent) -> None:
        """Larger letters take more height, also where the width stays."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._hold()

    def _hold(self) -> None:
        metrics, line = self.fontMetrics(), self.fontMetrics().lineSpacing()
        flags = Qt.TextFlag.TextWordWrap.value
        room = self.contentsRect().adjusted(0, 0, 0, 10_000)
        needed = 0
        # Squeezed to almost nothing, the note would take dozens of lines.
        if self.width() > 40:
            needed = metrics.boundingRect(room, flags, self._note).height()
        self.setFixedHeight(max(line, needed) + 2)
        self._write()

    def _write(self) -> None:
        if not self._words:
            self.setText(self._note)
            return
        lines = max(1, self.height() // self.fontMetrics().lineSpacing())
        # Lines break at words, so all but the last lose a part of their width.
        room = int(self.contentsRect().width() * (lines if lines == 1 else lines - 0.3))
        words = beginning(self._words, self.fontMetrics(), room)
        self.setText(words)
