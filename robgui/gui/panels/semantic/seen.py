"""A rendered picture with the best classes below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from robgui.analyses.semantic.result import TOP
from robgui.core.text.words import percent
from robgui.core.view import Ink, class_inks
from robgui.gui.app.theme import theme
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.plain import Label, set_tip
from robgui.gui.widgets.plots import to_qimage

#: Lower than this many lines of text the hint makes room for the picture.
LOW = 36

if TYPE_CHECKING:
    from robgui.gui.panels.semantic.preview import PoseView


class ScenePicture(QWidget):
    """One picture, as large as there is room, its pixels square.

    Words in its place when there is none.

    Attributes:
        pixmap: What is shown; None while there is no picture.
        words: What stands in its place.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.pixmap: QPixmap | None = None
        self.words = ""
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(48, 48)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        side = self.fontMetrics().height() * 10
        return QSize(side, side)

    @property
    def shown(self) -> bool:
        """Whether there is a picture."""
        return self.pixmap is not None

    def show_picture(self, picture: np.ndarray | None, words: str = "") -> None:
        """Shows uint8 ``(h, w, 3)``, or ``words`` without one."""
        if picture is None:
            self.pixmap = None
        else:
            self.pixmap = QPixmap.fromImage(to_qimage(picture))
        self.words = words
        self.setAccessibleDescription(words)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """No higher than wide, so words below stay near."""
        super().resizeEvent(event)
        self.setMaximumHeight(max(48, event.size().width()))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.pixmap is None:
            painter.setPen(QColor(theme.colours.quiet))
            flags = Qt.AlignmentFlag.AlignCenter.value | Qt.TextFlag.TextWordWrap.value
            painter.drawText(QRectF(self.rect()).adjusted(4, 4, -4, -4), flags, self.words)
            return
        side = self.pixmap.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        place = QRectF(
            (self.width() - side.width()) / 2,
            (self.height() - side.height()) / 2,
            side.width(),
            side.height(),
        )
        # Small inputs keep their pixels as squares, the way the network gets them.
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.pixmap.width() > 64)
        painter.drawPixmap(place, self.pixmap, QRectF(self.pixmap.rect()))
        painter.setPen(QColor(theme.colours.line))
        # A rectangle of a pen is one pixel wider and higher than its size; its right and bottom
        # edge would be cut off.
        painter.drawRect(place.adjusted(0, 0, -1, -1))


class Shares(QWidget):
    """Classes with their scores as bars in their colours, the best on top.

    The class that is looked at has a dot.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[tuple[Ink, float, bool], ...] = ()
        self.setAccessibleName("Best classes")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(line * 8, (line + 4) * (len(self.rows) or TOP))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def show_shares(
        self, classes: Sequence[Ink], shares: Sequence[float], wanted: Sequence[bool]
    ) -> None:
        """Shows these classes."""
        before = len(self.rows)
        self.rows = tuple(zip(classes, shares, wanted, strict=True))
        if len(self.rows) != before:
            self.updateGeometry()
        words = ", ".join(f"{ink.name} {percent(share)}" for ink, share, _ in self.rows)
        self.setAccessibleDescription(words)
        set_tip(self, "\n".join(f"{ink.name}: {percent(share)}" for ink, share, _ in self.rows))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics, colours = self.fontMetrics(), theme.colours
        line = metrics.height() + 4
        for row, (ink, share, wanted) in enumerate(self.rows):
            box = QRectF(0, row * line + 1, self.width(), line - 2)
            # Pale, because the name of the class is written over the bar.
            fill = colour(ink, 0.4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.raised))
            painter.drawRoundedRect(box, 3, 3)
            painter.setBrush(fill)
            painter.drawRoundedRect(
                QRectF(box.x(), box.y(), max(2.0, box.width() * min(1.0, share)), box.height()),
                3,
                3,
            )
            painter.setPen(QColor(colours.text))
            figure = percent(share)
            room = self.width() - 12 - metrics.horizontalAdvance(figure) - 8
            text = metrics.elidedText(
                f"● {ink.name}" if wanted else ink.name, Qt.TextElideMode.ElideMiddle, int(room)
            )
            painter.drawText(box.adjusted(6, 0, -6, 0), Qt.AlignmentFlag.AlignVCenter.value, text)
            painter.drawText(
                box.adjusted(6, 0, -6, 0),
                (Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight).value,
                figure,
            )


class Seen(QWidget):
    """A picture, where it is, and the best classes."""

    def __init__(self, hint: str) -> None:
        super().__init__()
        self._hint = hint
        self.caption = Label(wordWrap=True)
        self.picture = ScenePicture("Rendered picture")
        self.shares = Shares()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.picture, 1)
        layout.addWidget(self.caption)
        layout.addWidget(self.shares)
        self.tip = Label(hint, wordWrap=True)
        self.tip.setProperty("role", "quiet")
        layout.addWidget(self.tip)
        layout.addStretch()
        self.show_words("")

    def show_look(self, look: PoseView, caption: str, target: int, labels: Sequence[str]) -> None:
        """Shows a picture with its classes.

        Args:
            look: What is seen.
            caption: Where.
            target: The class of the map.
            labels: All classes of the network, whose colours follow from them.
        """
        self.picture.show_picture(look.picture, caption)
        kept = look.classes[0] == target
        self.caption.setText(f"{caption}: {'✓' if kept else '✗'} {look.names[0]}")
        self.caption.setProperty("role", "good" if kept else "bad")
        self.caption.style().polish(self.caption)
        self.caption.show()
        self._give_room()
        inks = class_inks(look.names, labels)
        self.shares.show_shares(inks, look.shares, [c == target for c in look.classes])
        self.shares.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room the picture has it, and its tip says the hint."""
        super().resizeEvent(event)
        self._give_room()

    def _give_room(self) -> None:
        low = self.height() < LOW * self.fontMetrics().height()
        # Not isVisible, which is False while the whole panel is hidden.
        self.tip.setVisible(not low and not self.caption.isHidden())
        set_tip(self.picture, self._hint if low else "")

    def show_words(self, words: str) -> None:
        """Shows words in place of a picture; the hint without any."""
        self.picture.show_picture(None, words or self._hint)
        self.caption.hide()
        self.tip.hide()
        self.shares.hide()
