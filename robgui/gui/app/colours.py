"""Light and dark, designed and not inverted: two sets of colours with fixed meanings."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette


@dataclass(frozen=True)
class Colours:
    """One look: every colour the program uses has a name.

    ``edge`` outlines what can be filled in and stands out more than ``line``; ``chosen`` lies
    behind a chosen row, which on dark must not outshine everything else.
    """

    window: str
    surface: str
    raised: str
    line: str
    edge: str
    text: str
    quiet: str
    accent: str
    on_accent: str
    chosen: str
    on_chosen: str
    good: str
    warning: str
    bad: str


LIGHT = Colours(
    window="#F5F6F8",
    surface="#FFFFFF",
    raised="#EBEDF1",
    line="#D3D7DE",
    edge="#868E9C",
    text="#1B1F27",
    quiet="#5A6372",
    accent="#0B63B5",
    on_accent="#FFFFFF",
    chosen="#0B63B5",
    on_chosen="#FFFFFF",
    good="#00734F",
    warning="#8A5A00",
    bad="#B23A00",
)
DARK = Colours(
    window="#15181D",
    surface="#1D2127",
    raised="#292E37",
    line="#3A414C",
    edge="#737D8D",
    text="#E8EBF0",
    quiet="#A3ACBA",
    accent="#5FB0F5",
    on_accent="#0B1118",
    chosen="#24507A",
    on_chosen="#FFFFFF",
    good="#3CCB9B",
    warning="#E6B450",
    bad="#FF8A5C",
)


def palette_of(c: Colours) -> QPalette:
    """A palette of Qt with these colours."""
    role = QPalette.ColorRole
    palette = QPalette()
    for which, colour in (
        (role.Window, c.window),
        (role.WindowText, c.text),
        (role.Base, c.surface),
        (role.AlternateBase, c.raised),
        (role.Text, c.text),
        (role.Button, c.raised),
        (role.ButtonText, c.text),
        (role.BrightText, c.bad),
        (role.ToolTipBase, c.raised),
        (role.ToolTipText, c.text),
        (role.Highlight, c.chosen),
        (role.HighlightedText, c.on_chosen),
        (role.Link, c.accent),
        (role.PlaceholderText, c.quiet),
        (role.Mid, c.line),
        (role.Light, c.raised),
        (role.Midlight, c.raised),
        (role.Dark, c.line),
    ):
        palette.setColor(which, QColor(colour))
    # Towards the ground: lighter in the light look; below 100 “lighter” darkens.
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(
            QPalette.ColorGroup.Disabled, which, QColor(c.quiet).lighter(115 if c is LIGHT else 75)
        )
    palette.setColor(role.Accent, QColor(c.accent))
    return palette


def outlined_palette(c: Colours) -> QPalette:
    """A palette for widgets that need a visible frame, which Fusion darkens from the window's."""
    palette = palette_of(c)
    # Fusion outlines with the window's colour darkened by 140: this undoes it.
    palette.setColor(QPalette.ColorRole.Window, QColor(c.edge).lighter(140))
    return palette
