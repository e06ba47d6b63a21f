"""Tells a refusal by the confinement from one by the owner of a file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

#: Follows the sentence of an error.
HINT = (
    " A model's process may not write files, use a network or start programs, even if its code is"
    " trusted; code that has to can run in a notebook, with robgui.run."
)


def hint(error: BaseException | None) -> str:
    """What to add to the sentence of an error that comes from the confinement; otherwise
    nothing.
    """
    if any(_is_ours(each) for each in _chain(error)):
        return HINT
    return ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what has led to it."""
    for _ in range(20):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _is_ours(error: BaseException) -> bool:
    if not isinstance(error, PermissionError):
        return False
    if error.errno == errno.EPERM:  # the answer of the filter of system calls
        return True
    if not isinstance(error.filename, str | bytes):
        return False
    path = Path(os.fsdecode(error.filename))
    # asking looks at owner and mode only, not at what Landlock refuses
    return os.access(path if path.exists() else path.parent, os.W_OK)
