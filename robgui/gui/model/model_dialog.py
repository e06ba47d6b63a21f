"""ModelDialog: does the model behave? Eight predictions, the accuracy and all settings, live."""

from __future__ import annotations

import itertools
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.errors import ParamsError
from robgui.core.model.remembered import remember
from robgui.core.model.settings import ModelSettings, side_file, write_side_file
from robgui.gui.model.model_accuracy import Accuracy, measure, tried_out
from robgui.gui.model.model_check import Ask, Preview, has_several_outputs, preview
from robgui.gui.model.model_form import ModelForm
from robgui.gui.model.model_report import ModelReport, facts_of, tell
from robgui.gui.model.settings_filler import NO_DATA, SettingsFiller
from robgui.gui.model.ways import Ways
from robgui.gui.widgets.form_scroll import FormScroll
from robgui.gui.widgets.plain import set_tip

if TYPE_CHECKING:
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store

_TOPICS = (f"model dialog {number}" for number in itertools.count())
#: Milliseconds without another change before settings are tried: every trial asks the model.
_SETTLE_MS = 150
_PREVIEW, _ACCURACY = "model preview", "model accuracy"


class ModelDialog(QDialog):
    """Shows what a model says about the current inputs, and lets the user correct how it is fed.

    Every change is computed on the store's picture threads; only the newest answer is shown.
    Nothing is kept until the user decides to use the model: Cancel leaves everything as it was.

    Args:
        store: Whose library the model goes into.
        classifier: The model, as it was opened or as it is in use.
        parent: The window.
        said: Whether the user has said something of it while it was opened, which is remembered
            once they use it.

    Attributes:
        candidate: The model with the settings on show; None while they are being tried or cannot
            work.
        classifier: The model as it was opened or as it is in use.
        ways: The window that tries the usual ways; None before it was asked for.
    """

    def __init__(
        self,
        store: Store,
        classifier: ModelCard,
        parent: QWidget | None = None,
        *,
        said: bool = False,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._said = said
        self.classifier = self._reread = classifier
        self._newest = threading.Event()
        self._topic = next(_TOPICS)
        self.candidate: ModelCard | None = None
        self.ways: Ways | None = None
        self.setWindowTitle(f"Model: {classifier.name}")
        self._make()
        self._lay_out()
        self._debounce = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._debounce.timeout.connect(self.recompute)
        self.form.changed.connect(self._changed)
        self.form.guess_wanted.connect(self._guess)
        self.report.guess.clicked.connect(self._guess)
        store.library.datasets_changed.connect(self._changed)
        self.finished.connect(self._end)
        self.rejected.connect(self._let_go)
        self._enable()
        self._filler.offer_alike(classifier)
        self.recompute()

    # --- making -----------------------------------------------------------------------------------

    def _make(self) -> None:
        self.form = ModelForm(
            self.classifier.settings, several_outputs=has_several_outputs(self.classifier)
        )
        self.report = report = ModelReport(self.classifier)
        self._filler = SettingsFiller(self._store, self.form, report)
        self.verdict, self.cards = report.verdict, report.cards
        self.problem, self.warnings, self.notes = report.problem, report.warnings, report.notes
        self.reset = QPushButton("Reset")
        self.reset.setToolTip("Back to the settings the model was opened with.")
        self.reset.clicked.connect(
            lambda: self.form.show_values(self.classifier.settings.model_dump())
        )
        self.save = QPushButton("Save as side file")
        self.save.clicked.connect(self._save)
        self.cancel = QPushButton("Cancel")
        self.cancel.clicked.connect(self.reject)
        self.use = QPushButton("Use model", default=True)
        self.use.setProperty("role", "primary")
        self.use.clicked.connect(self._use)

    def _lay_out(self) -> None:
        fields = FormScroll(self.form)
        fields.setFixedWidth(
            self.form.minimumSizeHint().width() + self.fontMetrics().averageCharWidth() * 14
        )
        middle = QHBoxLayout()
        middle.setSpacing(24)
        middle.addWidget(fields)
        middle.addWidget(self.report, 1)
        buttons = QHBoxLayout()
        for button in (self.reset, self.save):
            buttons.addWidget(button)
        buttons.addStretch(1)
        for button in (self.cancel, self.use):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(16)
        layout.addLayout(middle, 1)
        layout.addLayout(buttons)
        unit, line = self.fontMetrics().averageCharWidth(), self.fontMetrics().height()
        room = self.screen().availableSize()
        self.resize(min(unit * 170, room.width()), min(line * 45, room.height()))

    # --- computing --------------------------------------------------------------------------------

    def _changed(self) -> None:
        """Invalidates what is on show: nothing can be used until it has been recomputed."""
        self.candidate = None
        self._store.pictures.drop(_PREVIEW)
        self.verdict.setText("Computing …")
        self._enable()
        self._debounce.start()

    @property
    def settled(self) -> bool:
        """Whether the settings on show have been tried and nothing is being computed."""
        return not self._debounce.isActive() and not self._store.pictures.busy

    def recompute(self) -> None:
        """Tries the settings on show now, without waiting for more changes."""
        self._debounce.stop()
        # Whoever still measures the last settings looks at it between two batches.
        self._newest.set()
        self._newest = threading.Event()
        self._store.pictures.drop(_ACCURACY)
        try:
            values = self.form.values()
        except ParamsError as error:
            self._store.pictures.drop(_PREVIEW)
            self._show(Preview(problem=str(error)))
            return
        if values["scores"] == self.classifier.settings.scores:
            classifier = self.classifier
        else:
            classifier = self._reread
        dataset = self._store.library.dataset
        self.verdict.setText("Computing …")
        ask = self._ask()
        self._store.pictures.run(
            lambda: preview(ask, classifier, values, dataset),
            self._previewed,
            failed=self._failed,
            key=_PREVIEW,
            # Before thumbnails, which wait in the same pool.
            priority=1,
        )

    def _ask(self) -> Ask:
        """Asks the model under a topic of its own; older questions are abandoned."""
        self._store.answers.stop(self._topic)
        self._topic = next(_TOPICS)
        return partial(self._store.answers.ask, topic=self._topic)

    def _previewed(self, answer: Preview) -> None:
        self._show(answer)
        dataset, candidate, stale = self._store.library.dataset, answer.classifier, self._newest
        if candidate is None or answer.problem or dataset is None or not len(dataset):
            return
        self.verdict.setText("Measuring the accuracy …")
        ask = partial(self._store.answers.ask, topic=self._topic)
        self._store.pictures.run(
            lambda: measure(ask, candidate, dataset, lambda: not stale.is_set()),
            lambda accuracy: self._measured(answer, accuracy),
            failed=lambda sentence, details: self._failed_measure(answer, sentence, details),
            key=_ACCURACY,
            priority=1,
        )

    def _show(self, answer: Preview) -> None:
        self.candidate = answer.classifier
        if (
            answer.classifier is not None
            and answer.classifier.settings.scores != self._reread.settings.scores
        ):
            # Another output was asked for; the next change need not read the file again.
            self._reread = answer.classifier
        if answer.classifier is None:
            self.verdict.setText("These settings cannot be used.")
        else:
            self.verdict.setText("The model gives no predictions." if answer.problem else "")
            self.report.facts.setText(facts_of(answer.classifier))
        tell(self.problem, answer.problem)
        tell(self.warnings, *answer.warnings)
        tell(self.notes, *answer.notes)
        self.report.guess.hide()
        self.cards.show_guesses(
            answer.guesses, NO_DATA if self._store.library.dataset is None else ""
        )
        self._enable()

    def _measured(self, answer: Preview, accuracy: Accuracy) -> None:
        self._tell_accuracy(answer, accuracy)
        dataset, candidate, stale = self._store.library.dataset, answer.classifier, self._newest
        if not accuracy.quick or dataset is None or candidate is None:
            return
        ask = partial(self._store.answers.ask, topic=self._topic)
        # What cannot be tried leaves the doubt as it was told.
        self._store.pictures.run(
            lambda: tried_out(ask, candidate, dataset, accuracy, lambda: not stale.is_set()),
            lambda compared: self._tell_accuracy(answer, compared),
            failed=lambda sentence, details: None,
            key=_ACCURACY,
        )

    def _tell_accuracy(self, answer: Preview, accuracy: Accuracy) -> None:
        self.verdict.setText(accuracy.words)
        tell(self.warnings, *answer.warnings, *accuracy.warnings)
        tell(self.notes, *answer.notes, *accuracy.notes)
        self.report.guess.setVisible(accuracy.doubtful)

    def _failed_measure(self, answer: Preview, sentence: str, details: str) -> None:
        self.verdict.setText("The accuracy could not be measured.")
        tell(self.warnings, *answer.warnings, sentence)
        if details:
            self._store.say("error", sentence, details)

    def _failed(self, sentence: str, details: str) -> None:
        self._show(Preview(problem=sentence))
        self._store.say("error", sentence, details)

    def _enable(self) -> None:
        self.use.setEnabled(self.candidate is not None)
        self.save.setEnabled(self.candidate is not None and self.classifier.path is not None)
        path = self.classifier.path
        set_tip(
            self.save,
            (
                "This model is not from a file."
                if path is None
                else f"Writes {side_file(path).name} beside the model."
            ),
        )

    # --- filling in -------------------------------------------------------------------------------

    def _guess(self) -> None:
        """The usual ways, tried on the inputs in the gallery."""
        dataset, model = self._store.library.dataset, self.candidate
        if dataset is None:
            tell(self.notes, NO_DATA)
        elif model is not None:
            self.ways = Ways(self._store, model, dataset, self)
            self.ways.taken.connect(self.form.show_values)
            # Over the fields that it fills in: the pictures beside them stay in sight.
            self.ways.move(self.mapToGlobal(self.rect().topLeft()))
            self.ways.show()

    # --- deciding ---------------------------------------------------------------------------------

    def _use(self) -> None:
        if self.candidate is None:
            return
        candidate, said, path = self.candidate, self._settings(), self.classifier.path
        if path is not None and (self._said or said != self.classifier.settings):
            self._store.keeping.run(lambda: remember(path, said))
        self.accept()
        self._store.library.add_model(candidate)

    def _save(self) -> None:
        candidate, path = self.candidate, self.classifier.path
        if candidate is None or path is None:
            return
        settings, said, ran = candidate.settings, self._settings(), candidate.ran
        self._store.keeping.run(
            lambda: _save(path, settings, said, ran),
            lambda written: self._store.say("info", f"Written to {written}."),
            failed=self._filler.refuse,
        )

    def _settings(self) -> ModelSettings:
        """What the user says of the model, without what the data add to it."""
        return self.classifier.settings.change(**self.form.values())

    def _end(self) -> None:
        """Drops the answers still to come."""
        self._debounce.stop()
        self._newest.set()
        self._store.answers.stop(self._topic)
        # Until deleteLater comes round it would go on computing, out of sight.
        self._store.library.datasets_changed.disconnect(self._changed)
        if self.ways is not None:
            self.ways.close()
        for key in (_PREVIEW, _ACCURACY):
            self._store.pictures.drop(key)
        self._filler.drop()

    def _let_go(self) -> None:
        """Lets the model process forget what was tried here, except what is in the library."""
        library, content = self._store.library, self.classifier.content
        # Read here: the lists of the library belong to the GUI thread.
        kept = [model.fingerprint for model in library.models]
        ask = partial(self._store.answers.ask, "let_go", content=content, kept=kept)
        self._store.pictures.run(ask)


def _save(path: Path, settings: ModelSettings, said: ModelSettings, ran: str) -> Path:
    """Writes the side file.

    The memory agrees with it from now on, and a trusted model stays trusted.
    """
    from robgui.core.trust.opening import renew

    renew(path, ran, settings)
    written = write_side_file(path, settings)
    remember(path, said)
    return written
