"""What all figures share: the colours and lines of classes, and words that fit a legend."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

#: Okabe and Ito's colours as the window has them on light: yellow, pale on white, is darker.
CLASS_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#B8A800", "#000000")
#: After eight classes the colours come again with another line, as in the window; dots belong to the index.
CLASS_LINES = ("-", "--", "-.", (0, (6, 1, 1, 1, 1, 1)))


def class_style(number: int) -> dict[str, Any]:
    """Colour and line of a class: the same in every figure and in the window; black is the colour of the text."""
    colour = CLASS_COLOURS[number % len(CLASS_COLOURS)]
    line = CLASS_LINES[number // len(CLASS_COLOURS) % len(CLASS_LINES)]
    return {"color": mpl.rcParams["text.color"] if colour == "#000000" else colour, "linestyle": line}


def shorten(text: str, length: int = 24) -> str:
    """Text that fits a legend, without what matplotlib would read as mathematics."""
    plain = " ".join(text.split()).replace("$", r"\$")
    return plain if len(plain) <= length else plain[: length - 1] + "…"
