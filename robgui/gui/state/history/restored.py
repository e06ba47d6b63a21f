"""What a workspace brings along when it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.core.errors import WorkspaceError

if TYPE_CHECKING:
    from robgui.core.dataset.derived import Derived
    from robgui.core.execution.request import Reference
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.core.harm import Harm
    from robgui.core.workspace import Workspace


@dataclass(frozen=True)
class Restored:
    """What a workspace brings along.

    Attributes:
        references: Models and data whose files are there, the last used first, each file once.
        used: When each was used last, by its fingerprint.
        model: The model that was in use last; None if that is not known.
        dataset: The data that were in use last.
        inputs: The input that was chosen last in each data file, by its path.
        instead: Whether it is opened instead of another, whose models and data stay with that one.
    """

    references: list[Reference]
    used: dict[str, float]
    model: Reference | None
    dataset: Reference | None
    inputs: dict[str, int]
    instead: bool = False


def open_workspace(
    path: Path | None,
) -> tuple[Workspace, list[Run], list[StoredFinding], Restored, list[Derived], Harm]:
    """A workspace, made if it is missing, and all that the window shows of it."""
    from robgui.core.workspace import Workspace

    workspace = Workspace.open(path or Workspace.default_path())
    try:
        references = [*workspace.files.references("dataset"), *workspace.files.references("model")]
        used, inputs = workspace.files.last_used(), workspace.files.looked_at()
        restored = Restored(references, used, *workspace.files.in_use(), inputs)
        runs, findings = workspace.runs(), workspace.findings()
        return workspace, runs, findings, restored, workspace.derived(), workspace.harm()
    except WorkspaceError:
        # A file that cannot be read whole must not stay locked.
        workspace.close()
        raise
