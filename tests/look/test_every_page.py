"""Every page at six sizes in two looks: no text is cut, none covers another, the picture is
large.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from robgui.gui.app.theme import theme
from tests.look.contrast import pale_texts
from tests.look.faults import faults, picture_share, small_texts

#: The fixture runs every analysis in a window first.
pytestmark = pytest.mark.look

#: Width and height in pixels, and the size of the text.
SIZES = {
    "1280x690": (1280, 690, 1.0),
    "1366x768": (1366, 768, 1.0),
    "1920x1080": (1920, 1080, 1.0),
    "2560x1440": (2560, 1440, 1.0),
    "150%": (1920, 1080, 1.5),
    "200%": (2560, 1440, 2.0),
}
#: Share of the window that the picture has at least; the first thing seen in a small window.
LEAST, SMALL_LEAST = 1 / 3, 1 / 2
UNPICTURED = ("welcome", "overview", "empty", "scoreboard", "finding", "findings")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_no_page_cuts_or_covers_text_and_the_picture_is_large(shown, size, dark):
    window = shown.window
    width, height, text = SIZES[size]
    theme.dark = dark
    window.commands.scale_text(text / window.settings.font_scale)
    window.resize(width, height)
    least = SMALL_LEAST if size == "1280x690" else LEAST
    found, walked = [], 0
    for name, place in shown.pages():
        walked += 1
        found += [f"{name}: {fault}" for fault in (*faults(place), *pale_texts(place))]
        found += [f"{name}: {fault}" for fault in small_texts(place)]
        if place.width() > width or place.height() > height:
            found.append(f"{name}: {place.width()}×{place.height()} is more than the screen has")
        if place is window and name not in UNPICTURED:
            share = picture_share(window.pages.currentWidget(), window)
            if share < least:
                found.append(f"{name}: the picture has {share:.0%} of the window")
        _keep(place, f"{name}-{size}-{'dark' if dark else 'light'}")
    print(f"{walked} pages at {size} {'dark' if dark else 'light'}")
    assert not found, "\n" + "\n".join(found)


def _keep(window, name):
    """Keeps a picture of the page where someone wants to look at it."""
    if folder := os.environ.get("ROBGUI_LOOK"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        window.grab().save(str(Path(folder) / f"{name}.png"))
