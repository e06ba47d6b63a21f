"""One parameter of a scene: a tick when it varies, a slider when it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QSlider, QWidget

from robgui.analyses.semantic.words import with_unit
from robgui.gui.widgets.form_scroll import FormScroll
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.analyses.semantic import SceneAxis

#: Steps of a short range; a range from this length on moves in whole numbers.
_STEPS, _LONG = 200, 50


class AxisRow(QWidget):
    """Name and value above a slider.

    Signals:
        moved: The value that the user has moved the slider to.
        ticked: Whether the user wants the parameter to vary.
    """

    moved = Signal(float)
    ticked = Signal(bool)

    def __init__(self, axis: SceneAxis) -> None:
        super().__init__()
        self.axis = axis
        width = axis.high - axis.low
        if width >= _LONG:
            self._steps = round(width)
        else:
            self._steps = _STEPS
        self.tick = QCheckBox(axis.title)
        self.value = Label(alignment=Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.value.setProperty("role", "quiet")
        widths = [
            self.fontMetrics().horizontalAdvance(with_unit(value, axis.unit))
            for value in (axis.low, axis.high, axis.default)
        ]
        # the number changes while the slider moves, the width does not
        self.value.setMinimumWidth(max(widths))
        self.slider = QSlider(Qt.Orientation.Horizontal, minimum=0, maximum=self._steps)
        self.slider.setAccessibleName(axis.title)
        self.slider.setPageStep(max(1, self._steps // 10))
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setVerticalSpacing(0)
        layout.setHorizontalSpacing(8)
        layout.addWidget(self.tick, 0, 0)
        layout.addWidget(self.value, 0, 1)
        layout.addWidget(self.slider, 1, 0, 1, 2)
        layout.setColumnStretch(0, 1)
        self.slider.valueChanged.connect(self._slid)
        self.tick.toggled.connect(self.ticked)

    def show_state(self, varies: bool, value: float, span: tuple[float, float] | None) -> None:
        """Shows the parameter's value, or the span it varies over, without emitting a signal."""
        axis = self.axis
        with QSignalBlocker(self.tick), QSignalBlocker(self.slider):
            self.tick.setChecked(varies)
            if self.at(self.slider.value()) != value:
                self.slider.setValue(
                    round((value - axis.low) / (axis.high - axis.low) * self._steps)
                )
        self.slider.setEnabled(not varies)
        low, high = span or (axis.low, axis.high)
        self.tick.setToolTip(
            f"Vary {axis.title.lower()} from {with_unit(low, axis.unit)} to"
            f" {with_unit(high, axis.unit)}"
        )
        if varies:
            words = f"{with_unit(low, '')} to {with_unit(high, axis.unit)}"
        else:
            words = with_unit(value, axis.unit)
        self.value.setText(words)

    def at(self, step: int) -> float:
        """The value at a step of the slider; its usual value where that is nearest."""
        axis = self.axis
        usual = round((axis.default - axis.low) / (axis.high - axis.low) * self._steps)
        if step == usual:
            return axis.default
        # In binary fractions a step would write 0.30000000000000004 into the form.
        return float(f"{axis.low + (axis.high - axis.low) * step / self._steps:.4g}")

    def _slid(self, step: int) -> None:
        self.moved.emit(self.at(step))


class SliderColumn(FormScroll):
    """Scrolls up and down only, so it is never narrower than what it holds."""

    def __init__(self, content: QWidget) -> None:
        self._content = content
        super().__init__(content)

    def minimumSizeHint(self) -> QSize:
        """As wide as the content and the scroll bar beside it."""
        beside = self.verticalScrollBar().sizeHint().width()
        return QSize(
            self._content.minimumSizeHint().width() + beside, super().minimumSizeHint().height()
        )
