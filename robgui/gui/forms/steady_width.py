"""Buttons whose words change and whose width does not."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton


def hold_width(button: QPushButton, *words: str) -> None:
    """Makes a button wide enough for any of its words."""
    # On another button: new words on the real one would lay out the pane for each of them.
    sample = QPushButton(icon=button.icon())
    for name in ("role", "tight"):
        sample.setProperty(name, button.property(name))
    widths = []
    for text in words:
        sample.setText(text)
        # Before, it has neither the font nor the margins of the style sheet.
        sample.ensurePolished()
        widths.append(sample.sizeHint().width())
    button.setMinimumWidth(max(widths))
