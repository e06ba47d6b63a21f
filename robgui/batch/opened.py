"""The models and datasets that a suite names, opened once each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from robgui.batch.suite import DatasetTable, Suite
from robgui.core.errors import DataError, ParamsError, RobguiError, TrustError
from robgui.core.execution.request import Reference, reference

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.classifier import Classifier

_HOW_TO_TRUST = (
    " A suite cannot say so itself: add --trust to the command, or open the model once in the"
    " window and say that you trust it."
)


@dataclass(frozen=True, slots=True)
class SuiteModel:
    """A model of the suite with the name that selects it."""

    classifier: Classifier
    reference: Reference
    datasets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuiteData:
    """A dataset of the suite with the name that selects it."""

    dataset: Dataset
    reference: Reference
    table: DatasetTable


def open_models(suite: Suite, trust: bool) -> Iterator[SuiteModel]:
    """Opens each model of the suite once."""
    from robgui.core.loading import load

    for place, table in enumerate(suite.models):
        where = f"[[models]] {place + 1},"
        for path in suite.files(table.path, where):
            settings: dict[str, Any] = dict(table.settings)
            try:
                # Planning needs its content, shape and classes; all models of a suite need not fit
                # a card at once.
                classifier = load(path, trust=trust, device="cpu", **settings)
            except RobguiError as error:
                if isinstance(error, TrustError):
                    how = _HOW_TO_TRUST
                else:
                    how = ""
                raise ParamsError(f"{suite.path}: {where} {error}{how}") from error
            yield SuiteModel(classifier, reference(classifier), table.datasets)


def open_datasets(suite: Suite) -> Iterator[SuiteData]:
    """Opens each dataset of the suite once."""
    from robgui.core.dataset import open_dataset

    for place, table in enumerate(suite.datasets):
        where = f"[[datasets]] {place + 1},"
        for path in suite.files(table.path, where):
            try:
                dataset = open_dataset(path, **table.options)
            except DataError as error:
                raise ParamsError(f"{suite.path}: {where} {error}") from error
            yield SuiteData(dataset, reference(dataset), table)
