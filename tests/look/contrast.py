"""Contrast as WCAG 2 measures it, of two colours and of text as it stands on the screen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from tests.look.faults import text_on, worded, words_of

#: WCAG 2.2 AA: of text, and of marks and of what outlines a control.
TEXT, MARK = 4.5, 3.0
#: Less of the height of a letter says nothing of its colour.
HALF = 0.5
#: Letters are smoothed: where none of their pixels has their whole colour, it is a little paler.
SMOOTHED = 0.3


def contrast(one: str, two: str) -> float:
    """From 1, the same, to 21, black on white."""
    lights = [_light(np.array(QColor(each).getRgb()[:3], float)) for each in (one, two)]
    return float((max(lights) + 0.05) / (min(lights) + 0.05))


def pale_texts(window: QWidget) -> Iterator[str]:
    """Text of labels and buttons that can be used whose letters are too pale on their ground."""
    pixels = _pixels(window.grab().toImage())
    for widget in worded(window):
        if not widget.isEnabled() or not isinstance(widget, QLabel | QAbstractButton):
            continue
        words = words_of(widget)
        if not any(letter.isalnum() for letter in words):
            continue
        place = text_on(widget, window).place
        if place.height() < HALF * widget.fontMetrics().height():
            continue  # scrolled out of sight but for an edge
        found = _measured(pixels, place)
        if found < TEXT - SMOOTHED:
            yield f"“{words[:40]}” has a contrast of {found:.2f}"


def _measured(pixels: np.ndarray, place: QRect) -> float:
    """The contrast of the most common colour of a place with the one furthest from it."""
    part = pixels[place.top() : place.bottom() + 1, place.left() : place.right() + 1]
    colours, counts = np.unique(part.reshape(-1, 3), axis=0, return_counts=True)
    lights = _light(colours.astype(float))
    ground = lights[counts.argmax()]
    ratios = (np.maximum(lights, ground) + 0.05) / (np.minimum(lights, ground) + 0.05)
    return float(ratios.max())


def _light(rgb: np.ndarray) -> np.ndarray:
    shares = rgb / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    light: np.ndarray = linear @ np.array([0.2126, 0.7152, 0.0722])
    return light


def _pixels(image: QImage) -> np.ndarray:
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    whole = rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3)
    return whole.copy()  # the image and its memory are gone in a moment
