"""The scoreboard says what it comes to and leaves no part of the window empty."""

from __future__ import annotations

from robgui.core.verdict import Status, Verdict
from robgui.gui.pages.scoreboard_cells import ScoreCell, verdict_words
from robgui.gui.widgets.sheets.filling_sheet import FillingSheet

FAILS, HOLDS = (ScoreCell(Verdict(one, ""), "small") for one in (Status.FAILS, Status.HOLDS))
OTHER = ScoreCell(Verdict(Status.FAILS, ""), "large", "other inputs")


def test_the_verdict_counts_only_questions_that_all_models_were_asked_alike():
    columns = [[HOLDS, FAILS, FAILS, HOLDS], [FAILS, FAILS, None, OTHER], [None] * 4]
    assert verdict_words(("good", "bad", "unasked"), columns) == (
        "Of 2 questions put alike to all 2 models, bad fails 2, good fails 1."
    )
    apart = [[HOLDS, None], [None, FAILS]]
    assert verdict_words(("a", "b"), apart).startswith("No question was put alike to all 2 models")
    assert verdict_words(("a",), [[FAILS]]) == "One model was asked so far."
    assert verdict_words((), []) == ""


def test_columns_share_the_width_of_the_window_at_every_size(qtbot):
    sheet = FillingSheet("a table")
    qtbot.addWidget(sheet)
    with qtbot.waitExposed(sheet):
        sheet.show()
    sheet.show_columns({"one": ["a", "b"], "two": ["c", "d"]})
    for wide in (900, 600):
        sheet.resize(wide, 300)
        filled = sum(sheet.columnWidth(place) for place in range(2))
        assert 0 <= sheet.viewport().width() - filled < 2
