"""The bar above the findings: which are shown, in which order, what can be done with all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.finding_groups import Group, counted
from robgui.gui.app.theme import icon, set_heading, theme
from robgui.gui.widgets.pair.chips import confusion_words
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.core.execution.request import Reference

WORST, NEWEST, NAMED = "Worst first", "Newest first", "By name"
#: What the number of those alike means.
SHARED = "Findings that are alike count as one and share a card, which shows the worst of them."


class FindingsBar(QWidget):
    """Says how many findings there are; filters by text, model, kind, confusion and star.

    Signals:
        changed: Other findings pass now, or in another order.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = QLineEdit(clearButtonEnabled=True)
        self.text.setPlaceholderText("Filter by title, kind, note or model")
        self.text.setAccessibleName("Filter findings by text")
        self.models = _choice("Show only findings of this model", "All models")
        self.models.hide()
        self._models_of: Mapping[int, Sequence[Reference]] = {}
        self.kinds = _choice("Show only this kind", "All kinds")
        self.confusions = _choice("Show only this confusion", "All confusions")
        self.order = QComboBox(accessibleName="Order of the findings")
        self.order.addItems([WORST, NEWEST, NAMED])
        self.starred = QCheckBox("Starred only")
        self.count = Label()
        self.count.setProperty("role", "quiet")
        self.count.setAccessibleName("How many findings are shown")
        self.harm = QPushButton(
            "Rate harm …",
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
        for box in (self.models, self.kinds, self.confusions, self.order):
            box.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.starred.toggled.connect(lambda _: self.changed.emit())
        theme.changed.connect(self._tint)
        self._tint()

    def take(self, groups: Iterable[Group], models: Mapping[int, Sequence[Reference]]) -> None:
        """Fills the lists of models, kinds and confusions; what is chosen stays.

        Args:
            groups: All findings.
            models: Which models a finding speaks of, by its number.
        """
        listed = list(groups)
        self._models_of = models
        known = {one.fingerprint: one.name for some in models.values() for one in some}
        # Two files of one name are told apart by the first digits of their content.
        twice = {name for name, many in Counter(known.values()).items() if many > 1}
        _fill(
            self.models,
            {
                f"{name} ({mark[:6]})" if name in twice else name: mark
                for mark, name in known.items()
            },
        )
        self.models.setVisible(len(known) > 1)
        pairs = {group.lead.confusion for group in listed}
        _fill(self.kinds, {group.lead.kind: group.lead.kind for group in listed})
        _fill(
            self.confusions,
            {confusion_words(*pair): "\n".join(pair) for pair in pairs if pair is not None},
        )

    def choose_model(self, fingerprint: str) -> None:
        """Shows only what was found on this model; nothing, or one without findings, shows all."""
        self.models.setCurrentIndex(max(0, self.models.findData(fingerprint)))

    def clear(self) -> None:
        """Takes every filter off; the order stays."""
        self.text.clear()
        self.starred.setChecked(False)
        for box in (self.models, self.kinds, self.confusions):
            box.setCurrentIndex(0)

    def passes(self, group: Group) -> bool:
        """Whether an entry is shown."""
        finding = group.lead
        wanted = self.models.currentData()
        own = self._models_of.get(finding.id, ())
        if wanted and wanted not in (one.fingerprint for one in own):
            return False
        if self.starred.isChecked() and not finding.starred:
            return False
        if self.kinds.currentData() not in ("", None, finding.kind):
            return False
        pair = "\n".join(finding.confusion or ())
        if self.confusions.currentData() not in ("", None, pair):
            return False
        words = self.text.text().casefold().split()
        titles = " ".join(one.title for one in group.members)
        names = " ".join(one.name for one in own)
        text = f"{titles} {finding.kind} {finding.note} {names}".casefold()
        return all(word in text for word in words)

    def arranged(self, groups: Iterable[Group]) -> list[Group]:
        """The groups that pass, in the chosen order."""
        passing = [group for group in groups if self.passes(group)]
        if self.order.currentText() == NEWEST:
            # The workspace numbers findings as they come in.
            return sorted(passing, key=lambda group: -group.lead.id)
        if self.order.currentText() == NAMED:
            return sorted(passing, key=lambda group: group.lead.title.casefold())
        return passing

    def tell(self, groups: Sequence[Group]) -> None:
        """How many of these findings are shown; one that stands for several counts once."""
        passing = [group for group in groups if self.passes(group)]
        self.export.setEnabled(bool(passing))
        self.harm.setEnabled(bool(groups))
        self.present.setEnabled(bool(groups))
        self.count.setText(counted(groups, passing) if groups else "")
        merged = any(len(group.members) > 1 for group in passing)
        self.count.setToolTip(SHARED if merged else "")

    def _arrange(self) -> None:
        head, filters = QHBoxLayout(), QHBoxLayout()
        head.addWidget(set_heading(Label("Findings"), "title"))
        head.addSpacing(8)
        head.addWidget(self.count)
        head.addStretch(1)
        for button in (self.harm, self.present, self.export):
            head.addWidget(button)
        filters.addWidget(self.text, 1)
        for widget in (self.models, self.kinds, self.confusions, self.order, self.starred):
            filters.addWidget(widget)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(8)
        rows.addLayout(head)
        rows.addLayout(filters)

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
    # Filling a box chooses on the way, and each choice would arrange the wall anew.
    with QSignalBlocker(box):
        while box.count() > 1:
            box.removeItem(1)
        for words in sorted(entries):
            box.addItem(words, entries[words])
        box.setCurrentIndex(max(0, box.findData(chosen)))
