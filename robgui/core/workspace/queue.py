"""The order of waiting runs, as chosen by the user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from robgui.core.execution.run import Run, RunState

if TYPE_CHECKING:
    from robgui.core.workspace.workspace import Workspace

_QUEUE = "queue"


def read_queue(workspace: Workspace) -> list[str]:
    """Run ids in the chosen order; some may have ended or be gone."""
    stored = workspace.values.get(_QUEUE)
    if not isinstance(stored, list):
        return []
    return [each for each in stored if isinstance(each, str)]


def write_queue(workspace: Workspace, ids: Sequence[str]) -> None:
    """Stores the order of the waiting runs."""
    workspace.values.set(_QUEUE, list(ids))


def in_order(runs: Iterable[Run], ids: Sequence[str]) -> list[Run]:
    """The waiting runs: those with a chosen order, then the others as requested."""
    places = {name: place for place, name in enumerate(ids)}
    waiting = [run for run in runs if run.state is RunState.QUEUED]
    # Runs that the user has not placed wait behind those they have, oldest first.
    return sorted(waiting, key=lambda run: (places.get(run.id, len(places)), run.created))
