"""The tools below a sweep: keep it as a reference, make the input's adversarial twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QToolButton, QWidget

from robgui.gui.state.selection import Selection
from robgui.gui.widgets.plain import set_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from robgui.analyses.zonnscan.result import Twins
    from robgui.core.dataset import Dataset
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store

TWINS = "adversarial twins"


class SweepTools(QWidget):
    """Reference and adversarial twin in one row; a narrow window shortens it.

    Signals:
        made: ``(made, request, eps)``: a twin, for what the sweep of its original would be asked,
            and its size.
    """

    made = Signal(object, object, float)

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self.keep = QToolButton(text="Keep as reference")
        self.keep.setToolTip("Leave this run in the plot, to compare the next one with it")
        self.forget = QToolButton(text="Clear reference", enabled=False)
        self.forget.setToolTip("Take the reference out of the plot")
        self.twin = QToolButton(text="Adversarial twin")
        # Inputs lie in [0, 1], so no value can move by more than 1.
        self.eps = QDoubleSpinBox(
            minimum=0.0, maximum=1.0, singleStep=0.01, decimals=3, value=0.1, prefix="by at most "
        )
        self.eps.setAccessibleName("Attack size")
        self.eps.setToolTip("How far the attack moves every value, 0 to 1")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self.keep, self.forget, self.twin, self.eps):
            row.addWidget(widget)
        row.addStretch()
        self.twin.clicked.connect(self.make_twin)
        for signal in (
            store.library.models_changed,
            store.library.datasets_changed,
            store.selection_changed,
        ):
            signal.connect(self._refresh)
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = event.size().width() >= 76 * self.fontMetrics().averageCharWidth()
        self.forget.setText("Clear reference" if wide else "Clear")

    def make_twin(self) -> None:
        """Attacks the chosen input in the background.

        The twin is then the chosen input of "adversarial twins".
        """
        library, number, eps = self._store.library, self._store.selection.input, self.eps.value()
        model, dataset = library.model, library.dataset
        if model is None or dataset is None or number is None or self._reason():
            return
        # Twins of one shape share a dataset; one of another shape cannot hold this one.
        known = next(
            (
                d
                for d in library.datasets
                if d.path is None and d.name == TWINS and d.shape == dataset.shape
            ),
            None,
        )
        # Asked now: by the time the twin arrives, the user may have chosen another input.
        asked = self._store.next_run.request("zonnscan")

        def arrived(answer: tuple[Twins, Dataset]) -> None:
            self.made.emit(answer[0], asked, eps)
            self._show(answer[1], known)

        ask = self._store.answers.ask
        self._store.background.run(
            lambda: _with_twin(ask, model, dataset, number, eps, known), arrived
        )

    def _show(self, twins: Dataset, before: Dataset | None) -> None:
        left = self._store.navigation.here
        self._store.library.add_dataset(twins, instead_of=before)
        self._store.select(Selection(input=len(twins) - 1), origin=self)
        self._store.navigation.announce(left)

    def _refresh(self, *_: object) -> None:
        reason = self._reason()
        self.twin.setEnabled(not reason)
        self.eps.setEnabled(not reason)
        set_tip(
            self.twin,
            reason
            or "Move every value by at most this much against the class (fast gradient sign)"
            " and choose the result",
        )

    def _reason(self) -> str:
        """Why there is no twin to be had; empty when there is."""
        library = self._store.library
        if library.model is None or library.dataset is None or self._store.selection.input is None:
            return "Open a model and inputs, and choose one in the gallery."
        if library.mismatch:
            return library.mismatch
        if not library.model.capabilities.gradients:
            return (
                f"Adversarial twins need gradients, which {library.model.name} cannot give:"
                f" {library.model.capabilities.reason}."
            )
        return ""


def _with_twin(
    ask: Callable[..., Any],
    model: ModelCard,
    dataset: Dataset,
    number: int,
    eps: float,
    known: Dataset | None,
) -> tuple[Twins, Dataset]:
    """The twin of input ``number``, and all made so far with it as the last.

    Called on a pool thread.
    """
    from robgui.core.dataset import align, from_arrays
    from robgui.core.execution.asking.by_value import by_value

    # Without the alignment the label's number would mean another class of the model.
    one = by_value(align(model, dataset), [number], model.shape)
    made: Twins = ask("zonnscan_twin", model=model, topic="twin", one=one, eps=eps)
    array, labels = made.values, made.classes
    if known is not None and known.labels is not None:
        array = np.concatenate([known.array(shape=model.shape), array])
        labels = np.concatenate([known.labels, labels])
    features = tuple(one["features"])
    twins = from_arrays(array, labels, model.labels, TWINS, kind=model.kind, features=features)
    # Cached on first use: hashing all pixels here spares the GUI thread.
    assert twins.fingerprint
    return made, twins
