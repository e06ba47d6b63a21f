"""Navigation: back and forward through what was looked at, and undo of what was changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from robgui.gui.state.selection import Selection

if TYPE_CHECKING:
    from robgui.core.execution.params.params import Params
    from robgui.core.finding import StoredFinding
    from robgui.gui.state.store import Store

#: Maximum history length.
MOST = 200


@dataclass(frozen=True)
class Viewpoint:
    """What the user looked at: which model, which data, which part of them."""

    model: str
    dataset: str
    selection: Selection

    def near(self, other: Viewpoint) -> bool:
        """Whether the two differ only in where a cursor stands, which is no step of its own."""
        still = {"radius": None, "point": None, "pixel": None}
        return (self.model, self.dataset, self.selection.replace(**still)) == (
            other.model,
            other.dataset,
            other.selection.replace(**still),
        )


class Navigation(QObject):
    """Remembers places and changes.

    Signals:
        changed: What can be gone back to, or undone, has changed.
    """

    changed = Signal()

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store
        self._places: list[Viewpoint] = []
        self._at = -1
        self.undo = QUndoStack(self)
        # Qt takes a limit only while the stack is empty.
        self.undo.setUndoLimit(MOST)
        self.undo.indexChanged.connect(self.changed)
        self._params: dict[str, Params] = {}
        self._restoring = False
        # At the end of this turn of the event loop: one click may change model, data and selection.
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._record)
        for signal in (
            store.selection_changed,
            store.library.models_changed,
            store.library.datasets_changed,
        ):
            signal.connect(lambda *_: self._soon.start())
        store.params_changed.connect(self._params_changed)
        store.history.opened.connect(lambda _: self._forget())

    # --- back and forward -------------------------------------------------------------------------

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier place."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a later place."""
        return self._at < len(self._places) - 1

    def back(self) -> None:
        """Looks at what was looked at before."""
        if self.can_go_back:
            self._go(self._at - 1)

    def forward(self) -> None:
        """Goes forward again."""
        if self.can_go_forward:
            self._go(self._at + 1)

    @property
    def here(self) -> Viewpoint | None:
        """What is looked at now; None before there are a model and data."""
        library = self._store.library
        if library.model is None or library.dataset is None:
            return None
        return Viewpoint(
            library.model.fingerprint, library.dataset.fingerprint, self._store.selection
        )

    def announce(self, left: Viewpoint | None) -> None:
        """Says that other data are on show than at ``left``, with a way back.

        Silent when they are the same.
        """
        library = self._store.library
        before = next(
            (d for d in library.datasets if left is not None and d.fingerprint == left.dataset),
            None,
        )
        if (
            left is not None
            and before is not None
            and library.dataset is not None
            and before is not library.dataset
        ):
            self._store.offered.emit(
                f"Now looking at {library.dataset.name}.",
                f"Back to {before.name}",
                lambda: self._show(left),
            )

    def _go(self, number: int) -> None:
        self._at = number
        self._show(self._places[number])
        # Going back is no new place; the signals it has just caused are not recorded.
        self._soon.stop()
        self.changed.emit()

    def _show(self, place: Viewpoint) -> None:
        library = self._store.library
        dataset = next((d for d in library.datasets if d.fingerprint == place.dataset), None)
        model = next((m for m in library.models if m.fingerprint == place.model), None)
        # Data first: they may bring along a model of their own, which the place then replaces.
        if dataset is not None and dataset is not library.dataset:
            library.use_dataset(dataset)
        if model is not None and model is not library.model:
            library.use_model(model)
        if dataset is not None:
            self._store.select(place.selection)

    def _record(self) -> None:
        """Combines several signals of one click into one step."""
        here = self.here
        if here is None:
            return
        if self._at >= 0 and self._places[self._at].near(here):
            self._places[self._at] = here
        else:
            # Whoever went back and then elsewhere leaves the way forward behind, as in a browser.
            self._places = [*self._places[: self._at + 1], here][-MOST:]
            self._at = len(self._places) - 1
        self.changed.emit()

    # --- undo -------------------------------------------------------------------------------------

    def change_finding(
        self, finding: StoredFinding, *, note: str | None = None, starred: bool | None = None
    ) -> None:
        """Stars or notes a finding; can be undone."""
        self.undo.push(_FindingChanged(self._store, finding, note, starred))

    def restore_params(self, analysis: str, params: Params) -> None:
        """Puts settings back into their form without remembering that as a change."""
        # The form answers within the emit below, as if the user had typed.
        self._restoring = True
        self._params[analysis] = params
        self._store.params_offered.emit(analysis, params.model_dump())
        self._restoring = False

    def _params_changed(self, analysis: str) -> None:
        now = self._store.next_run.params.get(analysis)
        if now is None:
            return
        before = self._params.get(analysis)
        self._params[analysis] = now
        # The first settings of a form are its defaults, not a change by the user.
        if before is not None and before != now and not self._restoring:
            self.undo.push(
                _ParamsChanged(self, self._store.analyses[analysis].title, analysis, before, now)
            )

    def _forget(self) -> None:
        """Another workspace: what was noted in the old one cannot be undone any more."""
        self.undo.clear()


class _ParamsChanged(QUndoCommand):
    """Settings of one analysis; typing into one form is one change."""

    def __init__(
        self, navigation: Navigation, title: str, analysis: str, before: Params, after: Params
    ) -> None:
        super().__init__(f"settings of {title}")
        self._navigation, self._analysis, self._before, self._after = (
            navigation,
            analysis,
            before,
            after,
        )
        self._field = _field(before, after)
        # QUndoStack calls redo when a command is pushed, which must not repeat what was typed.
        self._done = True  # By the user, in the form.

    def redo(self) -> None:
        if not self._done:
            self._navigation.restore_params(self._analysis, self._after)
        self._done = False

    def undo(self) -> None:
        self._navigation.restore_params(self._analysis, self._before)

    # Qt offers commands of the same id to each other for merging.
    def id(self) -> int:
        return 1

    def mergeWith(self, other: QUndoCommand) -> bool:
        # Several settings at once, as a preset changes them, are a step of their own.
        if (
            not isinstance(other, _ParamsChanged)
            or (other._analysis, other._field) != (self._analysis, self._field)
            or not self._field
        ):
            return False
        self._after = other._after
        return True


def _field(before: Params, after: Params) -> str:
    """The one setting that differs; empty when several do."""
    names = [
        name for name in type(before).model_fields if getattr(before, name) != getattr(after, name)
    ]
    if len(names) == 1:
        return names[0]
    return ""


class _FindingChanged(QUndoCommand):
    """A note or a star."""

    def __init__(
        self, store: Store, finding: StoredFinding, note: str | None, starred: bool | None
    ) -> None:
        super().__init__("note" if note is not None else "star")
        self._store, self._finding = store, finding
        self._after = (note, starred)
        self._before = (
            finding.note if note is not None else None,
            finding.starred if starred is not None else None,
        )

    def redo(self) -> None:
        self._set(*self._after)

    def undo(self) -> None:
        self._set(*self._before)

    def _set(self, note: str | None, starred: bool | None) -> None:
        self._store.history.set_finding(self._finding, note=note, starred=starred)
        # Shown at once; the workspace tells of it again when it is written.
        self._store.history.findings_changed.emit()
