"""Checking: a model and the tests made of findings, asked away from the GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.batch.guards.checking import Checked
    from robgui.core.model.card import ModelCard
    from robgui.core.view import View
    from robgui.gui.state.store import Store


def check_model(
    store: Store,
    folder: Path,
    model: ModelCard,
    done: Callable[[Checked, Sequence[View]], None],
    failed: Callable[[str, str], None],
    key: str,
) -> None:
    """Asks ``model`` about every case of the guard suite in ``folder``; no code in it runs.

    ``key`` is of whoever asks: their next question takes the place of this one.
    """

    def work() -> tuple[Checked, Sequence[View]]:
        from robgui.batch.guards.checking import check
        from robgui.batch.guards.suite import guard_suite
        from robgui.batch.guards.views import views

        checked = check(guard_suite(folder), model, store.answers.ask)
        return checked, views(checked)

    # Not in the background queue: a slow model and many cases would hold up what is opened.
    store.writing.run(work, lambda found: done(*found), failed=failed, key=key)


def forget(store: Store, key: str) -> None:
    """Drops the answer still to come."""
    store.writing.drop(key)
