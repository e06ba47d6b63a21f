"""The welcome page: what the program does in one picture, how to begin, recent work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QImage, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from robgui import resources
from robgui.core.finding_pair import Pair
from robgui.gui.app.theme import icon, pixmap, theme
from robgui.gui.pages.start.steps import Questions, ThreeSteps
from robgui.gui.pages.start.work_card import WorkCard
from robgui.gui.widgets.elided import ElidedLink
from robgui.gui.widgets.pair.pair_picture import PairPicture
from robgui.gui.widgets.plain import Label

#: What the picture shows; a test finds the same pair with the demo.
CAPTION = (
    "From the demo: two changed pixels, and the network takes the red light for green. Drag the"
    " slider."
)
_SURE = (0.972, 0.507)
INTRODUCTION = (
    "A small change of its input can turn a right answer into a wrong one. Find such changes,"
    " measure how rare they are, and show them."
)
#: Workspaces shown with a picture, and files listed beside them.
_MOST_WORK, _MOST_FILES = 4, 5
#: Letters of a recent file and its folder that are seen at least.
_FILE_LETTERS = 24
#: How the name of a workspace ends.
_WORKSPACE = ".robgui"
#: How the width is shared by the ways to begin and the picture, and the pixels around both.
_LEFT, _RIGHT, _EDGE, _GAP = 6, 7, 24, 16
#: The picture: width by height, its height by that of the words beside it, lines it has at least.
_SHAPE, _HIGHER, _LINES = 1.52, 1.45, 16
#: A window taller than this many lines gets larger text, up to this factor.
_FULL, _LARGEST = 54, 1.6
#: Headings and the sign of a card, by the height of the words.
_HERO, _SECTION, _MARK = 2.0, 1.15, 2.4


class Welcome(QScrollArea):
    """What a new user sees first.

    Attributes:
        picture: The pair of the demo.
        steps: What to do.
        lately: Recent work and recent files.
        questions: What the methods answer.

    Signals:
        wants: The name of an action.
        wants_file: The path of a recently opened file.
        wants_method: The place of a method in the rail, from 0.
    """

    wants = Signal(str)
    wants_file = Signal(object)
    wants_method = Signal(int)

    _CARDS = (
        (
            "start_demo",
            "present",
            "Start demo",
            (
                "Real networks and data that come with the program. The quickest way to see what it"
                " does."
            ),
        ),
        (
            "guide",
            "eye",
            "Guided tour",
            (
                "A few minutes: the program runs its methods on the demo, one after the other, and"
                " says what they show."
            ),
        ),
        (
            "open_model",
            "model",
            "Open model …",
            "PyTorch, Hugging Face, ONNX, Keras, TensorFlow Lite or scikit-learn.",
        ),
        (
            "open_data",
            "data",
            "Open data …",
            "Images, a folder, zip or tar of them, arrays, tables, a video or trajectories.",
        ),
    )

    def __init__(self) -> None:
        super().__init__(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
        self._page = QWidget()
        self.setWidget(self._page)
        self._marks: list[tuple[QLabel, str]] = []
        self._buttons: dict[str, QPushButton] = {}
        self._headings: list[tuple[QLabel, float]] = []
        self._work, self._recent = QHBoxLayout(), QVBoxLayout()
        self._work_title = self._heading("Recent work", _SECTION)
        self._recent_title = self._heading("Recent files", _SECTION)
        self._questions_title = self._heading("The questions it answers", _SECTION)
        self.steps, self.questions = ThreeSteps(), Questions()
        self._headings += [(label, 1.0) for label in self.steps.headings]
        self.questions.chosen.connect(self.wants_method)
        self.lately = self._make_lately()
        layout = QVBoxLayout(self._page)
        layout.setContentsMargins(*[_EDGE] * 4)
        layout.setSpacing(_GAP)
        layout.addLayout(self._top())
        for widget in (self.steps, self.lately, self._questions_title):
            layout.addStretch(1)
            layout.addWidget(widget)
        layout.addWidget(self.questions)
        layout.addStretch(1)
        theme.changed.connect(self._tint)
        self._tint()
        self.show_recent(())
        self.show_work(())

    def _heading(self, words: str, size: float) -> QLabel:
        label = Label(words, wordWrap=size == _HERO)
        self._headings.append((label, size))
        return label

    def _make_lately(self) -> QWidget:
        """Recent work on the left, recent files beside it."""
        self._work.setSpacing(_GAP)
        self._recent.setSpacing(2)
        grid = QGridLayout(lately := QWidget())
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(_EDGE)
        grid.setVerticalSpacing(8)
        grid.addWidget(self._work_title, 0, 0)
        grid.addWidget(self._recent_title, 0, 1)
        grid.addLayout(self._work, 1, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        grid.addLayout(self._recent, 1, 1, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(1, 1)
        return lately

    def _top(self) -> QHBoxLayout:
        """The ways to begin on the left, what the program does on the right."""
        cards = QGridLayout()
        cards.setSpacing(_GAP)
        for place, (name, mark, heading, words) in enumerate(self._CARDS):
            cards.addWidget(self._card(name, mark, heading, words), place // 2, place % 2)
        text = Label(INTRODUCTION, wordWrap=True)
        text.setProperty("role", "quiet")
        self._ways = QWidget()
        left = QVBoxLayout(self._ways)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(12)
        left.addWidget(self._heading("How robust is your classifier?", _HERO))
        left.addWidget(text)
        left.addLayout(cards, 1)
        self.picture = PairPicture()
        self.picture.show_pair(opening_pair())
        self._caption = Label(CAPTION, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self._caption.setProperty("role", "quiet")
        right = QVBoxLayout()
        right.addWidget(self.picture)
        right.addWidget(self._caption)
        right.addStretch(1)
        top = QHBoxLayout()
        top.setSpacing(_EDGE)
        top.addWidget(self._ways, _LEFT)
        top.addLayout(right, _RIGHT)
        return top

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The page fills the window, whatever its size."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Larger words in a large window; the picture takes the height that the rest leaves.

        Where recent work leaves too little for it, the questions of the methods make room.
        """
        room, wide = self.viewport().height(), self.viewport().width()
        font = QFont(QApplication.font())
        lines = room / QFontMetrics(font).height()
        font.setPointSizeF(font.pointSizeF() * min(_LARGEST, max(1.0, lines / _FULL)))
        for widget in self._page.findChildren(QWidget):  # a styled one takes no other's font
            widget.setFont(font)
        for label, size in self._headings:
            bold = QFont(font)
            bold.setPointSizeF(font.pointSizeF() * size)
            bold.setWeight(QFont.Weight.DemiBold)
            label.setFont(bold)
        line, inner = QFontMetrics(font).height(), wide - 2 * _EDGE
        for mark, name in self._marks:
            mark.setPixmap(pixmap(name, round(_MARK * line), theme.colours.accent))
        self.questions.arrange(inner)
        self._show_work_within(inner)
        asked = (self._questions_title, self.questions)
        # Not isVisible: the page itself may not be on screen yet.
        below = [self.steps, *([] if self.lately.isHidden() else [self.lately])]
        column = (inner - _EDGE) / (_LEFT + _RIGHT)
        beside = self._ways.heightForWidth(round(column * _LEFT))
        high = min(column * _RIGHT / _SHAPE, _HIGHER * beside, self._left(below, inner))
        least = line * _LINES
        shown = self._left([*below, *asked], inner) >= least
        for widget in asked:
            widget.setVisible(shown)
        if shown:
            high = min(high, self._left([*below, *asked], inner))
        self.picture.setFixedHeight(max(least, round(high)))

    def _show_work_within(self, wide: int) -> None:
        """Shows as many cards of recent work as fit beside the recent files, at least one."""
        items = (self._work.itemAt(place) for place in range(self._work.count()))
        widgets = (item.widget() for item in items if item is not None)
        cards = [widget for widget in widgets if widget is not None]
        if self._recent.count():
            wide -= _EDGE + _FILE_LETTERS * self.fontMetrics().averageCharWidth()
        for place, card in enumerate(cards):
            taken = (place + 1) * (card.sizeHint().width() + _GAP) - _GAP
            card.setVisible(place == 0 or taken <= wide)

    def _left(self, below: Sequence[QWidget], wide: int) -> float:
        """The height for the picture above these widgets."""
        rows = sum(max(one.sizeHint().height(), one.heightForWidth(wide)) + _GAP for one in below)
        caption = max(self._caption.heightForWidth(wide // 2), self._caption.sizeHint().height())
        return self.viewport().height() - 2 * _EDGE - rows - caption - _GAP

    def show_recent(self, paths: tuple[str, ...]) -> None:
        """Lists recently opened models and data."""
        files = [Path(text) for text in paths if Path(text).suffix != _WORKSPACE]
        self._recent_title.setVisible(bool(files))
        self._list(self._recent, [(path, path.name) for path in files[:_MOST_FILES]])
        self._show_lately()

    def show_work(self, paths: tuple[str, ...]) -> None:
        """Shows the workspaces worked with lately; the first one is open."""
        others = [Path(text) for text in paths[1:]][:_MOST_WORK]
        self._work_title.setVisible(bool(others))
        _clear(self._work)
        for path in others:
            card = WorkCard(path)
            card.clicked.connect(lambda _=False, path=path: self.wants_file.emit(path))
            self._work.addWidget(card)
        self._show_lately()

    def _show_lately(self) -> None:
        self.lately.setVisible(self._work.count() + self._recent.count() > 0)
        self._fit()

    def _list(self, layout: QVBoxLayout, links: list[tuple[Path, str]]) -> None:
        _clear(layout)
        for path, name in links:
            button = ElidedLink(f"{name} in {path.parent}", "Open it")
            button.clicked.connect(lambda _=False, path=path: self.wants_file.emit(path))
            layout.addWidget(button)

    def button(self, name: str) -> QPushButton:
        """The button of a card, by action name."""
        return self._buttons[name]

    def _card(self, name: str, mark: str, heading: str, words: str) -> QFrame:
        card = QFrame()
        card.setProperty("role", "card")
        picture = Label()
        self._marks.append((picture, mark))
        text = Label(words, wordWrap=True)
        text.setProperty("role", "quiet")
        button = QPushButton(heading)
        button.setProperty("role", "primary" if name == "start_demo" else "")
        button.clicked.connect(lambda: self.wants.emit(name))
        self._buttons[name] = button
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(text, 1, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(card)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.setSpacing(8)
        layout.addLayout(row, 1)
        layout.addWidget(button)
        if name == "open_data":  # a dialog for files cannot choose a folder
            folder = QPushButton("Open image folder …")
            folder.setProperty("role", "link")
            folder.clicked.connect(lambda: self.wants.emit("open_folder"))
            self._buttons["open_folder"] = folder
            layout.addWidget(folder, 0, Qt.AlignmentFlag.AlignHCenter)
        return card

    def _tint(self) -> None:
        for name, mark, _, _ in self._CARDS:
            primary = name == "start_demo"
            self._buttons[name].setIcon(
                icon(mark, theme.colours.on_accent) if primary else icon(mark)
            )
        self._fit()


def opening_pair() -> Pair:
    """The pair that the demo opens with: a red light before and after two pixels are changed."""
    before, after = (_pixels(f"{name}.png") for name in ("before", "after"))
    return Pair(before, after, "red", "green", *_SURE)


def _pixels(name: str) -> np.ndarray:
    image = QImage(str(resources.path("welcome", name))).convertToFormat(
        QImage.Format.Format_RGB888
    )
    rows = np.frombuffer(bytes(image.constBits()), np.uint8)
    # Qt pads each line of an image to a multiple of four bytes.
    rows = rows.reshape(image.height(), image.bytesPerLine())[:, : 3 * image.width()]
    return rows.reshape(image.height(), image.width(), 3).copy()


def _clear(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.deleteLater()
