"""A folder of shards: several tar, Parquet or Arrow files that form one dataset.

webdataset and Hugging Face store data this way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.columnar.columns import open_arrow, open_parquet
from robgui.core.dataset.formats.joined import joined
from robgui.core.dataset.formats.packed import open_tar
from robgui.core.dataset.formats.tree import Listing, suffix
from robgui.core.dataset.options import PARTS, Options, part_named
from robgui.core.errors import DataError

_READERS: dict[str, Callable[[Path, Options], Dataset]] = {
    ".tar": open_tar,
    ".parquet": open_parquet,
    ".arrow": open_arrow,
}
#: The number of a shard at the end of its name.
_NUMBER = re.compile(r"[-_.]?\d{1,6}([-_]of[-_]\d{1,6})?$")
# As for folders: first what the model was not trained on.
_LIKELIEST = ("test", "val", "train")
#: A folder with more shards than this is something else.
_MOST = 10_000


@dataclass(frozen=True)
class ShardFolder:
    """The shards of a folder, by part; the empty part is for names without one."""

    parts: dict[str, list[str]] = field(default_factory=dict)

    @property
    def foreign(self) -> bool:
        """Whether a foreign library reads them."""
        return any(suffix(name) != ".tar" for names in self.parts.values() for name in names)


def shard_files(listing: Listing) -> ShardFolder | None:
    """The shards in a folder, in its folder ``data``, or in its folders train, val and test."""
    here = listing.scan("")
    if here.images:
        return None
    for prefix in ("", "data/") if "data" in here.folders else ("",):
        if found := _shards(listing, prefix):
            return ShardFolder(found)
    parts = {part: name for name in here.folders if (part := part_named(name))}
    found = {
        str(part): [each for many in _shards(listing, f"{name}/").values() for each in many]
        for part, name in parts.items()
    }
    found = {part: names for part, names in found.items() if names}
    if found:
        return ShardFolder(found)
    return None


def _shards(listing: Listing, prefix: str) -> dict[str, list[str]]:
    files = [name for name in listing.scan(prefix).files if suffix(name) in _READERS]
    if not files or len(files) > _MOST:
        return {}
    kinds = [suffix(name) for name in files]
    # A stray file of another kind is left out rather than joined.
    kind = max(set(kinds), key=kinds.count)
    parts: dict[str, list[str]] = {}
    for name in files:
        if suffix(name) == kind:
            stem = _NUMBER.sub("", name[: -len(kind)])
            parts.setdefault(part_named(stem) or "", []).append(prefix + name)
    return parts


def open_shards(folder: Path, shards: ShardFolder, options: Options) -> Dataset:
    """Opens the shards of one part as one dataset."""
    parts = shards.parts
    likeliest = next((part for part in _LIKELIEST if part in parts), "")
    wanted = options.split or likeliest
    if wanted not in parts:
        if options.split is not None:
            raise DataError(
                f"{folder}: there is no part {wanted}; there are:"
                f" {', '.join(filter(None, parts)) or 'none'}."
            )
        wanted = next(iter(parts))
    files = [folder / name for name in parts[wanted]]
    datasets = [_READERS[file.suffix.casefold()](file, options) for file in files]
    others = [part for part in PARTS if part in parts and part != wanted]
    notes = [f"The part {wanted} is open; {' and '.join(others)} can be chosen."]
    dataset = joined(datasets, folder, options, notes if others else ())
    dataset.parts = tuple(part for part in PARTS if part in parts)
    return dataset
