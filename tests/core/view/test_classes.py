from __future__ import annotations

import numpy as np

from robgui.core.view import Axis, Ink, Matrix, class_ink, class_inks

FASHION = (
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
)


def colours(shown, names=FASHION, dark=False):
    return [ink.colour(dark) for ink in class_inks(shown, names)]


def test_a_class_has_one_colour_whatever_stands_beside_it_and_in_whatever_order():
    alone = {name: colours([name])[0] for name in FASHION}
    for dark in (False, True):
        assert len(set(colours(FASHION, dark=dark))) == len(FASHION)
    assert colours(FASHION[::-1], FASHION[::-1]) == [alone[name] for name in FASHION[::-1]]
    assert colours(["Shirt", "Coat"]) == [alone["Shirt"], alone["Coat"]]
    as_rival = class_inks(["Coat", "Shirt"], FASHION, ("class", "rival"))
    assert [ink.colour() for ink in as_rival] == [alone["Coat"], alone["Shirt"]]
    assert [ink.dash for ink in as_rival] == ["solid", "dashed"]


def test_a_map_draws_a_class_as_every_other_picture_does():
    ranked = ("Shirt", "Coat", "other classes")
    view = Matrix(
        *("Winners", Axis("x"), Axis("y"), np.ones((1, 3)), Axis("score"), (0.0, 1.0)),
        classes=np.array([[0, 1, 2]]),
        class_names=ranked,
        class_list=FASHION,
    )
    drawn = [class_ink(view, number).colour() for number in range(3)]
    assert drawn == [*colours(["Shirt", "Coat"]), Ink("other").colour()]


def test_what_stands_for_several_classes_leaves_their_colours_alone():
    names = ("cat", "dog", "ship", "truck")  # “other classes” would come among them
    assert colours(["ship", "truck", "other classes"], names)[:2] == colours(
        ["ship", "truck"], names
    )


def test_of_a_long_list_two_classes_of_one_picture_never_share_a_colour():
    names = tuple(f"sign {number:02d}" for number in range(43))
    for rival in names[1:]:
        first, second = colours([names[0], rival], names)
        assert first == colours([names[0]], names)[0] and first != second


def test_a_class_named_after_a_colour_keeps_it_and_the_others_stay_away_from_it():
    red, shirt = colours(["red", "shirt"], ("red", "shirt"))
    assert red == Ink("class", name="red").colour() and shirt != red
