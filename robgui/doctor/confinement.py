"""Checks what a hostile model could still do here if every check of its file had failed."""

from __future__ import annotations

import platform
import sys
import tempfile
from pathlib import Path

from robgui.doctor.check import Check, probe
from robgui.doctor.probes import OUTSIDE

_NAME = "confinement"
_ALL_REFUSED = (
    "a model's process can write only to its own temporary folder, and can neither use a network"
    " nor start a program nor touch another process"
)


def check_confinement() -> Check:
    """Checks by trying that a worker process is confined."""
    if sys.platform != "linux":
        return Check(
            _NAME,
            "WARN",
            f"{platform.system()} lets no program confine itself as Linux does: a model has a"
            " process of its own, with the rights of the user; open models of strangers elsewhere.",
        )
    with tempfile.TemporaryDirectory() as own, tempfile.TemporaryDirectory() as outside:
        # Something to overwrite, cut short and remove, if that is not refused.
        (Path(outside) / "kept").touch()
        found, error = probe("confinement", {"TMPDIR": own, OUTSIDE: outside})
    if found is None:
        return Check(_NAME, "FAIL", f"a model's process cannot confine itself: {error}")
    if not found["possible"]:
        return Check(_NAME, "OK", f"{_ALL_REFUSED} (Landlock {found['landlock']}, seccomp).")
    lacks = [
        *(() if found["landlock"] >= 6 else (f"Landlock is at {found['landlock']} of 6",)),
        *(() if found["calls"] else ("seccomp is not to be had",)),
    ]
    if lacks:
        why = f" ({', '.join(lacks)})"
    else:
        why = ""
    return Check(
        _NAME,
        "WARN",
        f"a model's process could {', '.join(found['possible'])}{why}; a kernel of 6.12 or newer"
        " with Landlock and seccomp refuses that.",
    )
