"""May this file run code? The question before a file becomes a model, which none can forge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.theme import heading_font, icon, theme
from robgui.gui.widgets.plain import Label, visible

if TYPE_CHECKING:
    from robgui.core.trust import Code

_WARNING = (
    "Such code can read, change and send your files. Open it only if you made the file yourself or"
    " know who did. Files in the formats .safetensors, .onnx and .pt2 usually need no trust."
)
#: Characters of a source that are shown; the dialog says when there are more.
_LONGEST = 100_000


class TrustDialog(QDialog):
    """Shows what a model would run; the default is no.

    It lists the call, its files, what a pickle imports, and the code itself.
    """

    def __init__(self, code: Code, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Do you trust this file?")
        title = Label(f"Opening {visible(code.model.name)} runs code that comes with it")
        title.setFont(heading_font())
        title.setWordWrap(True)
        mark = Label()
        mark.setPixmap(icon("warning", theme.colours.warning).pixmap(32, 32))
        self.said = Label(visible(sentence), wordWrap=True)
        self.warning = Label(_WARNING, wordWrap=True)
        self.what = QPlainTextEdit(what_runs(code), readOnly=True)
        self.what.setAccessibleName("What would run")
        self.what.setTabChangesFocus(True)
        self.what.setMinimumHeight(self.fontMetrics().height() * 12)
        self.trust = QPushButton("I trust this file")
        self.trust.setAutoDefault(False)
        self.trust.clicked.connect(self.accept)
        self.refuse = QPushButton("Do not open", default=True)
        self.refuse.clicked.connect(self.reject)
        head = QHBoxLayout()
        head.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(title, 1)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.trust)
        buttons.addWidget(self.refuse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addLayout(head)
        for widget in (self.said, self.what, self.warning):
            layout.addWidget(widget, 1 if widget is self.what else 0)
        layout.addLayout(buttons)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 90)
        self.refuse.setFocus()


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
