"""The look of the program: light or dark, one style sheet, icons and headings that follow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path
from string import Template

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QLabel

from robgui import resources
from robgui.gui.app.colours import DARK, LIGHT, Colours, outlined_palette, palette_of
from robgui.gui.widgets.sized import sharpness
from robgui.gui.widgets.when_seen import WhenSeen

#: How much larger than the text each kind of heading is.
HEADINGS = {"hero": 2.0, "title": 1.6, "verdict": 1.2, "section": 1.15}
#: Pixels of an icon on a button and in a bar, and of the box of a tick, at the usual text size.
BUTTON_ICON, BAR_ICON, BOX = 16, 20, 13
#: Pixels of the picture of a workspace, and across the arrows of a box that is turned or opened.
WORK_PICTURE, SPIN_BUTTON = (200, 100), 18
#: Pixels across a scroll bar and of the arrow of a sorted column, at the usual text size.
SCROLL_BAR, SORT_ARROW = 14, 12
#: Widgets whose frame the Fusion style derives from the window colour, which would vanish on dark.
OUTLINED = ("QRadioButton",)


class Theme(QObject):
    """The current look; ``changed`` notifies everything that paints for itself."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.dark = False
        self.base_points = 10.0

    @property
    def colours(self) -> Colours:
        """The colours of the present look."""
        if self.dark:
            return DARK
        return LIGHT

    @property
    def ground(self) -> tuple[int, int, int]:
        """Red, green and blue behind pictures."""
        surface = QColor(self.colours.surface)
        return surface.red(), surface.green(), surface.blue()

    @property
    def scale(self) -> float:
        """How much larger than usual the text is: icons and lines grow with it."""
        return max(1.0, QApplication.font().pointSizeF() / self.base_points)

    def grown(self, pixels: float) -> int:
        """As many pixels as ``pixels`` are at the usual text size."""
        return round(pixels * self.scale)

    def apply(self, dark: bool) -> None:
        """Repaints the whole program, plots included, unless it already looks like that."""
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            self.dark = dark
            return
        colours = DARK if dark else LIGHT
        sheet = _style_sheet(colours)
        if dark == self.dark and sheet == app.styleSheet():
            return  # Resolving a style sheet takes Qt a tenth of a second for a whole window.
        self.dark = dark
        # Without an empty one in between, Qt resolves the new one several times as slowly.
        app.setStyleSheet("")
        if app.style().name() != "fusion":
            app.setStyle("Fusion")
        app.setPalette(palette_of(colours))
        for kind in OUTLINED:
            app.setPalette(outlined_palette(colours), kind)  # type: ignore[arg-type]  # PySide says bytes and takes str
        app.setStyleSheet(sheet)
        self.changed.emit()


theme = Theme()


def is_dark(look: str) -> bool:
    """Whether a look is dark: ``light``, ``dark``, or ``system``, which asks the system."""
    if look == "system":
        return system_is_dark()
    return look == "dark"


def system_is_dark() -> bool:
    """Whether the system is dark; one that does not say is light."""
    return QApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark


class Themed(WhenSeen):
    """Mixin that applies a changed look: at once, or when a hidden widget is next shown.

    It precedes the Qt class among the bases; the widget connects ``theme.changed`` to
    ``look_changed``.
    """

    def apply_theme(self) -> None:
        """Takes over the present look."""
        raise NotImplementedError

    def look_changed(self) -> None:
        """The look has changed."""
        self.when_seen(self.apply_theme)


def icon(name: str | Path, colour: str = "") -> QIcon:
    """An SVG icon, tinted with the text colour or ``colour``.

    Greyed when disabled, readable when selected.

    Args:
        name: One of our own icons, or the file of a method's.
        colour: Of the icon; empty takes that of the text.
    """
    return _icon(name, colour, theme.colours)


# Kept, since tables ask at every paint; by its colours, since each theme has its own.
@lru_cache(maxsize=512)
def _icon(name: str | Path, colour: str, colours: Colours) -> QIcon:
    result = QIcon()
    tints = {
        QIcon.Mode.Normal: colour or colours.text,
        QIcon.Mode.Disabled: colours.line,
        QIcon.Mode.Selected: colours.on_chosen,
    }
    for mode, tint in tints.items():
        for picture in _paint(name, tint, (16, 24, 32, 48)):
            result.addPixmap(picture, mode)
    return result


def pixmap(name: str | Path, size: int, colour: str = "") -> QPixmap:
    """An icon as a picture of ``size`` pixels, sharp on every screen."""
    return _pixmap(name, size, colour or theme.colours.text, sharpness())


@lru_cache(maxsize=512)
def _pixmap(name: str | Path, size: int, colour: str, sharp: float) -> QPixmap:
    picture = QPixmap(_paint(name, colour, (round(size * sharp),))[0])  # a copy of what is kept
    picture.setDevicePixelRatio(sharp)
    return picture


def set_heading(label: QLabel, size: str) -> QLabel:
    """Makes ``label`` a heading: ``hero``, ``title``, ``verdict`` or ``section``.

    It grows with the user's text size.
    """
    label.setProperty("heading", size)
    return label


def heading_font(scale: float = 1.35) -> QFont:
    """Headings differ by size, not by colour."""
    font = QFont(QApplication.font())
    font.setPointSizeF(font.pointSizeF() * scale)
    font.setWeight(QFont.Weight.DemiBold)
    return font


def _paint(name: str | Path, colour: str, sizes: Sequence[int]) -> list[QPixmap]:
    """The icon in several sizes; one of several colours of its own keeps them."""
    shapes = _shapes(name, tuple(sizes))
    if "currentColor" not in _svg(name):
        return shapes
    return [_tinted(shape, QColor(colour)) for shape in shapes]


def _tinted(shape: QPixmap, colour: QColor) -> QPixmap:
    picture = QPixmap(shape)
    painter = QPainter(picture)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(picture.rect(), colour)
    painter.end()
    return picture


@lru_cache(maxsize=256)
def _shapes(name: str | Path, sizes: tuple[int, ...]) -> list[QPixmap]:
    """The icon in black: to read and draw it takes much longer than to tint it."""
    svg = QSvgRenderer(QByteArray(_svg(name).replace("currentColor", "black").encode()))
    pictures = []
    for size in sizes:
        picture = QPixmap(QSize(size, size))
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        svg.render(painter, QRectF(0, 0, size, size))
        painter.end()
        pictures.append(picture)
    return pictures


@cache
def _svg(name: str | Path) -> str:
    if isinstance(name, Path):
        path = name
    else:
        path = resources.path("icons", f"{name}.svg")
    return path.read_text(encoding="utf-8")


def _grown_rules() -> str:
    """Icons and scroll bars grow with the text; at its usual size Qt decides."""
    if theme.scale <= 1:
        return ""
    sizes = {
        "QPushButton { icon-size": BUTTON_ICON,
        "QToolButton { icon-size": BUTTON_ICON,
        "QToolBar { icon-size": BAR_ICON,
        "QScrollBar:vertical { width": SCROLL_BAR,
        "QScrollBar:horizontal { height": SCROLL_BAR,
    }
    return "\n".join(f"{rule}: {theme.grown(pixels)}px; }}" for rule, pixels in sizes.items())


def _style_sheet(c: Colours) -> str:
    """The style sheet with these colours, in the font of the program."""
    points = QApplication.font().pointSizeF()
    headings = "".join(
        f'QLabel[heading="{name}"] {{ font-size: {points * scale:.1f}pt; font-weight: 600; }}\n'
        for name, scale in HEADINGS.items()
    )
    words = {
        **asdict(c),
        "headings": headings,
        "grown": _grown_rules(),
        "box": str(theme.grown(BOX)),
        "arrow": str(theme.grown(SORT_ARROW)),
        "button": str(theme.grown(SPIN_BUTTON)),
        "wide": str(theme.grown(WORK_PICTURE[0])),
        "high": str(theme.grown(WORK_PICTURE[1])),
        "tick": resources.path("icons", "check.svg").as_posix(),
        # A style sheet cannot tint the tick: it is black.
        "ticked": c.accent if c is DARK else c.surface,
        "disabled_tick": c.quiet if c is DARK else c.raised,
        # Fusion's own arrows point the other way: up for the largest on top
        "falling": resources.path("arrows", "down.svg").as_posix(),
        "rising": resources.path("arrows", "up.svg").as_posix(),
        "no_fall": resources.path("arrows", "down_off.svg").as_posix(),
        "no_rise": resources.path("arrows", "up_off.svg").as_posix(),
    }
    return Template(resources.path("style.qss").read_text(encoding="utf-8")).substitute(words)
