"""SettingsFiller: fills a model's settings from the data, a file of names or other models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.errors import ParamsError
from robgui.core.model.class_names import read_names
from robgui.core.model.settings import ModelSettings
from robgui.gui.model.model_check import from_data
from robgui.gui.model.model_report import ModelReport, tell
from robgui.gui.model.same_as import same_as

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.card import ModelCard
    from robgui.gui.model.model_form import ModelForm
    from robgui.gui.state.store import Store

NO_DATA = "Open some inputs to see what the model says about them."
_DATA, _ALIKE = "model from data", "same as"


class SettingsFiller:
    """Reads away from the GUI thread and writes into the form.

    Args:
        store: The data in use and the other models.
        form: What is filled in.
        report: Where errors are shown.
    """

    def __init__(self, store: Store, form: ModelForm, report: ModelReport) -> None:
        self._store, self._form, self._report = store, form, report
        form.from_data_wanted.connect(self.read_data)
        form.labels_wanted.connect(self.read_labels)

    def read_data(self) -> None:
        """Value range, mean and std from the inputs."""
        dataset = self._store.library.dataset
        if dataset is None:
            tell(self._report.notes, NO_DATA)
            return
        try:
            values = self._form.values()
        except ParamsError as error:
            tell(self._report.problem, str(error))
            return
        kind, shape = values["kind"], values["shape"]
        self._store.pictures.run(
            lambda: _from_data(kind, shape, dataset),
            self._form.show_values,
            failed=self.refuse,
            key=_DATA,
        )

    def read_labels(self, path: Path) -> None:
        """Names of the classes from a file."""
        # Under the key of read_data: of two fillings under way only the newest is wanted.
        self._store.pictures.run(
            lambda: {"labels": read_names(path)},
            self._form.show_values,
            failed=self.refuse,
            key=_DATA,
        )

    def offer_alike(self, card: ModelCard) -> None:
        """What other models were given is offered below the presets."""
        # A copy for the pool thread.
        models = list(self._store.library.models)
        self._store.pictures.run(lambda: same_as(card, models), self._form.offer, key=_ALIKE)

    def refuse(self, sentence: str, details: str) -> None:
        """Says why something could not be done."""
        tell(self._report.problem, sentence)
        if details:
            self._store.say("error", sentence, details)

    def drop(self) -> None:
        """Cancels reads that are pending."""
        for key in (_DATA, _ALIKE):
            self._store.pictures.drop(key)


def _from_data(kind: str, shape: tuple[int, ...], dataset: Dataset) -> dict[str, Any]:
    return dict(from_data(ModelSettings().change(kind=kind, shape=shape), dataset))
