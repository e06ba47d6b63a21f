"""Asks where a file goes; a file that is there is replaced only after a question about it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget


def ask_file(
    parent: QWidget, title: str, start: str, kinds: str, *, ending: str = "", replace: bool = True
) -> Path | None:
    """The file that the user chooses, with its ending; None if they think better of it.

    Args:
        parent: Whose dialog it is.
        title: Of the dialog.
        start: The name that is proposed.
        kinds: Qt's filters; the chosen one gives the ending to a name without one.
        ending: The only ending, whatever the name has; empty takes any.
        replace: Whether the user is asked about a file that is there already.
    """
    if replace:
        text, chosen = QFileDialog.getSaveFileName(parent, title, start, kinds)
    else:
        quiet = QFileDialog.Option.DontConfirmOverwrite
        text, chosen = QFileDialog.getSaveFileName(parent, title, start, kinds, options=quiet)
    if not text:
        return None
    typed = Path(text)
    # A desktop's own dialog may not say which filter was chosen; the first then counts.
    path = _with_ending(typed, ending, chosen or kinds)
    # Qt has asked about the name as typed. With its ending it may be another file.
    if replace and path != typed and path.exists() and not _may_replace(parent, path):
        return None
    return path


def _with_ending(path: Path, ending: str, chosen: str) -> Path:
    if path.suffix and path.suffix == (ending or path.suffix):
        return path
    # Appended: with_suffix would make v1.toml of v1.2. "HTML (*.html)" names the ending.
    return path.with_name(path.name + (ending or chosen[chosen.find("*") + 1 : chosen.find(")")]))


def _may_replace(parent: QWidget, path: Path) -> bool:
    buttons = QMessageBox.StandardButton
    box = QMessageBox(parent, icon=QMessageBox.Icon.Question)
    box.setWindowTitle("Replace file")
    # A file's name is no markup.
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(f"{path.name} exists already in {path.parent}. Replace it?")
    box.setStandardButtons(buttons.Yes | buttons.No)
    # Whoever presses Enter before reading keeps the file.
    box.setDefaultButton(buttons.No)
    return box.exec() == buttons.Yes
