"""Of several models the one that is asked about stands in front."""

from __future__ import annotations

import numpy as np

from robgui.core.view import Axis, Curves, Line, Matrix
from robgui.core.view.owned import first_of, in_front, owner

NAMES = ["net.pt", "net.pt2"]


def curves(*names: str) -> Curves:
    lines = tuple(Line(name, np.zeros(2), strong=at == 0) for at, name in enumerate(names))
    return Curves("Accuracy", Axis("x"), Axis("y"), np.arange(2.0), lines)


def matrix(title: str) -> Matrix:
    return Matrix(title, Axis("x"), Axis("y"), np.zeros((2, 2)), Axis("v"), (0.0, 1.0))


def test_its_line_is_the_strong_one() -> None:
    view = in_front([curves("not turned: net.pt", "not turned: net.pt2", "mean")], NAMES, 1)[0]
    assert [line.strong for line in view.lines] == [False, True, False]
    assert view.lines[0].name == "not turned: net.pt", "the order stays"


def test_its_map_comes_first_and_no_other_stands_in_for_it() -> None:
    maps = [matrix("Which class wins, net.pt"), matrix("Which class wins, net.pt2")]
    assert [view.title[-7:] for view in in_front(maps, NAMES, 1)] == ["net.pt2", " net.pt"]
    assert first_of(maps, NAMES, 1) is maps[1] and first_of(maps, NAMES, 0) is maps[0]
    assert first_of(maps[:1], NAMES, 1) is None
    every = [curves("a"), maps[0], curves("b"), maps[1]]
    titles = [view.title.rpartition(", ")[2] for view in in_front(every, NAMES, 1)]
    assert titles == ["Accuracy", "net.pt2", "Accuracy", "net.pt"], "what is of all stays"
    assert first_of([curves("a"), *maps], NAMES, 1).title == "Accuracy", "a picture of all"


def test_a_run_of_one_model_stays_as_it_is() -> None:
    view = curves("net.pt", "net.pt2")
    assert in_front([view], ["net.pt2"], 0) == [view] and first_of([view], ["net.pt2"], 0) is view
    assert owner("nothing is named", NAMES) == ""
