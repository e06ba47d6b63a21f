"""Of several models the one that is asked about stands in front."""

from __future__ import annotations

import numpy as np

from robgui.core.codec import decode, encode
from robgui.core.view import Axis, Curves, Line, Matrix
from robgui.core.view.owned import first_of, in_front


def curves(*owners: int | None) -> Curves:
    lines = tuple(
        Line("as net.pt2 says", np.zeros(2), strong=at == 0, model=model)
        for at, model in enumerate(owners)
    )
    return Curves("Accuracy", Axis("x"), Axis("y"), np.arange(2.0), lines)


def matrix(model: int | None) -> Matrix:
    """Its title names the second model, whichever it is of: words decide nothing."""
    axes = Axis("x"), Axis("y")
    return Matrix("net.pt2", *axes, np.zeros((2, 2)), Axis("v"), (0.0, 1.0), model=model)


def test_its_line_is_the_strong_one() -> None:
    before = curves(0, 1, None)
    view = in_front([before], 1)[0]
    assert [line.strong for line in view.lines] == [False, True, False]
    assert [line.model for line in view.lines] == [0, 1, None], "the order stays"
    assert in_front([before], 2) == [before], "none is of this model"


def test_its_map_comes_first_and_no_other_stands_in_for_it() -> None:
    maps = [matrix(0), matrix(1)]
    assert [view.model for view in in_front(maps, 1)] == [1, 0]
    assert first_of(maps, 1) is maps[1] and first_of(maps, 0) is maps[0]
    assert first_of(maps[:1], 1) is None
    every = [curves(None), maps[0], curves(None), maps[1]]
    assert [view.model for view in in_front(every, 1)] == [None, 1, None, 0], "what is of all stays"
    every = [curves(None), *maps]
    assert first_of(every, 1) is every[0], "a picture of all"
    assert first_of([], 0) is None


def test_a_run_of_one_model_stays_as_it_is() -> None:
    view, own = curves(None, None), matrix(0)
    assert in_front([view, own], 0) == [view, own] and first_of([view], 0) is view


def test_a_view_stored_before_it_said_whose_it_is_is_of_all() -> None:
    document, blob = encode(matrix(1))
    assert decode(Matrix, document, blob).model == 1
    del document["fields"]["model"]
    assert decode(Matrix, document, blob).model is None
