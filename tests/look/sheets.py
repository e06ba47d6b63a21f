"""Contact sheets: pictures of any size beside each other, each under its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

#: Pixels: the width of a column, between two pictures, and of the line with a name.
COLUMN, GAP, LINE = 960, 16, 20
COLUMNS = 3


def contact_sheet(pictures: Sequence[Path], path: Path, dark: bool) -> None:
    """Writes all ``pictures`` on one sheet: each goes below the shortest column."""
    ground, ink = ("#202020", "#e0e0e0") if dark else ("#c8c8c8", "#000000")
    heights, placed = [GAP] * COLUMNS, []
    for picture in pictures:
        with Image.open(picture) as opened:
            image = opened.convert("RGB")
        if image.width > COLUMN:
            image = image.resize((COLUMN, round(image.height * COLUMN / image.width)))
        column = heights.index(min(heights))
        placed.append((image, picture.stem, column, heights[column]))
        heights[column] += image.height + GAP + LINE
    sheet = Image.new("RGB", (COLUMNS * (COLUMN + GAP) + GAP, max(heights)), ground)
    draw = ImageDraw.Draw(sheet)
    for image, name, column, top in placed:
        left = GAP + column * (COLUMN + GAP)
        draw.text((left, top), name, fill=ink)
        sheet.paste(image, (left, top + LINE))
    sheet.save(path)
