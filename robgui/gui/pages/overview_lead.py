"""Lead: what the hero of the overview says: the worst of all, its picture, what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from robgui.core.finding_groups import Group, failing_models
from robgui.core.finding_pair import Pair, pair_of
from robgui.core.text.words import count
from robgui.core.workspace.speaking import gravity
from robgui.gui.pages.overview_hero import Hero, overall
from robgui.gui.pages.overview_tiles import input_words, leading

if TYPE_CHECKING:
    import numpy as np

    from robgui.core.dataset import Dataset
    from robgui.core.finding import Finding, StoredFinding
    from robgui.gui.pages.tile import Tile
    from robgui.gui.state.store import Store

INSPECT = "Inspect everything"
#: Pixels of the picture of the input.
_SIDE = 320


def shows(finding: Finding, sentence: str, classes: Sequence[str]) -> bool:
    """Whether a finding is of the classes that a sentence names; a sentence may name none.

    Args:
        finding: What would stand beside the sentence.
        sentence: With the names of classes in quotation marks.
        classes: All classes of the model.
    """
    named = {name for name in classes if f"“{name}”" in sentence}
    confusion = finding.confusion
    if not named or confusion is None:
        return True
    # A sentence may leave out what its one class is taken for.
    return set(confusion) <= named or (len(named) == 1 and named <= set(confusion))


def _sentence(tile: Tile) -> str:
    """What the method of a tile says; empty while it has said nothing."""
    if tile.told is None:
        return ""
    return tile.told.sentence


class Lead(QObject):
    """Fills the hero from the cards of the methods.

    Signals:
        wants_findings: The fingerprint of the model whose findings to show; empty for all.
        wants_action: The name of an action of the window.
    """

    wants_findings = Signal(str)
    wants_action = Signal(str)

    def __init__(self, store: Store, hero: Hero) -> None:
        super().__init__(hero)
        self._store, self.hero = store, hero
        self._hero_of: object = None
        hero.wants.connect(self._do)

    def show(self, tiles: Sequence[Tile], applying: int, subject: str, to_come: int) -> None:
        """What all methods come to; the worst decides, of equals the one with the worst finding.

        Args:
            tiles: The cards of all methods.
            applying: How many of the methods apply to the model in use.
            subject: Which model on which input.
            to_come: How many methods without an answer are under way, or wait for their turn.
        """
        told = [tile for tile in tiles if tile.told is not None]
        # A gravity is the smaller, the worse.
        worst = min(told, key=self._weight, default=None)
        verdicts = [tile.told for tile in told if tile.told is not None]
        stopped = sum(tile.is_stopped for tile in told)
        deciding = None if worst is None else worst.told
        failed = sum(tile.run is None and tile.alert for tile in tiles)
        said = overall(
            verdicts,
            applying,
            deciding,
            stopped,
            failed=failed,
            to_come=to_come,
            at_work=self._store.inspection.running,
        )
        self.hero.show_overall(said, subject)
        self.hero.show_next(self._next_steps(len(told) + failed + to_come < applying))
        self._show_picture(worst)

    def _weight(self, tile: Tile) -> tuple[int, float]:
        assert tile.told is not None
        found = self._worst_finding(tile)
        if found is None:
            severity = 0.0
        else:
            severity = self._store.history.harm.severity(found)
        return gravity(tile.told, severity)

    def _worst_finding(self, tile: Tile) -> StoredFinding | None:
        """The worst finding of the run that a tile shows."""
        return max(self._findings(tile), key=self._store.history.harm.severity, default=None)

    def _told_finding(self, tile: Tile) -> StoredFinding | None:
        """The worst finding of the classes that the sentence of a tile names; None without one."""
        model = self._store.library.model
        classes = () if model is None else model.labels
        fitting = [one for one in self._findings(tile) if shows(one, _sentence(tile), classes)]
        return max(fitting, key=self._store.history.harm.severity, default=None)

    def _findings(self, tile: Tile) -> list[StoredFinding]:
        run = tile.run
        findings = self._store.history.findings
        return [one for one in findings if run is not None and one.run_id == run.id]

    def _next_steps(self, unasked: bool) -> dict[str, str]:
        """What to do next, the likeliest first."""
        store, steps = self._store, {}
        if store.inspection.running or store.library.model is None:
            return {}
        entries = store.history.entries()
        many, own = len(entries), len(self._own(entries))
        if own:
            words = count(many, "finding")
            steps["findings"] = f"See {words}" if own == many else f"See {own:,} of {words}"
        if unasked:
            steps["inspect_everything"] = "Ask the other methods" if own else INSPECT
        if many and not own:
            steps["findings"] = f"See {count(many, 'finding')} of other models"
        if many:
            steps |= {"present": "Tell it as a story", "report": "Write a report"}
        return steps

    def _own(self, entries: Sequence[Group]) -> list[Group]:
        """The findings of the model in use."""
        model = self._store.library.model
        requests = {run.id: run.request for run in self._store.history.runs}
        return [
            group
            for group in entries
            if model is not None
            and group.lead.run_id in requests
            and any(
                one.fingerprint == model.fingerprint
                for one in failing_models(group.lead, requests[group.lead.run_id])
            )
        ]

    def _do(self, name: str) -> None:
        if name == "findings":
            model = self._store.library.model
            self.wants_findings.emit("" if model is None else model.fingerprint)
        elif name == "inspect_everything":
            self._store.inspection.start()
            self.hero.show_next({})
        else:
            self.wants_action.emit(name)

    def _show_picture(self, tile: Tile | None) -> None:
        """The failure before and after, else an input that fails, else the input in use.

        Beside a sentence about classes of the whole data the input in use would be read as one of
        theirs: it is left out. Everything is read away from the GUI thread.
        """
        store = self._store
        finding = failing = None
        if tile is not None:
            finding = self._told_finding(tile)
        if tile is not None and finding is not None:
            failing = self._failing(tile, finding)
        own = failing or self._in_use(tile)
        # Called at every change of a tile: the same picture is not read and scaled again.
        wanted = (own and (id(own[0]), own[1]), None if finding is None else finding.id)
        workspace = store.history.workspace
        if wanted == self._hero_of:
            return
        self._hero_of = wanted

        def work() -> tuple[Pair | None, np.ndarray | None]:
            whole = None
            if finding is not None and workspace is not None and finding.has_picture:
                whole = workspace.finding(finding.id)
            if whole is None:
                pair = None
            else:
                pair = pair_of(whole)
            if pair is not None or own is None:
                return pair, None
            return None, own[0].thumbnail(own[1], _SIDE)

        def show(answer: tuple[Pair | None, np.ndarray | None]) -> None:
            pair, picture = answer
            if pair is not None:
                self.hero.show_pair(pair)
            elif own is None:
                self.hero.show_input(None, "", drawn=False)
            else:
                confusion = finding.confusion if failing and finding is not None else None
                drawn = own[0].kind != "image"
                self.hero.show_input(picture, input_words(*own), drawn=drawn, confusion=confusion)

        store.pictures.run(work, show, key="overview hero")

    def _failing(self, tile: Tile, finding: StoredFinding) -> tuple[Dataset, int] | None:
        """The first input that fails in a finding about several; None if its data are not open."""
        if tile.run is None or not finding.places:
            return None
        return self._store.subjects.locate(tile.run.request, finding.places[0])

    def _in_use(self, tile: Tile | None) -> tuple[Dataset, int] | None:
        """The input in use, unless the sentence beside it is about other classes' inputs."""
        store = self._store
        dataset, index = store.library.dataset, store.selection.input
        if dataset is None or index is None or index >= len(dataset):
            return None
        if tile is not None and self._names_classes(tile) and not self._of_one_input(tile):
            return None
        return dataset, index

    def _names_classes(self, tile: Tile) -> bool:
        model = self._store.library.model
        sentence = _sentence(tile)
        return model is not None and any(f"“{name}”" in sentence for name in model.labels)

    def _of_one_input(self, tile: Tile) -> bool:
        """Whether the run that a tile speaks of is of the input in use alone."""
        if tile.run is None:
            name = leading(tile.page, self._store)
        else:
            name = tile.run.request.analysis
        known = self._store.analyses.get(name)
        return known is not None and known.inputs == "one"
