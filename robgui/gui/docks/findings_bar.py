"""The bar above the findings: which are shown, how many there are, what can be done with all."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QToolButton, QWidget

from robgui.core.finding_groups import Group
from robgui.gui.widgets.plain import Label


class FindingsBar(QWidget):
    """Filters by text, kind and star.

    Signals:
        changed: Other findings pass now.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = QLineEdit(clearButtonEnabled=True)
        self.text.setPlaceholderText("Filter by title, kind or note")
        self.text.setAccessibleName("Filter findings by text")
        self.kinds = QComboBox()
        self.kinds.setAccessibleName("Show only this kind")
        self.kinds.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.kinds.setMinimumContentsLength(9)
        self.kinds.addItem("All kinds", "")
        self.starred = QCheckBox("Starred only")
        self.count = Label()
        self.count.setProperty("role", "quiet")
        self.count.setAccessibleName("How many findings are shown")
        self.harm = QToolButton(
            text="Harm …",
            toolTip="Say how bad it is to take one class for another; severities follow",
            autoRaise=True,
        )
        self.export = QToolButton(
            toolTip="Export the findings shown as images and CSV", autoRaise=True
        )
        self.export.setAccessibleName("Export findings")
        self._arrange()
        self.text.textChanged.connect(lambda _: self.changed.emit())
        self.kinds.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.starred.toggled.connect(lambda _: self.changed.emit())

    def take_kinds(self, kinds: Iterable[str]) -> None:
        """Fills the list of kinds; the chosen one stays."""
        chosen = self.kinds.currentData()
        with QSignalBlocker(self.kinds):
            self.kinds.clear()
            self.kinds.addItem("All kinds", "")
            for kind in sorted(set(kinds)):
                self.kinds.addItem(kind, kind)
            self.kinds.setCurrentIndex(max(0, self.kinds.findData(chosen)))

    def passes(self, group: Group) -> bool:
        """Whether an entry is shown."""
        finding = group.lead
        if self.starred.isChecked() and not finding.starred:
            return False
        if self.kinds.currentData() not in ("", None, finding.kind):
            return False
        words = self.text.text().casefold().split()
        titles = " ".join(one.title for one in group.members)
        text = f"{titles} {finding.kind} {finding.note}".casefold()
        return all(word in text for word in words)

    def tell(self, shown: int, total: int, entries: int) -> None:
        """How many findings are shown of how many, and as how many entries."""
        self.export.setEnabled(bool(entries))
        self.harm.setEnabled(bool(total))
        said = f"{total:,}" if shown == total else f"{shown:,} of {total:,}"
        self.count.setText(said if shown == entries else f"{said} in {entries:,} entries")

    def _arrange(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.text, 1)
        for widget in (self.kinds, self.starred, self.count, self.harm, self.export):
            row.addWidget(widget)
