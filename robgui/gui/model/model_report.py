"""What is said of a model in its dialog: facts, how often it is right, what is wrong, examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from robgui.gui.app.theme import heading_font
from robgui.gui.model.model_cards import Cards
from robgui.gui.model.model_check import times
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.core.model.card import ModelCard

_WORDS = {"image": "images", "table": "table rows", "sequence": "sequences"}


class ModelReport(QWidget):
    """The right side of the dialog, filled in by its caller.

    Attributes:
        facts: File, kind, shape, classes, what it can do.
        verdict: How often it is right.
        problem: Why it cannot be used or shown.
        warnings: What is probably wrong.
        guess: Asks to try other ways of feeding the model; on show while it is doubted.
        notes: What is good to know.
        cards: Eight inputs with what the model says.
    """

    def __init__(self, classifier: ModelCard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.facts = Label(facts_of(classifier), wordWrap=True)
        self.facts.setProperty("role", "quiet")
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.facts.setAccessibleName("What is known of the model")
        self.verdict = Label(wordWrap=True)
        self.verdict.setFont(heading_font(1.2))
        self.verdict.setAccessibleName("How often the model is right")
        self.problem = _said("bad", "Problem")
        self.warnings = _said("warning", "What is probably wrong")
        self.guess = QPushButton("Guess …")
        self.guess.setToolTip("Tries the usual preprocessing, and other orders of the class names.")
        # In a dialog a button with the focus becomes the default, and Return means Use model.
        self.guess.setAutoDefault(False)
        self.guess.hide()
        self.notes = _said("quiet", "Good to know")
        self.cards = Cards()
        title = Label(classifier.name)
        title.setFont(heading_font())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for known in (title, self.facts, self.verdict):
            layout.addWidget(known)
        # Above the warnings: they grow when more is known, and would push it from under the mouse.
        layout.addWidget(self.guess, 0, Qt.AlignmentFlag.AlignLeft)
        for widget in (self.problem, self.warnings, self.notes):
            layout.addWidget(widget)
        layout.addWidget(self.cards, 1)


def _said(role: str, name: str) -> QLabel:
    label = Label(wordWrap=True)
    label.setProperty("role", role)
    label.setAccessibleName(name)
    label.hide()
    return label


def tell(label: QLabel, *sentences: str) -> None:
    """Says these sentences, a line each; without any the label is hidden."""
    text = "\n".join(sentence for sentence in sentences if sentence)
    label.setText(text)
    label.setVisible(bool(text))


def facts_of(classifier: ModelCard) -> str:
    """File, kind, shape, classes, what it can do and why not."""
    able = classifier.capabilities
    lines = [str(classifier.path) if classifier.path is not None else "Not from a file."]
    lines.append(
        f"Takes {_WORDS[classifier.kind]} of {times(classifier.shape)}, gives"
        f" {classifier.classes:,} classes, runs on {classifier.device}."
    )
    if able.gradients and able.activations:
        lines.append("Gradients and activations are available.")
    else:
        missing = " and ".join(
            word
            for word, has in (("gradients", able.gradients), ("activations", able.activations))
            if not has
        )
        lines.append(f"No {missing}: {able.reason}.")
    if classifier.remarks:
        kind = (classifier.path.suffix if classifier.path else "") or "Remarks"
        lines.append(f"{kind}: {'; '.join(classifier.remarks)}.")
    return "\n".join(lines)
