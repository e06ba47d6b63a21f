"""A sentence that is too long ends at a word: a number that is cut reads as another."""

from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from robgui.gui.widgets.elided import beginning

WORDS = "nearest to the usual pose at rotation 36°, scale 96.4 % of 1,234,567 poses"


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.71, 0.75, 0.8, 0.9, 0.97])
def test_no_number_is_cut_within(qtbot, share):
    metrics = QFontMetrics(QApplication.font())
    width = int(share * metrics.horizontalAdvance(WORDS))
    shown = beginning(WORDS, metrics, width)
    assert shown.endswith("…") and metrics.horizontalAdvance(shown) <= width + 8
    assert set(re.findall(r"\S+", shown.rstrip("…"))) <= set(WORDS.split())


def test_what_fits_is_whole(qtbot):
    metrics = QFontMetrics(QApplication.font())
    assert beginning(WORDS, metrics, metrics.horizontalAdvance(WORDS)) == WORDS
