"""Distinguishes a refusal by the confinement from one by a file's permissions."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

#: Appended to the error's sentence.
HINT = (
    " A model's process may not write files, use a network or start programs, even if its code is"
    " trusted; code that has to can run in a notebook, with robgui.run."
)


def confinement_hint(error: BaseException | None) -> str:
    """What to add to an error caused by the confinement; otherwise empty."""
    if any(_is_ours(each) for each in _chain(error)):
        return HINT
    return ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what has led to it."""
    # Bounded: foreign code can link its errors in a ring.
    for _ in range(20):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _is_ours(error: BaseException) -> bool:
    if not isinstance(error, PermissionError):
        return False
    if error.errno == errno.EPERM:  # The seccomp filter answers EPERM.
        return True
    if not isinstance(error.filename, str | bytes):
        return False
    path = Path(os.fsdecode(error.filename))
    # os.access checks owner and mode only, not Landlock.
    return os.access(path if path.exists() else path.parent, os.W_OK)
