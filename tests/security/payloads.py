"""What a hostile program does beyond the plain attempts; runs inside a worker of a test."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path


def _refused(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "done"


def connect(port: int) -> list[str]:
    """Tries to reach a port of this machine in three ways."""
    make = ctypes.CDLL(None, use_errno=True).syscall

    def past_the_library() -> None:
        if make(41 if os.uname().machine == "x86_64" else 198, 2, 1, 0) < 0:
            raise PermissionError(ctypes.get_errno(), "refused")

    return [
        _refused(lambda: socket.create_connection(("127.0.0.1", port), 1)),
        _refused(lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM)),
        _refused(past_the_library),
    ]


def links(outside: str) -> list[str]:
    """Tries to reach a file outside by links and by renaming; tells what could be done."""
    own, other = Path(tempfile.mkdtemp()), Path(outside)
    (own / "mine").write_bytes(b"mine")
    (own / "soft").symlink_to(other / "kept")
    (own / "up").symlink_to(other)
    ways: dict[str, Callable[[], object]] = {
        "hard link out of it": lambda: os.link(other / "kept", own / "hard"),
        "hard link into it": lambda: os.link(own / "mine", other / "hard"),
        "write through a link": lambda: (own / "soft").write_bytes(b"x"),
        "write below a link": lambda: (own / "up" / "new").write_bytes(b"x"),
        "rename into it": lambda: (own / "mine").rename(other / "mine"),
        "rename out of it": lambda: (other / "kept").rename(own / "kept"),
        "write by a relative path": lambda: Path(os.path.relpath(other / "new")).write_bytes(b"x"),
        "change the mode through a descriptor": lambda: _fchmod(other / "kept"),
    }
    return [name for name, way in ways.items() if _refused(way) == "done"]


def _fchmod(path: Path) -> None:
    with path.open("rb") as file:
        os.fchmod(file.fileno(), 0o600)


def kill(process: int) -> list[str]:
    """Tries to end another process, its group and everyone; tells what could be done."""
    library = ctypes.CDLL(None, use_errno=True)

    def queued() -> None:
        if library.sigqueue(process, signal.SIGTERM, 0) != 0:
            raise PermissionError(ctypes.get_errno(), "refused")

    ways: dict[str, Callable[[], object]] = {
        "kill": lambda: os.kill(process, signal.SIGTERM),
        "kill its group": lambda: os.killpg(os.getpgid(process), 0),
        "kill the parent": lambda: os.kill(os.getppid(), 0),
        "queue": queued,
        "by descriptor": lambda: os.pidfd_open(process),
        "write its memory": lambda: os.open(f"/proc/{process}/mem", os.O_RDWR),
        "read its environment": lambda: Path(f"/proc/{process}/environ").read_bytes(),
        "leave the group": os.setsid,
    }
    return [name for name, way in ways.items() if _refused(way) == "done"]


def use_own_folder() -> str:
    """Writes a file into the worker's own folder; tells where."""
    handle, name = tempfile.mkstemp()
    os.write(handle, b"mine")
    os.close(handle)
    return name
