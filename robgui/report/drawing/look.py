"""Look: the style of a drawing, light or dark; colours come from Ink, the ground from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.colors import to_rgb

from robgui.core.view.colours import GROUND
from robgui.core.view.ink import Dash, Ink
from robgui.report.lettering import FAMILY

#: Sizes of letters in points.
TITLE, SUBJECT, HEADING, BODY, SMALL, FOOT = 13.0, 9.5, 10.5, 9.0, 8.5, 7.0
# Dashes and gaps in line widths, after the offset at which they
# begin; matplotlib's own are longer than a legend's sample.
LINES: dict[Dash, Any] = {
    "solid": "-",
    "dashed": (0, (4.5, 2)),
    "dotted": (0, (1.2, 1.6)),
    "dash-dot": (0, (5, 1.6, 1.2, 1.6)),
}
MARKERS = {"": "", "circle": "o", "square": "s", "cross": "x", "triangle": "^", "diamond": "D"}
#: What painting reads from the style. Letters fitted to pixels would be wider in one size than in
#: another and leave the room that the layout gave them.
_PAINT: dict[str, Any] = {
    # Without salt the ids within an SVG are random, and equal drawings are unequal files.
    "svg.hashsalt": "robgui",
    "text.hinting": "none",
    # A "$" in the name of a file or class would be read as a formula, and one alone raises.
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Look:
    """Light or dark."""

    dark: bool = False

    @property
    def ground(self) -> str:
        """What everything lies on."""
        return GROUND[self.dark]

    @property
    def text(self) -> str:
        """The colour of letters."""
        return self.colour(Ink("text"))

    @property
    def faded(self) -> str:
        """The colour of what is read last: notes and provenance."""
        # A contrast of 5.5 : 1 on the light ground and
        # 6.7 : 1 on the dark one; WCAG asks for 4.5 : 1.
        return mixed(self.text, self.ground, 0.68)

    @property
    def grid(self) -> str:
        """The colour of grid lines and rules."""
        return mixed(self.colour(Ink("quiet")), self.ground, 0.45)

    @property
    def unknown(self) -> str:
        """The ground where nothing is known."""
        return mixed(self.text, self.ground, 0.08)

    def colour(self, ink: Ink) -> str:
        """The colour of an ink on this ground."""
        return ink.colour(self.dark)

    def rc(self) -> dict[Any, Any]:
        """Everything that matplotlib reads from its global table while drawing and painting."""
        on_ground = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
        letters = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.titlecolor")
        return {
            # Whatever the user's matplotlibrc says, a report looks the same.
            **mpl.rcParamsDefault,
            **_PAINT,
            "font.family": FAMILY,
            "font.size": BODY,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": self.faded,
            "axes.linewidth": 0.7,
            "xtick.major.width": 0.7,
            "ytick.major.width": 0.7,
            "xtick.labelsize": SMALL,
            "ytick.labelsize": SMALL,
            "axes.unicode_minus": True,
            "hatch.linewidth": 0.8,
            **dict.fromkeys(on_ground, self.ground),
            **dict.fromkeys(letters, self.text),
        }


def mixed(colour: str, ground: str, share: float) -> str:
    """``share`` of a colour on a ground, as ``#rrggbb``."""
    parts = zip(to_rgb(colour), to_rgb(ground), strict=True)
    channels = [round(255 * (share * over + (1 - share) * under)) for over, under in parts]
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def on(colour: Any) -> str:
    """Black or white: what reads better on a colour."""
    red, green, blue = to_rgb(colour)
    # Brightness as the eye weighs the channels (ITU-R BT.601).
    if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55:
        return "#000000"
    return "#ffffff"
