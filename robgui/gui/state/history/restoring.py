"""Restoring: a workspace's files are loaded again, and the pair in use is in use again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.gui.state.library.opening import Opening

if TYPE_CHECKING:
    from robgui.core.execution.request import Reference
    from robgui.gui.state.history.history import History
    from robgui.gui.state.history.restored import Restored
    from robgui.gui.state.library.library import Library


class Restoring:
    """Brings the models and data of a workspace into the library."""

    def __init__(self, library: Library, history: History) -> None:
        self._library = library
        self._history = history

    def restore(self, restored: Restored) -> None:
        """The pair that was in use comes first and stays in use.

        Loading the others changes nothing about that.
        """
        library = self._library
        if restored.instead:
            library.clear()
        library.drop_derived()
        # What was chosen in the last workspace must not keep this one's pair out of use.
        library.start_anew()
        if self._history.derived:
            library.add_derived(
                self._history.derived,
                activate=restored.dataset is None or not restored.dataset.path,
            )
        there = {reference.path for reference in restored.references}
        pair = [
            each
            for each in (restored.dataset, restored.model)
            if each is not None and each.path in there
        ]
        # Files load one after the other: the pair first, because a person waits for it.
        for reference in pair:
            self.load(
                reference, used=restored.used.get(reference.fingerprint, time.time()), use=True
            )
        kinds, paths = {each.kind for each in pair}, {each.path for each in pair}
        for reference in restored.references:
            if reference.path not in paths and not library.has(reference.fingerprint):
                # The pair is in use already; None lets the first of a kind without one come into
                # use.
                if reference.kind in kinds:
                    use = False
                else:
                    use = None
                self.load(reference, used=restored.used.get(reference.fingerprint, 0.0), use=use)

    def load(self, reference: Reference, used: float = 0.0, use: bool | None = None) -> None:
        """Loads what a workspace remembers, or takes what is loaded already.

        Args:
            reference: Which model or data.
            used: When they were used last.
            use: Whether they become those in use, see Opening.
        """
        library, path = self._library, Path(reference.path)
        model = next(
            (each for each in library.models if each.fingerprint == reference.fingerprint), None
        )
        dataset = next(
            (each for each in library.datasets if each.fingerprint == reference.fingerprint), None
        )
        if use and model is not None:
            library.use_model(model)
        elif use and dataset is not None:
            library.use_dataset(dataset)
        elif reference.kind == "model":
            library.load_model(
                Opening(path, stored=(dict(reference.options), used), quiet=True, use=use)
            )
        else:
            library.load_dataset(path, quiet=True, use=use, options=dict(reference.options))
