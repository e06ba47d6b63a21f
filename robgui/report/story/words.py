"""What the user says instead of what a slide says by itself; kept in the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace

_STORY = "story"
#: A workspace may come from anyone.
_MOST_SLIDES, _LONGEST = 1_000, 5_000


@dataclass(frozen=True, slots=True)
class Words:
    """Title and text of a slide, as the user wrote them."""

    title: str
    text: str


Edits = Mapping[str, Words]


def read_edits(workspace: Workspace) -> dict[str, Words]:
    """The user's text by slide key; anything malformed is skipped."""
    stored = workspace.values.get(_STORY)
    if isinstance(stored, dict):
        listed = list(stored.items())[:_MOST_SLIDES]
    else:
        listed = []
    return {
        str(key): Words(str(one.get("title", ""))[:_LONGEST], str(one.get("text", ""))[:_LONGEST])
        for key, one in listed
        if isinstance(one, dict)
    }


def write_edits(workspace: Workspace, edits: Edits) -> None:
    """Keeps what the user wrote, in place of what was there."""
    workspace.values.set(
        _STORY, {key: {"title": one.title, "text": one.text} for key, one in edits.items()}
    )
