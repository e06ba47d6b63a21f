"""The bar above the findings: which are shown, in which order, what can be done with all."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from robgui.core.finding_groups import Group
from robgui.core.text.words import count
from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.pair.chips import confusion_words
from robgui.gui.widgets.plain import Label

WORST, NEWEST, NAMED = "Worst first", "Newest first", "By name"
#: Why fewer cards are seen than findings are counted.
SHARED = "Findings that are alike share one card; the worst of them is shown."


class FindingsBar(QWidget):
    """Filters by text, kind, confusion and star; chooses the order.

    Signals:
        changed: Other findings pass now, or in another order.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = QLineEdit(clearButtonEnabled=True)
        self.text.setPlaceholderText("Filter by title, kind or note")
        self.text.setAccessibleName("Filter findings by text")
        self.kinds = _choice("Show only this kind", "All kinds")
        self.confusions = _choice("Show only this confusion", "All confusions")
        self.order = QComboBox(accessibleName="Order of the findings")
        self.order.addItems([WORST, NEWEST, NAMED])
        self.starred = QCheckBox("Starred only")
        self.count = Label()
        self.count.setProperty("role", "quiet")
        self.count.setAccessibleName("How many findings are shown")
        self.harm = QPushButton(
            "Harm …",
            toolTip="Say how bad it is to take one class for another; severities follow",
        )
        self.present = QPushButton(
            "Present", toolTip="Tells the findings as a story on the whole screen (F11)"
        )
        self.export = QToolButton(
            toolTip="Export the findings shown as images and CSV", autoRaise=True
        )
        self.export.setAccessibleName("Export findings")
        self._arrange()
        self.text.textChanged.connect(lambda _: self.changed.emit())
        for box in (self.kinds, self.confusions, self.order):
            box.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.starred.toggled.connect(lambda _: self.changed.emit())
        theme.changed.connect(self._tint)
        self._tint()

    def take(self, groups: Iterable[Group]) -> None:
        """Fills the lists of kinds and confusions; what is chosen stays."""
        listed = list(groups)
        pairs = {group.lead.confusion for group in listed}
        _fill(self.kinds, {group.lead.kind: group.lead.kind for group in listed})
        _fill(
            self.confusions,
            {confusion_words(*pair): "\n".join(pair) for pair in pairs if pair is not None},
        )

    def passes(self, group: Group) -> bool:
        """Whether an entry is shown."""
        finding = group.lead
        if self.starred.isChecked() and not finding.starred:
            return False
        if self.kinds.currentData() not in ("", None, finding.kind):
            return False
        pair = "\n".join(finding.confusion or ())
        if self.confusions.currentData() not in ("", None, pair):
            return False
        words = self.text.text().casefold().split()
        titles = " ".join(one.title for one in group.members)
        text = f"{titles} {finding.kind} {finding.note}".casefold()
        return all(word in text for word in words)

    def arranged(self, groups: Iterable[Group]) -> list[Group]:
        """The groups that pass, in the chosen order."""
        passing = [group for group in groups if self.passes(group)]
        if self.order.currentText() == NEWEST:
            return sorted(passing, key=lambda group: -group.lead.id)
        if self.order.currentText() == NAMED:
            return sorted(passing, key=lambda group: group.lead.title.casefold())
        return passing

    def tell(self, shown: int, total: int, entries: int) -> None:
        """How many findings are shown of how many, and as how many entries."""
        self.export.setEnabled(bool(entries))
        self.harm.setEnabled(bool(total))
        self.present.setEnabled(bool(total))
        if shown == total:
            said = count(total, "finding")
        else:
            said = f"{shown:,} of {total:,} findings"
        self.count.setText(said if shown == entries else f"{said}, {entries:,} shown")
        self.count.setToolTip("" if shown == entries else SHARED)

    def _arrange(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.text, 1)
        for widget in (self.kinds, self.confusions, self.order, self.starred, self.count):
            row.addWidget(widget)
        for button in (self.harm, self.present, self.export):
            row.addWidget(button)

    def _tint(self) -> None:
        self.export.setIcon(icon("export"))
        self.present.setIcon(icon("present"))


def _choice(name: str, everything: str) -> QComboBox:
    box = QComboBox(accessibleName=name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(12)
    box.addItem(everything, "")
    return box


def _fill(box: QComboBox, entries: dict[str, str]) -> None:
    """Fills a list behind its first entry, which means everything; the chosen one stays."""
    chosen = box.currentData()
    with QSignalBlocker(box):
        while box.count() > 1:
            box.removeItem(1)
        for words in sorted(entries):
            box.addItem(words, entries[words])
        box.setCurrentIndex(max(0, box.findData(chosen)))
