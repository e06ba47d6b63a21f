"""Unforeseen errors: one sentence, and the traceback in a file."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback

from robgui.version import __version__

#: Characters of an error that are shown.
_LONGEST = 300


def bug(error: BaseException) -> str:
    """Records what happened; says in a sentence what it is and where the traceback is."""
    said = " ".join(str(error).split())[:_LONGEST]
    if said:
        what = f"{type(error).__name__}: {said}"
    else:
        what = type(error).__name__
    try:
        place = f"the details are in {_write(error)}"
    except OSError:
        place = "run it again with --debug to see the details"
    return f"This is a bug of robgui ({what}); {place}, please report it."


def _write(error: BaseException) -> str:
    """A file of this user's own among the temporary ones; returns its name."""
    lines = [
        f"robgui {__version__}, Python {platform.python_version()}, {platform.platform()}\n",
        f"{' '.join(sys.argv)}\n\n",
        *traceback.format_exception(error),
    ]
    # mkstemp: a known name in a shared folder could be somebody else's link.
    handle, name = tempfile.mkstemp(prefix="robgui-bug-", suffix=".txt")
    # Arguments that are no UTF-8 come as surrogates, which UTF-8 cannot hold.
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(lines)
    return name
