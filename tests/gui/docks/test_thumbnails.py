from __future__ import annotations

import threading

import numpy as np
import pytest
from PySide6.QtGui import QPixmap

from robgui.core.errors import DataError
from robgui.gui.docks.thumbnails import Thumbnails, qimage
from robgui.gui.state.background import Background


@pytest.fixture
def background(qtbot):
    made = Background(2)
    yield made
    assert made.shutdown()


def grey(key):
    return np.full((3, 5, 3), key % 256, np.uint8)


def test_an_image_keeps_its_pixels_after_the_array_is_gone():
    array = np.zeros((2, 3, 3), np.uint8)
    array[1, 2] = (10, 20, 30)
    image = qimage(array)
    array[:] = 255
    del array
    assert image.pixelColor(2, 1).getRgb()[:3] == (10, 20, 30)
    assert (image.width(), image.height()) == (3, 2)


def test_pictures_arrive_and_the_oldest_are_forgotten(qtbot, background):
    thumbnails = Thumbnails(background, grey, capacity=10)
    for key in range(20):
        thumbnails.want([key])
        qtbot.waitUntil(lambda key=key: thumbnails.get(key) is not None)
    assert isinstance(thumbnails.get(19), QPixmap)
    assert thumbnails.get(0) is None


def test_what_scrolled_out_of_sight_is_never_read(qtbot, background):
    gate, read = threading.Event(), []

    def slow(key):
        gate.wait(5)
        read.append(key)
        return grey(key)

    thumbnails = Thumbnails(background, slow)
    thumbnails.want(range(1000))
    thumbnails.want([5000])
    gate.set()
    qtbot.waitUntil(lambda: thumbnails.get(5000) is not None)
    assert len(read) < 20


def test_an_answer_for_an_older_dataset_is_dropped(qtbot, background):
    gate = threading.Event()

    def slow(key):
        gate.wait(5)
        return grey(key)

    thumbnails = Thumbnails(background, slow)
    thumbnails.want([1])
    thumbnails.reset(grey)
    gate.set()
    qtbot.waitUntil(lambda: not background.busy)
    assert thumbnails.get(1) is None


def test_a_bad_file_becomes_its_sentence(qtbot, background):
    def bad(key):
        raise DataError("x.png is damaged; replace it.")

    thumbnails = Thumbnails(background, bad)
    thumbnails.want([1])
    qtbot.waitUntil(lambda: thumbnails.get(1) is not None)
    assert thumbnails.get(1) == "x.png is damaged; replace it."


def test_an_unforeseen_error_is_told_once_and_the_next_pictures_come(qtbot, background):
    told = []
    background.failed.connect(lambda sentence, details: told.append(sentence))

    def odd(key):
        if key == 0:
            raise ZeroDivisionError
        return grey(key)

    thumbnails = Thumbnails(background, odd)
    thumbnails.want([0])
    qtbot.waitUntil(lambda: isinstance(thumbnails.get(0), str))
    thumbnails.want([0, 1])
    qtbot.waitUntil(lambda: isinstance(thumbnails.get(1), QPixmap))
    assert len(told) == 1
