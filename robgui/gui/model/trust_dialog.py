"""May this file run code? The question before a file becomes a model, which none can forge."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.execution.choice import one_process
from robgui.core.trust.meaning import meaning_of
from robgui.gui.app.theme import heading_font, icon, theme
from robgui.gui.widgets.plain import Label, visible

if TYPE_CHECKING:
    from robgui.core.trust import Code

_SAFER = (
    "Ask for the model as .safetensors, .onnx or .pt2: these hold numbers and layers, and usually"
    " run nothing."
)
#: Of weights whose network Python builds: other weights would need that Python too.
_SAFER_BUILT = (
    "Ask for the model as .onnx or .pt2: these hold the layers too, so no Python has to build"
    " them, and usually run nothing."
)
_SAFER_SKLEARN = (
    "Ask for the model as .skops: it holds numbers and the names of known parts of scikit-learn,"
    " and usually runs nothing."
)
_ONLY_IF = "No list proves it harmless: go on only if you made the file yourself or know who did."
_FREE = "Such code can read, change and send your files."
_CONFINED = (
    "Such code can read your files. Its process gives up the rest first, as far as this system can"
    " hold it: it writes only to a folder of its own, uses no network and starts no program;"
    " “robgui doctor” says what holds here."
)
#: Characters of a source that are shown; the dialog says when there are more.
_LONGEST = 100_000


class TrustDialog(QDialog):
    """Says what a file is, the safer way, and what it would run; the default is no.

    Attributes:
        said: Why the file was refused.
        runs: What it would run, in plain words.
        alarming: What it would run that no model needs.
        what: Every call and all code, letter by letter.
        warning: What code can do.
        trust: Opens the file.
        cancel: Leaves it.
    """

    def __init__(self, code: Code, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Do you trust this file?")
        meaning = meaning_of(code)
        title = Label(f"Opening {visible(code.model.name)} would run code")
        title.setFont(heading_font())
        title.setWordWrap(True)
        mark = Label()
        mark.setPixmap(icon("warning", theme.colours.warning).pixmap(32, 32))
        self.said = Label(visible(meaning.what or sentence), wordWrap=True)
        self.alarming = _lines(meaning.alarming)
        self.alarming.setProperty("role", "bad")
        self.runs = _lines(meaning.usual)
        self.warning = Label(what_code_can(), wordWrap=True)
        # Plain text: rich text within a source could paint a dialog of its own.
        self.what = QPlainTextEdit(what_runs(code), readOnly=True)
        self.what.setAccessibleName("Every call and all code")
        self.what.setTabChangesFocus(True)
        self.what.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.what.setMinimumHeight(self.fontMetrics().height() * 5)
        self.trust = QPushButton("Trust and open")
        # Return must not trust a file, wherever the focus is.
        self.trust.setAutoDefault(False)
        self.trust.clicked.connect(self.accept)
        self.cancel = QPushButton("Cancel", default=True)
        self.cancel.clicked.connect(self.reject)
        head = QHBoxLayout()
        head.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(title, 1)
        self._lay_out(head, safer_than(code))
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 90)
        self.cancel.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt asks wrapped text for its height before it knows the width; here both are known."""
        super().showEvent(event)
        if (layout := self.layout()) is not None:
            wanted = layout.totalHeightForWidth(self.width())
            # However long the code is, the buttons stay on the screen.
            room = self.screen().availableSize().height() * 9 // 10
            self.resize(self.width(), min(wanted, room))

    def _lay_out(self, head: QHBoxLayout, safer: str) -> None:
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.trust)
        buttons.addWidget(self.cancel)
        layout = QVBoxLayout(self)
        # Wrapped lines ask for the height of a narrow dialog; showEvent knows the real one.
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addWidget(self.said)
        layout.addWidget(_heading("Safer"))
        layout.addWidget(Label(safer, wordWrap=True))
        layout.addWidget(_heading("What it would run"))
        for label in (self.alarming, self.runs):
            layout.addWidget(label)
            label.setVisible(bool(label.text()))
        layout.addWidget(self.warning)
        layout.addWidget(_heading("Every call and all code"))
        layout.addWidget(self.what, 1)
        layout.addLayout(buttons)


def safer_than(code: Code) -> str:
    """In which form the same model would run nothing of this code."""
    if any(name.partition(".")[0] == "sklearn" for name in code.imports):
        return _SAFER_SKLEARN
    if code.architecture:
        return _SAFER_BUILT
    return _SAFER


def what_code_can() -> str:
    """What trusted code can do on this system, in the process that models are opened in."""
    confined = sys.platform == "linux" and not one_process()
    return f"{_CONFINED if confined else _FREE} {_ONLY_IF}"


def _heading(text: str) -> QLabel:
    label = Label(text)
    label.setFont(heading_font(1.1))
    return label


def _lines(lines: Iterable[str]) -> QLabel:
    return Label("\n".join(f"•  {visible(line)}" for line in lines), wordWrap=True)


def ask_trust(code: Code, sentence: str, parent: QWidget | None = None) -> bool:
    """Whether the user trusts what a model would run."""
    return TrustDialog(code, sentence, parent).exec() == QDialog.DialogCode.Accepted


def pickled_calls(code: Code) -> list[str]:
    """What a pickle calls, and whether that is all."""
    if code.listed:
        head = "A pickle in the file calls:"
    elif code.imports:
        head = "A pickle in the file calls these and more that cannot be listed without running it:"
    else:
        head = "A pickle in the file calls what cannot be listed without running it."
    return [head, *(f"    {visible(name)}" for name in code.imports)]


def what_runs(code: Code) -> str:
    """What a model would run, line by line; nothing in a name can pass for a line of its own."""
    lines = [f"Model file: {visible(str(code.model))}"]
    if code.architecture:
        lines.append(f"Call: {visible(code.architecture)}")
    lines += [f"Code: {visible(str(source.path))}" for source in code.sources]
    if code.imports or not code.listed:
        lines += ["", *pickled_calls(code)]
    for source in code.sources:
        if len(source.text) > _LONGEST:
            more = f"\n… and {len(source.text) - _LONGEST:,} letters more"
        else:
            more = ""
        lines += [
            "",
            f"{visible(str(source.path))} says:",
            *(f"    {visible(line)}" for line in source.text[:_LONGEST].splitlines()),
            more,
        ]
    return "\n".join(lines).rstrip()
