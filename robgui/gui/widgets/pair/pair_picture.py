"""PairPicture: paints an input before and after, with a close-up of what has changed."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QEasingCurve, QPointF, QRectF, QSize, Qt, QTimer, QVariantAnimation
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHideEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from robgui.core.finding_pair import Pair, PixelSquare
from robgui.core.text.words import rough_percent
from robgui.core.view import Ink
from robgui.gui.app.theme import theme
from robgui.gui.docks.thumbnails import qimage
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.pair.chips import chip_words, class_colours, draw_chip
from robgui.gui.widgets.pair.places import GAP, Places, places

#: Milliseconds that one of two pictures stays while they blink.
BLINK = 700
#: Milliseconds in which the slider uncovers the change by itself when a pair is first shown.
UNCOVER = 1400
#: How far an arrow key moves the slider.
_STEP = 0.02
_FRAME = 2.0
#: A side narrower than this share of the picture has no room for its words.
_CHIP = 0.2
#: A picture narrower than this has no room for words.
_LEAST_FOR_CHIPS = 240


class Mode(StrEnum):
    """How the two are laid beside each other, as the buttons call it."""

    SLIDER = "Slider"
    BESIDE = "Side by side"
    BLINK = "Blink"
    CHANGE = "Difference"


class PairPicture(QWidget):
    """Both pictures of a pair.

    Attributes:
        pair: What is shown; None before anything is.
        mode: How.
        place: Where the slider stands: the share of the width that shows the input before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pair: Pair | None = None
        self.mode = Mode.SLIDER
        self.place = 0.5
        self._second = False
        self._images: tuple[QImage, QImage, QImage] | None = None
        self._close: PixelSquare | None = None
        self._timer = QTimer(self, interval=BLINK)
        self._timer.timeout.connect(self._blink)
        self._move = QVariantAnimation(self, startValue=1.0, endValue=0.5, duration=UNCOVER)
        self._move.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._move.valueChanged.connect(self._slide)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(QSize(240, 160))
        # A plain widget takes no focus, and the arrow keys would never arrive.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.changed.connect(self._draw)

    def show_pair(self, pair: Pair | None) -> None:
        """Shows ``pair``; the slider uncovers what has changed once."""
        self.pair = pair
        self._images, self._close = None, None
        if pair is not None:
            self._close = pair.close()
            said = f"Before: {pair.words_before}. After: {pair.words_after}."
            self.setAccessibleName(said)
        self.place = self._rest()
        # Of a hidden picture nobody would see the movement; showEvent begins it then.
        if pair is not None and self.isVisible() and self.mode is Mode.SLIDER:
            self._uncover()
        self._draw()

    def _draw(self) -> None:
        """Takes over the present look: a drawing has its ground."""
        if self.pair is not None:
            shown = self.pair.on(theme.ground)
            change = qimage(self.pair.difference())
            self._images = (qimage(shown.before), qimage(shown.after), change)
        self.update()

    def set_mode(self, mode: Mode) -> None:
        """Lays the two beside each other in another way."""
        self.mode = mode
        self._second = False
        self._move.stop()
        self._keep_time()
        wide = mode is Mode.SLIDER
        self.setCursor(Qt.CursorShape.SplitHCursor if wide else Qt.CursorShape.ArrowCursor)
        self.update()

    @property
    def on_show(self) -> Places:
        """Where everything lies now."""
        assert self.pair is not None
        height, width = self.pair.before.shape[:2]
        many = 2 if self.mode is Mode.BESIDE else 1
        return places(QRectF(self.rect()), width / height, many, close=self._close is not None)

    # --- events -----------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._keep_time()
        if self.pair is not None and self.mode is Mode.SLIDER:
            self._uncover()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # The clocks of a hidden picture would only keep the processor awake.
        self._timer.stop()
        self._move.stop()
        self.place = self._rest()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._drag(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._drag(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -_STEP, Qt.Key.Key_Right: _STEP}
        step = steps.get(Qt.Key(event.key()))
        if step is None or self.mode is not Mode.SLIDER:
            super().keyPressEvent(event)
            return
        self.slide_to(self.place + step)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.pair is None or self._images is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        where = self.on_show
        before, after, change = self._images
        main = where.main[0]
        if self.mode is Mode.SLIDER:
            self._paint_slider(painter, main)
        elif self.mode is Mode.BESIDE:
            _paint(painter, where.main[0], before)
            _paint(painter, where.main[1], after)
            self._chip(painter, where.main[0], after=False)
            self._chip(painter, where.main[1], after=True)
        elif self.mode is Mode.BLINK:
            _paint(painter, main, after if self._second else before)
            self._chip(painter, main, after=self._second)
        else:
            _paint(painter, main, change)
            self._caption_change(painter, main)
        if self._close is not None:
            self._paint_close(painter, where, self._close)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(theme.colours.accent), _FRAME))
            painter.drawRect(main.adjusted(-_FRAME, -_FRAME, _FRAME, _FRAME))

    # --- painting ---------------------------------------------------------------------------------

    def _paint_slider(self, painter: QPainter, main: QRectF) -> None:
        assert self._images is not None
        before, after, _ = self._images
        edge = main.left() + self.place * main.width()
        _paint(painter, main, before)
        painter.save()
        painter.setClipRect(QRectF(edge, main.top(), main.right() - edge, main.height()))
        _paint(painter, main, after)
        painter.restore()
        if self.place > _CHIP:
            self._chip(painter, main, after=False)
        if self.place < 1 - _CHIP:
            self._chip(painter, main, after=True, right=True)
        self._handle(painter, edge, main)

    def _handle(self, painter: QPainter, edge: float, main: QRectF) -> None:
        """A line with a knob that is seen on every picture."""
        for tint, width in ((QColor(0, 0, 0, 140), 5.0), (QColor("#FFFFFF"), 2.5)):
            painter.setPen(QPen(tint, width))
            painter.drawLine(QPointF(edge, main.top()), QPointF(edge, main.bottom()))
        middle, size, near = QPointF(edge, main.center().y()), theme.grown(13), theme.grown(4)
        painter.setPen(QPen(QColor(0, 0, 0, 140), 1.5))
        painter.setBrush(QColor("#FFFFFF"))
        painter.drawEllipse(middle, size, size)
        painter.setPen(QPen(QColor("#222222"), 2.0 * theme.scale))
        for way in (-1, 1):
            tip = QPointF(middle.x() + 2 * way * near, middle.y())
            for up in (-1, 1):
                painter.drawLine(tip, QPointF(middle.x() + way * near, middle.y() + up * near))

    def _chip(self, painter: QPainter, main: QRectF, *, after: bool, right: bool = False) -> None:
        if main.width() < _LEAST_FOR_CHIPS:
            return
        assert self.pair is not None
        pair = self.pair
        first, second = class_colours(pair.taken, pair.given)
        if after:
            name = (pair.given or "another class").upper()
            sure = pair.sure_after
        else:
            name = pair.taken or "input"
            sure = pair.sure_before
        # Nan: the finding does not say how sure the model is.
        if sure != sure:
            share = ""
        else:
            share = rough_percent(sure)
        painter.save()
        font = QFont(painter.font())
        font.setPointSizeF(font.pointSizeF() * 1.2)
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        wide = main.width() / (2 if right else 1) - 2 * GAP
        ground = second if after else first
        if right:
            metrics = QFontMetricsF(painter.font())
            # 16: draw_chip leaves 8 pixels free on both sides of its words.
            measured = metrics.horizontalAdvance(chip_words(metrics, name, share, wide)) + 16
            corner = QPointF(main.right() - GAP - measured, main.top() + GAP)
        else:
            corner = QPointF(main.left() + GAP, main.top() + GAP)
        draw_chip(painter, corner, name, ground, share=share, widest=wide)
        painter.restore()

    def _caption_change(self, painter: QPainter, main: QRectF) -> None:
        assert self.pair is not None
        if self.pair.gain > 1:
            times = f" × {self.pair.gain}"
        else:
            times = ""
        words = f"The change{times}; grey: none"
        corner = QPointF(main.left() + GAP, main.top() + GAP)
        draw_chip(painter, corner, words, QColor("#FFFFFF"), widest=main.width() - 2 * GAP)

    def _paint_close(self, painter: QPainter, where: Places, box: PixelSquare) -> None:
        """The changed pixels enlarged, before and after, and lines that say where they are."""
        assert self.pair is not None and self._images is not None
        height, width = self.pair.before.shape[:2]
        source = QRectF(box.left, box.top, box.side, box.side)
        # Of right and wrong, not of the classes: a class “green” would look as if it were right.
        colours = (colour(Ink("original")), colour(Ink("fails")))
        mark = QColor("#FFFFFF")
        for main in where.main:
            scale = main.width() / width
            framed = QRectF(
                main.left() + box.left * scale,
                main.top() + box.top * main.height() / height,
                box.side * scale,
                box.side * main.height() / height,
            )
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for tint, thick in ((QColor(0, 0, 0, 160), 4.0), (mark, 2.0)):
                painter.setPen(QPen(tint, thick))
                painter.drawRect(framed)
        for image, place, tint in zip(self._images[:2], where.close, colours, strict=True):
            # Enlarged pixels stay squares: smoothed, one changed pixel would spread over its
            # neighbours.
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
            painter.drawImage(place, image, source)
            painter.setPen(QPen(tint, 3.0))
            painter.drawRect(place)

    # --- moving -----------------------------------------------------------------------------------

    def _rest(self) -> float:
        """Where the slider comes to rest: left of what has changed, in the middle at most."""
        if self.pair is None or self._close is None:
            return 0.5
        # A little before the change, so the line of the slider does not cover it.
        return min(0.5, max(0.1, self._close.left / self.pair.before.shape[1] - 0.06))

    def _uncover(self) -> None:
        self._move.setEndValue(self._rest())
        self._move.start()

    def _drag(self, event: QMouseEvent) -> None:
        if self.pair is None or self.mode is not Mode.SLIDER:
            return
        if not event.buttons() & Qt.MouseButton.LeftButton:
            return
        main = self.on_show.main[0]
        self.slide_to((event.position().x() - main.left()) / main.width())

    @property
    def blinks(self) -> bool:
        """Whether before and after take turns now."""
        return self._timer.isActive()

    def slide_to(self, place: float) -> None:
        """Puts the slider at a share of the width, wherever it was moving to."""
        self._move.stop()
        self._slide(place)

    def _slide(self, place: float) -> None:
        self.place = min(1.0, max(0.0, float(place)))
        self.update()

    def _blink(self) -> None:
        self._second = not self._second
        self.update()

    def _keep_time(self) -> None:
        if self.mode is Mode.BLINK and self.isVisible():
            self._timer.start()
        else:
            self._timer.stop()


def _paint(painter: QPainter, place: QRectF, image: QImage) -> None:
    """Few pixels are shown as they are; many are made fewer smoothly."""
    smooth = place.width() < image.width()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
    painter.drawImage(place, image)
