"""Marks: the user's tags and saved sets for the inputs of a dataset.

They belong to a workspace and to a dataset, which is recognised by its path or its content: a
folder keeps its tags if a picture is added, and so does one that was moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from robgui.core.dataset.query.ordering import ORDERS

if TYPE_CHECKING:
    from robgui.core.workspace.workspace import Workspace

_MARKS = "marks"
#: Limits on stored marks: a workspace may come from anyone.
_MOST_TAGS, _MOST_DATASETS = 1_000, 10_000


@dataclass(frozen=True, slots=True)
class SavedSet:
    """A query that is asked again with one click.

    Attributes:
        query: In the language of the gallery.
        order: What the inputs are sorted by, see ORDERS.
        turned: The other way round.
    """

    query: str
    order: str = "index"
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Marks:
    """Names of inputs by tag, and saved sets by name."""

    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sets: Mapping[str, SavedSet] = field(default_factory=dict)

    def tagged(self, tag: str, names: Iterable[str], *, on: bool) -> Marks:
        """A copy with these inputs tagged or untagged; an unused tag disappears."""
        known, changed = dict.fromkeys(self.tags.get(tag, ())), dict.fromkeys(names)
        if on:
            now = {**known, **changed}
        else:
            now = {name: None for name in known if name not in changed}
        tags = {**self.tags, tag: tuple(now)}
        return replace(self, tags={name: each for name, each in tags.items() if each})

    def with_set(self, name: str, saved: SavedSet | None) -> Marks:
        """A copy with a set under ``name``; None removes it."""
        others = {each: known for each, known in self.sets.items() if each != name}
        return replace(self, sets=others if saved is None else {**others, name: saved})


def read_marks(workspace: Workspace, path: str, fingerprint: str) -> Marks:
    """The marks of a dataset; empty if there are none."""
    records = _records(workspace)
    place = _place(records, path, fingerprint)
    if place is None:
        return Marks()
    return _marks(records[place])


def write_marks(workspace: Workspace, path: str, fingerprint: str, marks: Marks) -> None:
    """Stores the marks of a dataset, replacing older ones."""
    records = _records(workspace)
    place = _place(records, path, fingerprint)
    others = [each for number, each in enumerate(records) if number != place]
    record = {
        "path": path,
        "fingerprint": fingerprint,
        "tags": {tag: list(names) for tag, names in marks.tags.items()},
        "sets": {
            name: {"query": saved.query, "order": saved.order, "turned": saved.turned}
            for name, saved in marks.sets.items()
        },
    }
    empty = not (marks.tags or marks.sets)
    workspace.values.set(_MARKS, others if empty else [*others, record])


def _records(workspace: Workspace) -> list[dict[str, Any]]:
    stored = workspace.values.get(_MARKS)
    if isinstance(stored, list):
        listed = stored[:_MOST_DATASETS]
    else:
        listed = []
    return [each for each in listed if isinstance(each, dict)]


def _place(records: list[dict[str, Any]], path: str, fingerprint: str) -> int | None:
    """The key of a dataset: its path, or its content if it has none."""
    # Path before content: a folder that gained a picture is the same folder to its user.
    for name, wanted in (("path", path), ("fingerprint", fingerprint)):
        for number, record in enumerate(records):
            if wanted and record.get(name) == wanted:
                return number
    return None


def _marks(record: dict[str, Any]) -> Marks:
    """What can be read of a record; the rest is dropped."""
    tags, sets = record.get("tags"), record.get("sets")
    if isinstance(tags, dict):
        listed = list(tags.items())[:_MOST_TAGS]
    else:
        listed = []
    if isinstance(sets, dict):
        saved = list(sets.items())[:_MOST_TAGS]
    else:
        saved = []
    return Marks(
        {tag: tuple(map(str, names)) for tag, names in listed if isinstance(names, list) and names},
        {name: found for name, each in saved if (found := _saved(each)) is not None},
    )


def _saved(record: Any) -> SavedSet | None:
    if not isinstance(record, dict) or not isinstance(record.get("query"), str):
        return None
    order = record.get("order")
    return SavedSet(
        record["query"], order if order in ORDERS else "index", record.get("turned") is True
    )
