"""Draws pictures of a report ahead, in a process that yields to everything else.

They go onto the shelf, where the next report finds them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

#: How many of the newest runs are drawn ahead; a report of more draws the rest itself.
MOST_RUNS = 60


def begin(workspace: Path) -> subprocess.Popen[bytes] | None:
    """Starts the process; None if none can be started."""
    # A frozen program brings no interpreter that takes -c.
    if getattr(sys, "frozen", False):
        return None
    path = str(workspace.absolute())
    # The search path of this process: -c would put the working directory in front.
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import draw; draw({path!r})"
    with suppress(OSError):
        return subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # One thread: it draws beside whatever the user does.
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    return None


def draw(workspace: str) -> None:
    """Draws what is missing on the shelf, the newest run first; in the process of its own."""
    if hasattr(os, "nice"):
        # The lowest priority there is.
        os.nice(19)
    from robgui.core.errors import RobguiError
    from robgui.core.workspace import Workspace
    from robgui.report.kept import KEPT
    from robgui.report.writing import drawings

    KEPT.use_shelf()
    with suppress(RobguiError), Workspace.open(workspace, create=False) as opened:
        for one in drawings(opened)[:MOST_RUNS]:
            one()
