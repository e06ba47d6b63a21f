"""Shows words as they are: Qt takes angle brackets for rich text, and anyone may name files."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget

#: Words that are too long for a narrow column, and where they may break.
_LONG_NAME, _JOINT = re.compile(r"\S{17,}"), re.compile(r"(?<=_)(?=\w)|(?=\.[a-z])")
#: A tooltip is never longer.
_LONGEST_TIP = 5_000
#: Qt wraps rich text only, so a tooltip longer than this is written as such.
_ONE_LINE = 100


class Label(QLabel):
    """A label that shows its text letter by letter."""

    def __init__(self, *arguments: Any, **properties: Any) -> None:
        super().__init__(*arguments, **{"textFormat": Qt.TextFormat.PlainText, **properties})


class Paragraph(Label):
    """Wrapped words that are as high as their lines.

    Some layouts give a label the height of another width.
    """

    def __init__(self, *arguments: Any, **properties: Any) -> None:
        super().__init__(*arguments, **{"wordWrap": True, **properties})

    def setText(self, text: str) -> None:
        super().setText(text)
        self._hold_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._hold_height()

    def _hold_height(self) -> None:
        self.setMinimumHeight(0)  # A label's height for a width is never below its minimum.
        self.setMinimumHeight(max(0, self.heightForWidth(self.width())))


def tip(text: str) -> str:
    """``text`` as a tooltip that shows it letter by letter; a long one is wrapped."""
    # Without them Qt takes nothing for rich text.
    if len(text) < _ONE_LINE and not set(text) & {"<", "&"}:
        return text
    return f'<p style="white-space:pre-wrap">{escape(text[:_LONGEST_TIP])}</p>'


def unbroken(words: str) -> str:
    """A number and its per cent sign stay in one line."""
    return words.replace(" %", "\N{NO-BREAK SPACE}%")


def breakable(words: str) -> str:
    """Lets long file names break where a person would: behind ``_``, before an ending."""
    return _LONG_NAME.sub(lambda found: _JOINT.sub("\N{ZERO WIDTH SPACE}", found[0]), words)


def set_tip(widget: QWidget | QAction, text: str) -> None:
    """Gives a widget a tooltip that shows ``text`` letter by letter."""
    widget.setToolTip(tip(text))


def question(title: str, text: str, more: str, parent: QWidget | None) -> QMessageBox:
    """A question whose words are shown letter by letter; its buttons are for the caller to add."""
    box = QMessageBox(QMessageBox.Icon.Question, title, text, parent=parent)
    box.setInformativeText(more)
    for label in box.findChildren(QLabel):  # The box passes a format on to its first label only.
        label.setTextFormat(Qt.TextFormat.PlainText)
    return box


def visible(text: str) -> str:
    """Text on one line with everything seen: unprintable and reordering characters spelled out."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def in_menu(text: str) -> str:
    """Text of an entry in a menu: ``&`` would underline the letter behind it."""
    return visible(text).replace("&", "&&")
