"""Marking: the tags and saved sets of the data in use, and what runs have found on each input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from robgui.core.dataset.query import InputFacts
from robgui.core.workspace.marks import Marks, SavedSet, read_marks, write_marks

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.request import Request
    from robgui.core.finding import StoredFinding
    from robgui.core.workspace import Workspace
    from robgui.gui.state.background import Background
    from robgui.gui.state.history.history import History
    from robgui.gui.state.library.library import Library

_READ = "marks"


class Marking(QObject):
    """The user's notes on inputs, written to the workspace as they are made.

    Attributes:
        marks: By the names of inputs, as the workspace keeps them.
        tags: Inputs by tag.
        findings: Kind and title of what runs have found, by input.

    Signals:
        changed: Another tag, set or finding.
    """

    changed = Signal()

    def __init__(
        self, library: Library, history: History, keeping: Background, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._library, self._history, self._keeping = library, history, keeping
        self._dataset: Dataset | None = None
        self.marks = Marks()
        self.tags: dict[str, list[int]] = {}
        self._by_input: dict[int, list[str]] = {}
        self.findings: dict[int, list[tuple[str, str]]] = {}
        library.datasets_changed.connect(self._other_data)
        history.opened.connect(lambda _: self._read())
        history.findings_changed.connect(self._count_findings)

    def facts(self) -> InputFacts | None:
        """What is known of the inputs in use now; None without any."""
        dataset, predictions = self._library.dataset, self._library.predictions
        if dataset is None:
            return None
        model = self._library.model
        names = () if model is None else model.settings.labels
        return InputFacts(
            len(dataset),
            dataset.name,
            dataset.keys,
            labels=dataset.labels,
            names=dataset.names,
            shown=predictions.names,
            predicted=predictions.told(names) if model is not None else None,
            tags=self.tags,
            findings=self.findings,
        )

    def tags_of(self, index: int) -> list[str]:
        """What an input is tagged with."""
        return self._by_input.get(index, [])

    def tag(self, tag: str, indices: Iterable[int], *, on: bool) -> None:
        """Tags inputs, or takes the tag from them."""
        dataset, word = self._library.dataset, " ".join(tag.split())
        chosen = list(indices)
        if dataset is None or not word or not chosen:
            return
        names = [dataset.key(index) for index in chosen]
        self.marks = self.marks.tagged(word, names, on=on)
        changed = set(chosen)
        others = [index for index in self.tags.get(word, ()) if index not in changed]
        now = [*others, *chosen] if on else others
        tags = {each: known for each, known in self.tags.items() if each != word}
        self._take_tags({**tags, word: now} if now else tags)
        self._keep()

    def _take_tags(self, tags: dict[str, list[int]]) -> None:
        self.tags, self._by_input = tags, {}
        for tag, indices in tags.items():
            for index in indices:
                self._by_input.setdefault(index, []).append(tag)

    def save_set(self, name: str, saved: SavedSet | None) -> None:
        """Keeps a set under ``name``; None takes it away."""
        if word := " ".join(name.split()):
            self.marks = self.marks.with_set(word, saved)
            self._keep()

    def _keep(self) -> None:
        workspace, dataset, marks = self._history.writable, self._library.dataset, self.marks
        if workspace is not None and dataset is not None:
            # No key: the marks of other data that still wait to be written would be dropped for
            # these.
            self._keeping.run(lambda: write_marks(workspace, *_identity(dataset), marks))
        self.changed.emit()

    def _other_data(self) -> None:
        # The signal also tells of data that have only joined the list.
        if self._library.dataset is not self._dataset:
            self._read()

    def _read(self) -> None:
        """Reads what the workspace knows of the data in use, away from the GUI thread."""
        dataset, workspace = self._library.dataset, self._history.workspace
        # Empty until they are read: the marks of the data before are of other inputs.
        self._dataset, self.marks = dataset, Marks()
        self._take_tags({})
        self._count_findings()
        if dataset is None or workspace is None:
            # The answer about the data before may still be on its way.
            self._keeping.drop(_READ)
            return

        def take(found: tuple[Marks, dict[str, list[int]]]) -> None:
            self.marks = found[0]
            self._take_tags(found[1])
            self.changed.emit()

        self._keeping.run(lambda: _found(workspace, dataset), take, key=_READ)

    def _count_findings(self) -> None:
        dataset, history = self._library.dataset, self._history
        self.findings = {}
        if dataset is not None and history.findings:
            requests = {run.id: run.request for run in history.runs}
            for finding in history.findings:
                request = requests.get(finding.run_id)
                for index in _inputs_of(finding, request, dataset):
                    self.findings.setdefault(index, []).append((finding.kind, finding.title))
        self.changed.emit()


def _found(workspace: Workspace, dataset: Dataset) -> tuple[Marks, dict[str, list[int]]]:
    marks = read_marks(workspace, *_identity(dataset))
    if not marks.tags:
        return marks, {}
    wanted = {name for names in marks.tags.values() for name in names}
    # Marks are kept by name: they survive a file that was sorted or extended.
    places = {key: index for index, key in enumerate(dataset.keys()) if key in wanted}
    tags = {
        tag: [places[name] for name in names if name in places] for tag, names in marks.tags.items()
    }
    return marks, {tag: indices for tag, indices in tags.items() if indices}


def _identity(dataset: Dataset) -> tuple[str, str]:
    if dataset.path is None:
        path = ""
    else:
        path = str(dataset.path.absolute())
    return path, dataset.fingerprint


def _inputs_of(finding: StoredFinding, request: Request | None, dataset: Dataset) -> Sequence[int]:
    """The inputs of the data in use that a finding is about."""
    if request is None or request.dataset is None:
        return ()
    # A place counts within the data of its run; in others it would be another input.
    if request.dataset.fingerprint != dataset.fingerprint:
        return ()
    if finding.places:
        chosen = request.indices
        if chosen is None:
            return finding.places
        return [chosen[place] for place in finding.places if place < len(chosen)]
    # A finding without places is about the whole question; with one or two inputs that is them.
    few = request.indices is not None and len(request.indices) <= 2
    if few and request.indices is not None:
        return request.indices
    return ()
