"""An X server without a screen, for tests of real windows."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator

from environment import Problem


@contextlib.contextmanager
def virtual_display() -> Iterator[str]:
    """Starts Xvfb on a display number that Xvfb itself finds free, and ends it afterwards."""
    reading, writing = os.pipe()
    command = [
        "Xvfb",
        "-displayfd",
        str(writing),
        "-screen",
        "0",
        "1600x1000x24",
        "-nolisten",
        "tcp",
    ]
    server = subprocess.Popen(
        command,
        pass_fds=(writing,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with open(reading) as answer:  # noqa: PTH123 - a descriptor, not a path
            number = answer.readline().strip()
        if not number:
            raise Problem("Xvfb does not start; run Xvfb :99 by hand to see why.")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()
