"""Every colour of the program against what it stands on, in both looks, as WCAG AA asks."""

from __future__ import annotations

import pytest

from robgui.core.view.ink import CLASSES, SERIES, Ink, called_colours
from robgui.gui.app.colours import DARK, LIGHT
from tests.look.contrast import MARK, TEXT, contrast

LOOKS = [LIGHT, DARK]
WRITTEN = ("text", "quiet", "accent", "good", "warning", "bad")
GROUNDS = ("window", "surface", "raised")
ROLES = ("class", "rival", "other", "original", "changed", "quiet", "text")
STATUS = ("holds", "risk", "fails", "unknown")


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark"])
def test_every_text_colour_is_readable_on_every_ground(look):
    for name in WRITTEN:
        for ground in GROUNDS:
            assert contrast(getattr(look, name), getattr(look, ground)) >= TEXT, (name, ground)
    for ground in (look.accent, look.warning):
        assert contrast(look.on_accent, ground) >= TEXT, "a button, a badge"


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark"])
def test_a_chosen_row_is_readable_and_seen(look):
    assert contrast(look.on_chosen, look.chosen) >= TEXT
    assert contrast(look.chosen, look.surface) > 1.5


def test_a_chosen_row_does_not_outshine_a_dark_page():
    assert contrast(DARK.chosen, DARK.surface) < MARK < contrast(DARK.accent, DARK.surface)


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark"])
def test_what_outlines_a_control_or_its_focus_is_seen(look):
    for colour in (look.edge, look.accent):
        assert min(contrast(colour, look.surface), contrast(colour, look.window)) >= MARK


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark"])
def test_every_mark_of_a_picture_is_seen_and_every_status_is_readable(look):
    dark = look is DARK
    inks = [Ink("series", number) for number in range(len(SERIES))]
    inks += [Ink("class", hue=hue) for hue in range(len(CLASSES))]
    inks += [Ink(role) for role in (*ROLES, *STATUS)]
    for colour in [*(ink.colour(dark) for ink in inks), *called_colours(dark)]:
        assert contrast(colour, look.surface) >= MARK, colour
    for role in STATUS:
        for ground in (look.window, look.surface):
            assert contrast(Ink(role).colour(dark), ground) >= TEXT, role
