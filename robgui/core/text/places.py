"""Removes folders from texts: a report names files, not where they lie on this machine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePath

#: An absolute path, of this system or of Windows; its last part is kept.
_ABSOLUTE = re.compile(
    r"(?<![\w.:/\\-])(?:~|[A-Za-z]:)?[\\/]+(?:[^\s'\"<>|;,()\\/]+[\\/]+)*([^\s'\"<>|;,()\\/]*)"
)


def without_places(text: str, known: Iterable[str] = ()) -> str:
    """The text with the name of a file in place of its absolute path.

    ``known`` paths may hold spaces.
    """
    for path in sorted((path for path in known if path), key=len, reverse=True):
        text = text.replace(path, PurePath(path).name).replace(f"{PurePath(path).parent}/", "")
    text = text.replace(f"{Path.home()}/", "")
    return _ABSOLUTE.sub(lambda match: match[1] or match[0], text)
