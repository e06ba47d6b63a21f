"""The preferences about how runs are computed: how many at once, with how much memory."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QSpinBox, QWidget

from robgui.core.execution.worker.cores import cores
from robgui.core.execution.worker.workers import usual_memory
from robgui.core.text.words import amount, count
from robgui.gui.state.running.places import MOST_AT_ONCE, window_places
from robgui.gui.widgets.plain import Label

#: Decimal gigabytes, as disks and memory are sold and as the status bar counts.
_GB = 1e9
#: Least memory: without torch a process cannot even start.
_LEAST_GB = 1.0


class ProcessPreferences(QWidget):
    """Two fields, each with its default and its meaning on this machine.

    Args:
        at_once: How many runs compute at once now.
        memory_gb: Gigabytes that each process may take now; 0 leaves it to the program.
        device: The device in use.
        devices: All devices.

    Attributes:
        where: Where the runs would compute.
        much: What the limit of memory means.
    """

    def __init__(self, at_once: int, memory_gb: float, device: str, devices: Sequence[str]) -> None:
        super().__init__()
        self._device, self._devices = device, devices
        self.at_once = QSpinBox(minimum=1, maximum=MOST_AT_ONCE, value=at_once)
        self.at_once.setAccessibleName("Runs at once")
        self.memory = QDoubleSpinBox(
            minimum=0.0, maximum=4096.0, decimals=1, singleStep=0.5, suffix=" GB"
        )
        # Qt writes this in place of the minimum, 0.
        self.memory.setSpecialValueText("80 % of the memory")
        self.memory.setAccessibleName("Memory of each process")
        self.memory.setValue(memory_gb)
        self.where, self.much = Label(wordWrap=True), Label(wordWrap=True)
        for label in (self.where, self.much):
            label.setProperty("role", "quiet")
        self._lay_out()
        self.at_once.valueChanged.connect(lambda _: self._say())
        self.memory.valueChanged.connect(lambda _: self._say())
        self._say()

    @property
    def chosen(self) -> tuple[int, float]:
        """Runs at once, and gigabytes for each; 0 leaves the memory to the program."""
        return self.at_once.value(), round(self.memory.value(), 1)

    def restore(self) -> None:
        """Back to the defaults."""
        self.at_once.setValue(1)
        self.memory.setValue(0.0)

    def problem(self) -> str:
        """Why the input is not valid; empty if it is."""
        if 0 < self.memory.value() < _LEAST_GB:
            return f"A process needs at least {_LEAST_GB:g} GB of memory; 0 leaves it to robgui."
        return ""

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 16, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(2, 1)
        rows = (
            ("Runs at once", self.at_once, "default: 1", self.where),
            ("Memory of each process", self.memory, _default(), self.much),
        )
        for place, (title, field, default, words) in enumerate(rows):
            row = 2 * place
            name = Label(title)
            name.setBuddy(field)
            field.setMinimumWidth(self.fontMetrics().averageCharWidth() * 24)
            grid.addWidget(name, row, 0)
            grid.addWidget(field, row, 1)
            grid.addWidget(Label(default), row, 2)
            grid.addWidget(words, row + 1, 0, 1, 3)

    def _say(self) -> None:
        at_once, memory = self.at_once.value(), self.memory.value()
        self.where.setText(_where(at_once, self._device, self._devices))
        share = memory * _GB or usual_memory() / at_once
        if share:
            limit = f"{amount(round(share))} each"
        else:
            limit = "no limit can be set here"
        self.much.setText(f"A model that takes more ends its own run and nothing else: {limit}.")


def _default() -> str:
    whole = usual_memory()
    if whole:
        return f"default: 80 % of this machine's, {amount(whole)}"
    return "default: no limit"


def _where(at_once: int, device: str, devices: Sequence[str]) -> str:
    """Where ``at_once`` runs would compute, in words."""
    if at_once == 1:
        return "One run computes at a time, with all of its device; the others wait."
    places = window_places(at_once, device, devices)
    shared = [place for place in places if place.device == "cpu"]
    parts = [f"one on {place.device}" for place in places if place.device != "cpu"]
    if shared:
        share = f"{shared[0].threads:,} of {count(cores(), 'thread')}"
        if len(shared) == 1:
            each = share
        else:
            each = f"{share} each"
        parts.append(f"{len(shared):,} on the processor with {each}")
    return f"{at_once:,} runs compute beside each other: {', '.join(parts)}; the others wait."
