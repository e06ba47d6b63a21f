"""Accuracies: reports when a model is less often right on the same inputs than before."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from robgui.core.model.accuracy import MeasuredAccuracy, note
from robgui.core.text.words import percent
from robgui.gui.state.library.opening import Opening

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.background import Background
    from robgui.gui.state.library.library import Library


class Accuracies(QObject):
    """Compares accuracy with the record once all predictions, or a sample's, are known."""

    def __init__(self, library: Library, keeping: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._library = library
        self._keeping = keeping
        self._watching = True
        self._noted: tuple[str, Dataset | None] = ("", None)
        library.predictions.changed.connect(self._look)

    def end(self) -> None:
        """Watches no longer; may be said again."""
        self._watching = False

    def _look(self) -> None:
        library = self._library
        model, dataset, predictions = library.model, library.dataset, library.predictions
        if not self._watching or model is None or dataset is None:
            return
        if (measured := predictions.measured) is None:
            return
        # Once per pair: predictions change with every answer, the record is compared once.
        known, of = self._noted
        if known == model.fingerprint and of is dataset:
            return
        if (accuracy := predictions.accuracy(measured)) is None:
            return
        self._noted = (model.fingerprint, dataset)
        share, counted = accuracy
        if len(measured) == len(dataset):
            part = ""
        else:
            part = f"a sample of {len(measured):,} inputs of "
        self._keeping.run(
            lambda: note(
                model.content, dataset.fingerprint, round(share * counted), counted, model.settings
            ),
            lambda before: self._tell(model, f"{part}{dataset.name}", share, before),
        )

    def _tell(
        self, model: ModelCard, data: str, share: float, before: MeasuredAccuracy | None
    ) -> None:
        if before is None:
            return
        day = time.strftime("%d %b %H:%M", time.localtime(before.when))
        if before.settings != model.settings:
            fed = " with other settings"
        else:
            fed = ""
        sentence = (
            f"{model.name} is right on {percent(share)} of {data} now; on {day} it was right on"
            f" {percent(before.share)}{fed}."
        )
        # Without a file there is nothing to open again with other settings.
        if fed and model.path is not None:
            deed = partial(self._restore, model, before)
            self._library.offered.emit(sentence, "Look at the earlier settings …", deed)
        else:
            self._library.said.emit("warning", sentence, "")

    def _restore(self, model: ModelCard, before: MeasuredAccuracy) -> None:
        if model.path is not None:
            self._library.load_model(Opening(model.path, settings=before.settings.model_dump()))
