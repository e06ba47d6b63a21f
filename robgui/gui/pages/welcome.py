"""The welcome page: open a model, open data, start the demo, or go on with something recent."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.theme import icon, pixmap, set_heading, theme
from robgui.gui.widgets.plain import Label, tip

#: How the name of a workspace ends.
_WORKSPACE = ".robgui"


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
                "Nine steps in three minutes: the program runs its methods on the demo and says"
                " what they show."
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
        title = set_heading(Label("How robust is your classifier?", wordWrap=True), "hero")
        text = Label(
            "Load a model, point at an input, press Run, and watch where its answers break. Files"
            " can be dropped anywhere on this window.",
            wordWrap=True,
        )
        text.setProperty("role", "quiet")
        cards = QHBoxLayout()
        cards.setSpacing(16)
        for name, mark, heading, words in self._CARDS:
            cards.addWidget(self._card(name, mark, heading, words), 1)
        self._work = QVBoxLayout()
        self._work_title = set_heading(Label("Recent work"), "section")
        self._recent = QVBoxLayout()
        self._recent_title = set_heading(Label("Recent files"), "section")
        layout = QVBoxLayout(page)
        layout.setContentsMargins(32, 32, 32, 32)
        layout.setSpacing(16)
        layout.addWidget(title)
        layout.addWidget(text)
        layout.addLayout(cards)
        layout.addWidget(self._work_title)
        layout.addLayout(self._work)
        layout.addWidget(self._recent_title)
        layout.addLayout(self._recent)
        layout.addStretch(1)
        theme.changed.connect(self._tint)
        self._tint()
        self.show_recent(())
        self.show_work(())

    def show_recent(self, paths: tuple[str, ...]) -> None:
        """Lists recently opened models and data."""
        files = [Path(text) for text in paths if Path(text).suffix != _WORKSPACE]
        self._recent_title.setVisible(bool(files))
        self._list(self._recent, [(path, path.name) for path in files[:6]])

    def show_work(self, paths: tuple[str, ...]) -> None:
        """Lists the workspaces worked with lately; the first one is open."""
        others = [Path(text) for text in paths[1:]]
        self._work_title.setVisible(bool(others))
        self._list(self._work, [(path, path.stem) for path in others[:4]])

    def _list(self, layout: QVBoxLayout, links: list[tuple[Path, str]]) -> None:
        while (item := layout.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
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
            picture.setPixmap(pixmap(mark, 40, theme.colours.accent))
        for name, mark, _, _ in self._CARDS:
            primary = name == "start_demo"
            self._buttons[name].setIcon(
                icon(mark, theme.colours.on_accent) if primary else icon(mark)
            )
