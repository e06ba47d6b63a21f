"""The welcome page: what the program does in one picture, the ways to begin, recent work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QResizeEvent
from PySide6.QtWidgets import (
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
from robgui.gui.app.theme import icon, pixmap, set_heading, theme
from robgui.gui.pages.work_card import WorkCard
from robgui.gui.widgets.pair.pair_picture import PairPicture
from robgui.gui.widgets.plain import Label, tip

#: What the picture shows; a test finds the same pair with the demo.
CAPTION = (
    "From the demo: two changed pixels, and the network takes the red light for green. Drag the"
    " slider."
)
_SURE = (0.972, 0.507)
#: Pixels of the sign of a card, at the usual text size.
_MARK = 40
#: Workspaces shown with a picture.
_MOST_WORK = 4
#: How the name of a workspace ends.
_WORKSPACE = ".robgui"
#: How the width is shared by the ways to begin and the picture, and the pixels around both.
_LEFT, _RIGHT, _EDGE = 6, 7, 32
#: The picture: width by height, its highest share of the page, and lines of text it has at least.
_SHAPE, _HIGHEST, _LINES = 1.52, 0.62, 20


class Welcome(QScrollArea):
    """What a new user sees first.

    Signals:
        wants: The name of an action.
        wants_file: The path of a recently opened file.
    """

    wants = Signal(str)
    wants_file = Signal(object)

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
            "PyTorch, Hugging Face, ONNX, Keras, TensorFlow Lite or scikit-learn (.skops).",
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
        page = QWidget()
        self.setWidget(page)
        self._marks: list[tuple[QLabel, str]] = []
        self._buttons: dict[str, QPushButton] = {}
        cards = QGridLayout()
        cards.setSpacing(16)
        for place, (name, mark, heading, words) in enumerate(self._CARDS):
            cards.addWidget(self._card(name, mark, heading, words), place // 2, place % 2)
        self._work = QHBoxLayout()
        self._work.setSpacing(16)
        self._work_title = set_heading(Label("Recent work"), "section")
        self._recent = QVBoxLayout()
        self._recent_title = set_heading(Label("Recent files"), "section")
        layout = QVBoxLayout(page)
        layout.setContentsMargins(*[_EDGE] * 4)
        layout.setSpacing(16)
        layout.addLayout(self._top(cards))
        layout.addWidget(self._work_title)
        layout.addLayout(self._work)
        layout.addWidget(self._recent_title)
        layout.addLayout(self._recent)
        layout.addStretch(1)
        theme.changed.connect(self._tint)
        self._tint()
        self.show_recent(())
        self.show_work(())

    def _top(self, cards: QGridLayout) -> QHBoxLayout:
        """The ways to begin on the left, what the program does on the right."""
        title = set_heading(Label("How robust is your classifier?", wordWrap=True), "hero")
        text = Label(
            "Load a model, point at an input, press Run, and watch where its answers break. Files"
            " can be dropped anywhere on this window.",
            wordWrap=True,
        )
        text.setProperty("role", "quiet")
        left = QVBoxLayout()
        left.setSpacing(16)
        left.addWidget(title)
        left.addWidget(text)
        left.addLayout(cards)
        left.addStretch(1)
        self.picture = PairPicture()
        self.picture.show_pair(opening_pair())
        caption = Label(CAPTION, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        caption.setProperty("role", "quiet")
        right = QVBoxLayout()
        right.addWidget(self.picture)
        right.addWidget(caption)
        right.addStretch(1)
        top = QHBoxLayout()
        top.setSpacing(_EDGE)
        top.addLayout(left, _LEFT)
        top.addLayout(right, _RIGHT)
        return top

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The picture is as large as its column, and leaves a third of the page to recent work."""
        super().resizeEvent(event)
        column = self.viewport().width() * _RIGHT / (_LEFT + _RIGHT) - 2 * _EDGE
        high = min(column / _SHAPE, self.viewport().height() * _HIGHEST)
        least = self.fontMetrics().height() * _LINES
        self.picture.setFixedHeight(max(least, round(high)))

    def show_recent(self, paths: tuple[str, ...]) -> None:
        """Lists recently opened models and data."""
        files = [Path(text) for text in paths if Path(text).suffix != _WORKSPACE]
        self._recent_title.setVisible(bool(files))
        self._list(self._recent, [(path, path.name) for path in files[:6]])

    def show_work(self, paths: tuple[str, ...]) -> None:
        """Shows the workspaces worked with lately; the first one is open."""
        others = [Path(text) for text in paths[1:]][:_MOST_WORK]
        self._work_title.setVisible(bool(others))
        _clear(self._work)
        for path in others:
            card = WorkCard(path)
            card.clicked.connect(lambda _=False, path=path: self.wants_file.emit(path))
            self._work.addWidget(card)
        self._work.addStretch(1)

    def _list(self, layout: QVBoxLayout, links: list[tuple[Path, str]]) -> None:
        _clear(layout)
        for path, name in links:
            button = QPushButton(f"{name}    {path.parent}", toolTip=tip(str(path)))
            button.setProperty("role", "link")
            button.clicked.connect(lambda _=False, path=path: self.wants_file.emit(path))
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)

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
        layout = QVBoxLayout(card)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(picture)
        layout.addWidget(text, 1, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(button)
        if name == "open_data":  # a dialog for files cannot choose a folder
            folder = QPushButton("Open image folder …")
            folder.setProperty("role", "link")
            folder.clicked.connect(lambda: self.wants.emit("open_folder"))
            self._buttons["open_folder"] = folder
            layout.addWidget(folder, 0, Qt.AlignmentFlag.AlignHCenter)
        return card

    def _tint(self) -> None:
        for picture, mark in self._marks:
            picture.setPixmap(pixmap(mark, theme.grown(_MARK), theme.colours.accent))
        for name, mark, _, _ in self._CARDS:
            primary = name == "start_demo"
            self._buttons[name].setIcon(
                icon(mark, theme.colours.on_accent) if primary else icon(mark)
            )


def opening_pair() -> Pair:
    """The pair that the demo opens with: a red light before and after two pixels are changed."""
    before, after = (_pixels(f"{name}.png") for name in ("before", "after"))
    return Pair(before, after, "red", "green", *_SURE)


def _pixels(name: str) -> np.ndarray:
    image = QImage(str(resources.path("welcome", name))).convertToFormat(
        QImage.Format.Format_RGB888
    )
    rows = np.frombuffer(bytes(image.constBits()), np.uint8)
    rows = rows.reshape(image.height(), image.bytesPerLine())[:, : 3 * image.width()]
    return rows.reshape(image.height(), image.width(), 3).copy()


def _clear(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.deleteLater()
