"""Letters: lines fit the room they are given."""

from __future__ import annotations

from robgui.report.lettering import clean, elide, extent, wrap


def test_lines_are_broken_where_they_would_be_too_wide():
    lines = wrap("one two three four five six seven " * 4, 10, 2.0)
    assert len(lines) > 4 and all(extent(line, 10) <= 2.0 for line in lines)
    long = wrap("x" * 400, 10, 6.5)
    assert "".join(long) == "x" * 400 and all(extent(line, 10) <= 6.5 for line in long)
    assert wrap("", 10, 1.0) == wrap("  \n ", 10, 1.0) == []


def test_a_number_and_its_per_cent_stay_on_one_line():
    lines = wrap("about 83.3 % of them " * 6, 10, 1.0)
    assert len(lines) > 6 and not any(line.startswith("%") for line in lines)


def test_too_many_lines_end_with_a_sign_that_more_would_follow():
    lines = wrap("word " * 50, 10, 1.0, most=2)
    assert len(lines) == 2 and lines[1].endswith("…") and extent(lines[1], 10) <= 1.0


def test_a_long_name_is_cut_in_the_middle_and_a_short_one_is_whole():
    cut = elide("Speed limit 30 seen as Speed limit 80", 10, 1.5)
    assert cut.startswith("Speed") and cut.endswith("80") and "…" in cut and extent(cut, 10) <= 1.5
    assert elide("a b  c", 10, 2.0) == "a b c" and elide("abc", 10, 0.01) == "…"


def test_what_the_font_lacks_is_a_question_mark_and_signs_are_kept():
    assert clean("猫 ✓✗★→≤ é") == "? ✓✗★→≤ é" and extent("猫", 10) == extent("?", 10)
