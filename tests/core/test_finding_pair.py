from __future__ import annotations

import math

import numpy as np

from robgui.core.finding import Finding
from robgui.core.finding_pair import PixelSquare, pair_of


def beside(before, after, times=4):
    big = [one.repeat(times, 0).repeat(times, 1) for one in (before, after)]
    white = np.full((big[0].shape[0], 8, 3), 255, np.uint8)
    return np.concatenate([big[0], white, big[1]], axis=1)


def image(pixels):
    return (pixels.transpose(2, 0, 1) / 255).astype(np.float32)


def changed_at(*places):
    before = np.full((40, 40, 3), 90, np.uint8)
    after = before.copy()
    for row, column in places:
        after[row, column] = (250, 10, 10)
    return before, after


def test_a_pair_has_the_very_pixels_whatever_frames_are_drawn_into_its_picture():
    before, after = changed_at((30, 10), (31, 12))
    picture = beside(before, after)
    picture[3:9, 200:230] = 0  # a frame
    detail = {"class": "red", "other_class": "green", "confidence_before": 0.97}
    pair = pair_of(Finding("adversarial", "x: flips", 0.9, detail, picture, image(after)))
    assert pair is not None
    assert pair.before.shape == (40, 40, 3) and pair.changed.sum() == 2
    assert pair.words_before == "“red”, 97.0 % sure" and pair.words_after == "“green”"
    assert math.isnan(pair.sure_after)


def test_the_close_look_holds_every_changed_pixel_and_lies_inside_the_picture():
    before, after = changed_at((0, 39), (2, 38))
    pair = pair_of(Finding("a", "t", 1.0, {}, beside(before, after), image(after)))
    assert pair is not None
    box = pair.close()
    assert isinstance(box, PixelSquare)
    assert box.left >= 0 and box.left + box.side <= 40 and box.top == 0
    inside = pair.changed[box.top : box.top + box.side, box.left : box.left + box.side]
    assert inside.sum() == 2


def test_noise_over_the_whole_picture_needs_no_close_look_and_its_difference_is_enlarged():
    before = np.full((40, 40, 3), 90, np.uint8)
    after = before + np.random.default_rng(0).integers(1, 4, before.shape, dtype=np.uint8)
    pair = pair_of(Finding("a", "t", 1.0, {}, beside(before, after), image(after)))
    assert pair is not None and pair.close() is None
    assert pair.gain > 20 and pair.difference().max() > 200


def test_one_picture_and_inputs_of_two_classes_are_no_pair():
    one = np.zeros((40, 40, 3), np.uint8)
    assert pair_of(Finding("trap", "t", 1.0, {}, one)) is None
    assert pair_of(Finding("trap", "t", 1.0)) is None
    before, after = changed_at((3, 3))
    shown = {"inputs": [1, 2]}
    assert pair_of(Finding("confusion", "t", 1.0, shown, beside(before, after))) is None
