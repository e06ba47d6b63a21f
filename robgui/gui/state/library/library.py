"""Library: the models and datasets that are loaded, and which of them are in use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from robgui.core.errors import IncompleteModelError, TrustError
from robgui.gui.state.library.alike import looks_alike, relatives, same_file
from robgui.gui.state.library.opening import Opening, load_model, match, open_for_window
from robgui.gui.state.library.pending import Pending
from robgui.gui.state.library.predictions import Predictions
from robgui.gui.state.library.remarks import misfit, reading_messages

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.dataset.derived import Derived
    from robgui.core.execution.asking.models import Models
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.background import Background


class Library(QObject):
    """Models and datasets.

    One of each is in use, and ``predictions`` says what the one makes of the other.

    Signals:
        models_changed: The list of models, or which one is in use, has changed.
        datasets_changed: The list of datasets, or which one is in use, has changed.
        model_opened: ``(opening, model)``: the user opened a model file; a dialog shows how it
            behaves, and it is in the list once they say that they use it.
        trust_needed: ``(opening, error)``: the file would execute code; the error tells which.
        details_needed: ``(opening, sentence)``: the file does not tell its architecture or shape.
        arriving: The model or dataset that is about to be added.
        added: The model or dataset to be remembered.
        removed: The model or dataset to be forgotten.
        paired: Another model or other data are in use.
        said: ``(level, sentence, details)``.
        noticed: What to know about a model and its data together, said once.
        offered: ``(sentence, words, deed)``: what has happened, and a button that calls ``deed``.
        working: What is being done now, in words; empty when idle.
    """

    models_changed = Signal()
    datasets_changed = Signal()
    model_opened = Signal(object, object)
    trust_needed = Signal(object, object)
    details_needed = Signal(object, str)
    arriving = Signal(object)
    added = Signal(object)
    removed = Signal(object)
    paired = Signal()
    said = Signal(str, str, str)
    noticed = Signal(str)
    offered = Signal(str, str, object)
    working = Signal(str)

    def __init__(
        self,
        background: Background,
        opening: Background,
        answers: Models,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.answers = answers
        self.models: list[ModelCard] = []
        self.model: ModelCard | None = None
        self.datasets: list[Dataset] = []
        self.dataset: Dataset | None = None
        self.device = ""
        self.autocast = False
        self.channels_last = False
        self.mismatch = ""
        self.devices: list[tuple[str, str]] = []
        self.predictions = Predictions(answers, self)
        self._background = background
        self.pending = Pending(background, opening, self)
        self.pending.working.connect(self.working)
        self.pending.failed.connect(partial(self.said.emit, "error"))
        self._chosen: set[str] = set()

    # --- models -----------------------------------------------------------------------------------

    def load_model(self, opening: Opening) -> None:
        """Loads a model file; unless it is to be quiet, ``model_opened`` asks whether to use it."""

        def loaded(answer: tuple[ModelCard | TrustError | IncompleteModelError, str]) -> None:
            model, remark = answer
            if remark:
                self.said.emit("warning", remark, "")
            if isinstance(model, TrustError | IncompleteModelError):
                self._ask(opening, model)
                return
            if not opening.quiet:
                self.model_opened.emit(opening, model)
                return
            fits = self.dataset is None or looks_alike(model, self.dataset)
            empty = self.model is None and fits
            self.add_model(
                model,
                activate=self._takes("model", True, opening.use, empty),
                keep_data=opening.use is True,
            )

        device = self.device
        self.pending.run(
            f"Loading {opening.path.name} …",
            lambda: load_model(opening, device, self.answers),
            loaded,
            loads=True,
            asks=True,
            quiet=opening.quiet,
        )

    def start_anew(self) -> None:
        """Lets what a workspace brings come into use, until the user chooses something else."""
        self._chosen.clear()

    def _takes(self, kind: str, quiet: bool, use: bool | None, empty: bool) -> bool:
        """Whether what has just been loaded comes into use.

        The user's choice meanwhile is not taken away.
        """
        if use is None:
            return empty or not quiet
        return (use and kind not in self._chosen) or not quiet

    def _ask(self, opening: Opening, question: TrustError | IncompleteModelError) -> None:
        """Asks what a file needs to be known.

        A quiet step asks nothing and leaves a button that does.
        """
        if opening.quiet:
            name = opening.path.name
            deed = partial(self.load_model, opening.replace(quiet=False))
            self.offered.emit(f"{name} was not opened: {question}", f"Open {name} …", deed)
        elif isinstance(question, TrustError):
            self.trust_needed.emit(opening, question)
        else:
            self.details_needed.emit(opening, str(question))

    def add_model(
        self, classifier: ModelCard, *, activate: bool = True, keep_data: bool = False
    ) -> None:
        """Adds a loaded model, in place of an older one of the same file or content.

        A model is in the list once; ``keep_data`` as in ``use_model``.
        """
        self.arriving.emit(classifier)
        replaced = [m for m in self.models if same_file(m, classifier)]
        self.models = [m for m in self.models if m not in replaced] + [classifier]
        if activate or self.model in replaced:
            self.use_model(classifier, keep_data=keep_data)
        else:
            self.models_changed.emit()
        self.added.emit(classifier)

    def use_model(self, classifier: ModelCard, *, keep_data: bool = False) -> None:
        """Makes ``classifier`` the one that the next run looks at; picks data that fit it.

        ``keep_data`` leaves the data in use, whatever else would fit: the two were used together.
        """
        self.model = classifier
        self._chosen.add("model")
        keep_data = keep_data and self.dataset is not None
        if not keep_data and (self.dataset is None or not looks_alike(classifier, self.dataset)):
            fitting = next((d for d in self.datasets if looks_alike(classifier, d)), None)
            if fitting is not None and fitting is not self.dataset:
                self.dataset = fitting
                self.datasets_changed.emit()
        self._match()
        self.models_changed.emit()
        self.paired.emit()

    def remove_model(self, classifier: ModelCard) -> None:
        """Takes a model off the list; its runs stay."""
        self.models = [m for m in self.models if m is not classifier]
        self.removed.emit(classifier)
        if self.model is classifier:
            self.model = None
            if self.models:
                self.use_model(self.models[-1])
                return
            self._match()
        self.models_changed.emit()

    # --- data -------------------------------------------------------------------------------------

    def load_dataset(
        self,
        path: Path,
        *,
        quiet: bool = False,
        use: bool | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Opens data of any format we read.

        ``quiet`` and ``use`` as in Opening, ``options`` say what the files do not tell.
        """

        def opened(dataset: Dataset) -> None:
            self.add_dataset(
                dataset, activate=self._takes("dataset", quiet, use, self.dataset is None)
            )
            for level, sentence, details in reading_messages(dataset, quiet=quiet):
                self.said.emit(level, sentence, details)

        self.pending.run(
            f"Loading {path.name} …",
            lambda: open_for_window(path, options or {}, self.answers),
            opened,
            loads=True,
            quiet=quiet,
        )

    def add_dataset(
        self, dataset: Dataset, *, activate: bool = True, instead_of: Dataset | None = None
    ) -> None:
        """Adds open data, in place of older data from the same path and of ``instead_of``."""
        self.arriving.emit(dataset)
        others = [d for d in self.datasets if d is not instead_of]
        self.datasets = [d for d in others if d.path is None or d.path != dataset.path] + [dataset]
        if activate or (self.dataset is not None and self.dataset not in self.datasets):
            self.use_dataset(dataset)
        else:
            self.datasets_changed.emit()
        self.added.emit(dataset)

    def add_derived(self, items: Sequence[Derived], *, activate: bool = True) -> None:
        """Adds derived inputs to the gallery of their family; that gallery is shown."""
        from robgui.core.dataset.derived import families

        for family in families(items):
            old = next((d for d in self.datasets if relatives(d) == relatives(family)), None)
            if old is not None:
                family = old.with_more(family.items)  # type: ignore[attr-defined]
            self.add_dataset(family, activate=activate, instead_of=old)

    def drop_derived(self) -> None:
        """Lets go of the derived inputs: they belong to a workspace that is no longer open."""
        self._take_off([d for d in self.datasets if relatives(d)])
        if self.dataset is None and self.datasets:
            self.use_dataset(self.datasets[-1])

    def use_dataset(self, dataset: Dataset) -> None:
        """Shows ``dataset`` in the gallery.

        Picks a model that fits it if the present one does not.
        """
        self.dataset = dataset
        self._chosen.add("dataset")
        # It was about the previous data; whoever hears of the new ones asks for it.
        self.mismatch = ""
        self.datasets_changed.emit()
        if self.model is None or not looks_alike(self.model, dataset):
            fitting = next((m for m in self.models if looks_alike(m, dataset)), None)
            if fitting is not None:
                self.model = fitting
                self.models_changed.emit()
        self._match()
        self.paired.emit()

    def clear(self) -> None:
        """Begins without models and data; the workspace they were in still knows them."""
        self.pending.leave()
        self._take_off([*self.models, *self.datasets])

    def let_go(self, items: Sequence[ModelCard | Dataset]) -> None:
        """Takes models and data off the lists and out of the workspace."""
        for item in items:
            self.removed.emit(item)
        self._take_off(items)

    def _take_off(self, items: Sequence[ModelCard | Dataset]) -> None:
        gone = {id(item) for item in items}
        self.models = [m for m in self.models if id(m) not in gone]
        self.datasets = [d for d in self.datasets if id(d) not in gone]
        self.model = None if id(self.model) in gone else self.model
        self.dataset = None if id(self.dataset) in gone else self.dataset
        self._match()
        self.datasets_changed.emit()
        self.models_changed.emit()

    def has(self, fingerprint: str) -> bool:
        """Whether a model or dataset with this fingerprint is loaded."""
        models, data = self.models, self.datasets
        return fingerprint in {*(m.fingerprint for m in models), *(d.fingerprint for d in data)}

    # --- both together ----------------------------------------------------------------------------

    def set_device(
        self, device: str, *, autocast: bool | None = None, channels_last: bool | None = None
    ) -> None:
        """Moves every model to ``device``; the next run works there."""
        self.autocast = self.autocast if autocast is None else autocast
        self.channels_last = self.channels_last if channels_last is None else channels_last
        before, half, last = list(self.models), self.autocast, self.channels_last
        wanted = [model.at(device, autocast=half, channels_last=last) for model in before]

        def move() -> list[ModelCard]:
            return [self.answers.ask("card", model=model, topic="moving") for model in wanted]

        def moved(models: list[ModelCard]) -> None:
            self.device = device
            for old, new in zip(before, models, strict=True):
                self._replace(old, new)
            self._match()
            self.models_changed.emit()

        self.pending.run(f"Moving the models to {device} …", move, moved, asks=True)

    def _replace(self, old: ModelCard, new: ModelCard) -> None:
        self.models = [new if model is old else model for model in self.models]
        self.model = new if self.model is old else self.model

    def _match(self) -> None:
        """Checks that model and data fit each other; predictions start when they do."""
        self.mismatch = ""
        self.predictions.clear()
        classifier, dataset = self.model, self.dataset
        if classifier is None or dataset is None:
            self._background.drop("match")
            return

        def matched(answer: tuple[ModelCard, list[str]]) -> None:
            fitted, notices = answer
            for sentence in notices:
                self.noticed.emit(sentence)
            if fitted is not classifier:
                self._replace(classifier, fitted)
                self.models_changed.emit()
                self.paired.emit()
            self.predictions.start(fitted, dataset)

        def refused(sentence: str, details: str) -> None:
            self.mismatch = misfit(classifier, dataset, sentence) or sentence
            self.models_changed.emit()
            if self.mismatch == sentence:  # Otherwise it stands beside the inputs, and suffices.
                self.said.emit("error", sentence, details)

        self._background.run(
            lambda: match(classifier, dataset), matched, failed=refused, key="match"
        )
