"""The pictures of a finding on a slide: what it shows, each part with a caption, and what has
changed between two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from robgui.core.dataset.picture import picture_of
from robgui.core.text.words import number, percent
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.core.finding import Finding

#: A picture of two has the input on the left and, after a white gap this wide, the one that fails.
_GAP = 8
#: No change is both the middle of the greys and what this is added to.
_GREY = 128
MOST_PARTS = 3


@dataclass(frozen=True, slots=True)
class Part:
    """One picture with its caption: ``(h, w, 3)`` uint8, or the bytes of a file."""

    picture: np.ndarray | bytes
    caption: str


def parts_of(finding: Finding) -> tuple[Part, ...]:
    """What to show of a finding: a pair with its difference, or its one picture.

    Nothing when it has none.
    """
    picture = finding.picture
    if picture is None:
        return ()
    halves = (
        None if finding.detail.get("inputs") else _halves(picture)
    )  # inputs of two classes are no pair
    if halves is None:
        return (Part(picture, _caption(finding.detail)),)
    first, second = halves
    detail = finding.detail
    before = Part(first, f"Input: {_answer(detail.get('class'), detail.get('confidence_before'))}")
    after = Part(
        second, f"Changed: {_answer(detail.get('other_class'), detail.get('confidence_after'))}"
    )
    change = _difference(finding, first, second)
    return (before, after) if change is None else (before, after, change)


def _halves(picture: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Both pictures of a pair; None when there is no white gap in the middle."""
    width = (picture.shape[1] - _GAP) // 2
    if (
        width < 1
        or 2 * width + _GAP != picture.shape[1]
        or not (picture[:, width : width + _GAP] == 255).all()
    ):
        return None
    return picture[:, :width], picture[:, width + _GAP :]


def _difference(finding: Finding, first: np.ndarray, second: np.ndarray) -> Part | None:
    """The second less the first, enlarged to the range of greys.

    None where it is not an image or nothing can be seen.
    """
    x = finding.input
    if x is None or x.ndim != 3:
        return None
    factor = max(1, first.shape[0] // x.shape[1])
    before, after = (
        first[::factor, ::factor],
        picture_of(x, "image"),
    )  # the second half may have frames drawn into it
    if before.shape != after.shape:
        return None
    change = after.astype(int) - before
    most = int(np.abs(change).max())
    if most == 0:
        return None
    gain = max(1, (_GREY - 1) // most)
    shown = np.clip(_GREY + gain * change, 0, 255).astype(np.uint8)
    often = f", enlarged {gain} times" if gain > 1 else ""
    return Part(shown.repeat(factor, 0).repeat(factor, 1), f"The change{often}; grey: none")


def _answer(name: Any, confidence: Any = None) -> str:
    words = f"“{name}”" if name else "another class"
    return f"{words}, {percent(float(confidence))} sure" if isinstance(confidence, float) else words


def _caption(detail: dict[str, Any]) -> str:
    """Class and answer, as far as the finding knows them."""
    if isinstance(answers := detail.get("answers"), dict):
        sure = detail.get("confidence") or {}
        return "; ".join(
            f"{model}: {_answer(name, sure.get(model))}" for model, name in answers.items()
        )
    name = detail.get("class")
    if not name:
        return ""
    if "place" in detail and detail.get("wrong"):
        sure = _answer(detail.get("other_class"), detail.get("confidence"))
        return f"“{name}” by its label; the model says {sure}"
    if detail.get("inputs") and detail.get("other_class"):
        return f"Inputs of “{name}” and “{detail['other_class']}”"
    if detail.get("seen_as"):
        score = detail.get("score")
        return f"“{name}”, seen as “{detail['seen_as']}”" + (
            f"; score of “{name}”: {number(score)}" if isinstance(score, float) else ""
        )
    return f"Input: “{name}”"


class Pictures(QWidget):
    """Up to three pictures with captions: one alone, two beside each other, a third below them."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.exhibits = [Exhibit() for _ in range(MOST_PARTS)]
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(16)
        self.show_parts(())

    def show_parts(self, parts: Sequence[Part]) -> None:
        """Shows these and nothing else."""
        for exhibit in self.exhibits:
            self._grid.removeWidget(exhibit)
        for place, exhibit in enumerate(self.exhibits):
            part = parts[place] if place < len(parts) else None
            exhibit.show_part(part)
            exhibit.setVisible(part is not None)
            if part is not None:
                alone = len(parts) == 1 or place == 2
                self._grid.addWidget(exhibit, place // 2, place % 2, 1, 2 if alone else 1)
        for line in range(2):
            self._grid.setColumnStretch(line, 1)
            self._grid.setRowStretch(line, int(line == 0 or len(parts) > 2))

    def set_type(self, font: QFont) -> None:
        """The type of all captions."""
        for exhibit in self.exhibits:
            exhibit.caption.setFont(font)


class Exhibit(QWidget):
    """A picture as large as it fits, and what it is."""

    def __init__(self) -> None:
        super().__init__()
        self.picture = Fitted()
        self.caption = Label(
            alignment=Qt.AlignmentFlag.AlignCenter,
            wordWrap=True,
            textFormat=Qt.TextFormat.PlainText,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.picture, 1)
        layout.addWidget(self.caption)

    def show_part(self, part: Part | None) -> None:
        """Shows ``part``, or nothing."""
        self.caption.setText("" if part is None else part.caption)
        self.caption.setVisible(bool(self.caption.text()))
        self.picture.setAccessibleName(self.caption.text())
        self.picture.show_pixmap(QPixmap() if part is None else _pixmap(part.picture))


class Fitted(Label):
    """A picture that follows the size of its place.

    An image of few pixels shows them as they are.
    """

    def __init__(self) -> None:
        super().__init__(alignment=Qt.AlignmentFlag.AlignCenter)
        self._whole = QPixmap()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def show_pixmap(self, pixmap: QPixmap) -> None:
        """Shows ``pixmap``, scaled."""
        self._whole = pixmap
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._whole.isNull():
            self.clear()
            return
        room = QSize(max(1, self.width()), max(1, self.height()))
        grows = self._whole.width() < room.width() and self._whole.height() < room.height()
        mode = (
            Qt.TransformationMode.FastTransformation
            if grows
            else Qt.TransformationMode.SmoothTransformation
        )
        self.setPixmap(self._whole.scaled(room, Qt.AspectRatioMode.KeepAspectRatio, mode))


def _pixmap(picture: np.ndarray | bytes) -> QPixmap:
    pixmap = QPixmap()
    if isinstance(picture, bytes):
        pixmap.loadFromData(picture)
        return pixmap
    height, width = picture.shape[:2]
    return QPixmap.fromImage(
        QImage(
            np.ascontiguousarray(picture).data,
            width,
            height,
            3 * width,
            QImage.Format.Format_RGB888,
        )
    )
