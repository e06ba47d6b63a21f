"""What all figures share: the colours and lines of classes, and words that fit a legend."""

from __future__ import annotations

from typing import Any

from matplotlib.patheffects import withStroke

#: Okabe and Ito's colours, the legible ones first; black is kept for what is no class.
CLASS_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
#: Yellow is pale on white: it gets a grey edge.
_YELLOW = "#F0E442"
#: After seven classes the colours come again with another line; dots belong to the index.
CLASS_LINES = ("-", "--", "-.", (0, (6, 1, 1, 1, 1, 1)))


def class_style(number: int) -> dict[str, Any]:
    """Colour and line of a class: the same in every figure."""
    colour = CLASS_COLOURS[number % len(CLASS_COLOURS)]
    style: dict[str, Any] = {"color": colour, "linestyle": CLASS_LINES[number // len(CLASS_COLOURS) % len(CLASS_LINES)]}
    if colour == _YELLOW:
        style["path_effects"] = [withStroke(linewidth=3.2, foreground="0.5")]
    return style


def shorten(text: str, length: int = 24) -> str:
    """Text that fits a legend, without what matplotlib would read as mathematics."""
    plain = " ".join(text.split()).replace("$", r"\$")
    return plain if len(plain) <= length else plain[: length - 1] + "…"
