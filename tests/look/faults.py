"""Faults: what is wrong with the text and the picture of a window as it stands on the screen.

Text is clipped when it needs more room than it has and does not end in "…"; two texts overlap when
their letters do. The picture of a panel is what its views and plots fill, legends included and
notes excluded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import pyqtgraph as pg
from PySide6.QtCore import QPoint, QRect, QRectF
from PySide6.QtGui import QFontInfo, QPainter, QPicture, QRegion
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QStyle,
    QStyleOptionComboBox,
    QToolButton,
    QWidget,
)

from robgui.gui.panels.semantic.seen import ScenePicture
from robgui.gui.widgets.axes import ViewAxis
from robgui.gui.widgets.elided import ElidedBox
from robgui.gui.widgets.views.widget import Foot, ViewWidget

#: Pixels by which letters may be off without anyone seeing it.
SLACK = 2
LEAST_POINTS = 9
#: Widgets that show words.
WORDED = (QLabel, QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox)


@dataclass(frozen=True)
class Text:
    """Words on the screen, and where their letters stand in the window."""

    words: str
    place: QRect
    widget: QWidget


def faults(window: QWidget) -> list[str]:
    """Every fault of the text on show, in words."""
    found = [fault for widget in worded(window) if (fault := _clipped(widget))]
    texts = [text_on(widget, window) for widget in worded(window)]
    for one, two in combinations([text for text in texts if text.words], 2):
        both = one.place.intersected(two.place)
        if both.width() > SLACK and both.height() > SLACK and not _related(one.widget, two.widget):
            found.append(f"“{one.words[:40]}” over “{two.words[:40]}”")
    for view in window.findChildren(pg.GraphicsView):
        if view.isVisible() and not view.visibleRegion().isEmpty():
            found += _scene_faults(view)
    return found


def small_texts(window: QWidget) -> Iterator[str]:
    """Text under nine points, and text of a plot that does not grow with the rest."""
    least = min(QFontInfo(w.font()).pointSizeF() for w in worded(window))
    if least < LEAST_POINTS:
        yield f"a text of {least:.1f} pt"
    own = QApplication.font().pointSizeF()
    for view in window.findChildren(pg.GraphicsView):
        for item in view.scene().items() if view.isVisible() else ():
            fonts = [item.font(), item.label.font()] if isinstance(item, ViewAxis) else []
            fonts += [item.textItem.font()] if isinstance(item, pg.TextItem) else []
            if any(font.pointSizeF() < own - 0.5 for font in fonts):
                yield f"plot “{view.accessibleName()[:40]}” writes smaller than {own:.1f} pt"


def picture_share(page: QWidget, window: QWidget) -> float:
    """Share of the window that the picture of a page fills."""
    region = QRegion()
    pictures = [*page.findChildren(ViewWidget), *page.findChildren(ScenePicture)]
    for widget in (*pictures, *page.findChildren(pg.GraphicsView)):
        region = region.united(_seen(widget, window))
    for note in page.findChildren(Foot):
        region = region.subtracted(_seen(note, window))
    area = sum(part.width() * part.height() for part in region)
    return area / (window.width() * window.height())


def _seen(widget: QWidget, window: QWidget) -> QRegion:
    if not widget.isVisible():
        return QRegion()
    place = QRect(widget.mapTo(window, QPoint()), widget.size())
    above = widget.parentWidget()
    while above is not None and above is not window.parentWidget():
        place &= QRect(above.mapTo(window, QPoint()), above.size())
        above = above.parentWidget()
    return QRegion(place)


def worded(window: QWidget) -> Iterator[QWidget]:
    """Widgets with words of which something is on show."""
    for kind in WORDED:
        for widget in window.findChildren(kind):
            inside = isinstance(widget.parent(), QComboBox | QAbstractSpinBox)
            if widget.isVisible() and not inside and not widget.visibleRegion().isEmpty():
                yield widget


def words_of(widget: QWidget) -> str:
    """What stands on a widget; nothing on one that shows a picture alone."""
    if isinstance(widget, QComboBox):
        return widget.currentText()
    if isinstance(widget, QToolButton) and not _worded_button(widget):
        return ""
    if isinstance(widget, QLabel) and not widget.pixmap().isNull():
        return ""
    text = widget.text()  # type: ignore[attr-defined]  # all the others have one
    return str(text) if isinstance(widget, QLabel) else str(text).replace("&", "")


def _worded_button(button: QToolButton) -> bool:
    return button.icon().isNull() or button.toolButtonStyle() is not (
        button.toolButtonStyle().ToolButtonIconOnly
    )


def _clipped(widget: QWidget) -> str:
    words = words_of(widget)
    if not words or isinstance(widget, QLineEdit | QAbstractSpinBox):
        return ""
    name = f"{type(widget).__name__} “{words[:60]}”"
    needed, room = _room(widget, words)
    if needed > room + SLACK and "…" not in words:
        return f"{name} needs {needed} px of {room}"
    if isinstance(widget, QLabel) and widget.wordWrap():
        high = widget.heightForWidth(widget.width())
        if high > widget.height() + SLACK:
            return f"{name} needs {high} px of height {widget.height()}"
    area = _scroll_area(widget)
    if area is not None and not area.horizontalScrollBar().isVisible():
        left = widget.mapTo(area.viewport(), QPoint()).x()
        if left < -SLACK or left + widget.width() > area.viewport().width() + SLACK:
            return f"{name} goes beyond what can be scrolled to"
    if area is None:
        seen = widget.visibleRegion().boundingRect()
        if seen.width() < widget.width() - SLACK or seen.height() < widget.height() - SLACK:
            return f"{name} is cut by what stands around it"
    return ""


def _room(widget: QWidget, words: str) -> tuple[int, int]:
    """How much width the words need, and how much they have."""
    metrics = widget.fontMetrics()
    widest = max(metrics.horizontalAdvance(line) for line in words.split("\n"))
    if isinstance(widget, QLabel):
        if widget.wordWrap():
            widest = max((metrics.horizontalAdvance(word) for word in words.split()), default=0)
        return widest, widget.contentsRect().width()
    if isinstance(widget, ElidedBox):
        return 0, widget.width()
    if isinstance(widget, QComboBox):
        option = QStyleOptionComboBox()
        widget.initStyleOption(option)
        style = QStyle
        field = widget.style().subControlRect(
            style.ComplexControl.CC_ComboBox, option, style.SubControl.SC_ComboBoxEditField, widget
        )
        return widest, field.width()
    if isinstance(widget, QCheckBox | QRadioButton):
        return widget.sizeHint().width(), widget.width()
    beside = isinstance(widget, QPushButton) or (
        isinstance(widget, QToolButton)
        and widget.toolButtonStyle() is widget.toolButtonStyle().ToolButtonTextBesideIcon
    )
    mark = widget.iconSize().width() + 4 if beside and not widget.icon().isNull() else 0  # type: ignore[attr-defined]
    return widest + mark, widget.width()


def text_on(widget: QWidget, window: QWidget) -> Text:
    """The words of a widget, and where the letters that are on show stand."""
    place = widget.visibleRegion().boundingRect()
    if isinstance(widget, QLabel):
        words = widget.fontMetrics().boundingRect(
            widget.contentsRect(), _flags(widget), widget.text()
        )
        place = place.intersected(words)
    return Text(words_of(widget), place.translated(widget.mapTo(window, QPoint())), widget)


def _flags(label: QLabel) -> int:
    wrap = 0x1000 if label.wordWrap() else 0
    return int(label.alignment().value) | wrap


def _related(one: QWidget, two: QWidget) -> bool:
    return one.isAncestorOf(two) or two.isAncestorOf(one)


def _scroll_area(widget: QWidget) -> QAbstractScrollArea | None:
    above = widget.parentWidget()
    while above is not None and not isinstance(above, QAbstractScrollArea):
        above = above.parentWidget()
    return above


def _scene_faults(view: pg.GraphicsView) -> Iterator[str]:
    """Numbers, names and titles of a plot that touch each other or its edge."""
    whole = QRectF(view.viewport().rect()).adjusted(-SLACK, -SLACK, SLACK, SLACK)
    texts = [(words, place) for words, place in _scene_texts(view) if words.strip()]
    for words, place in texts:
        seen = view.mapFromScene(place).boundingRect()
        if not whole.contains(QRectF(seen)) and whole.intersects(QRectF(seen)):
            yield f"plot “{view.accessibleName()[:40]}”: “{words[:40]}” is cut by its edge"
    for (one, first), (two, second) in combinations(texts, 2):
        both = first.intersected(second)
        if both.width() > SLACK and both.height() > SLACK:
            yield f"plot “{view.accessibleName()[:40]}”: “{one[:40]}” over “{two[:40]}”"


def _scene_texts(view: pg.GraphicsView) -> Iterator[tuple[str, QRectF]]:
    for item in view.scene().items():
        if not item.isVisible() or item.opacity() == 0:
            continue
        if isinstance(item, pg.AxisItem):
            yield from _axis_texts(item)
        elif isinstance(item, pg.TextItem):
            yield item.textItem.toPlainText(), item.textItem.sceneBoundingRect()


def _axis_texts(axis: pg.AxisItem) -> Iterator[tuple[str, QRectF]]:
    picture = QPicture()
    painter = QPainter(picture)
    specs = axis.generateDrawSpecs(painter)
    metrics = painter.fontMetrics()
    painter.end()
    for place, flags, words in specs[2] if specs else ():
        letters = QRectF(metrics.boundingRect(place.toRect(), int(flags), words))
        upright = getattr(axis, "upright", False)
        yield words, axis.mapRectToScene(place if upright else letters)
    if axis.label.isVisible():
        yield axis.label.toPlainText(), axis.label.sceneBoundingRect().adjusted(4, 4, -4, -4)
