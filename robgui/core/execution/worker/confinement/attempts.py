"""Really tries what a hostile program would try, for the doctor and the tests.

Every attempt raises OSError if refused, and does no harm if not.
"""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: From <sys/ptrace.h> and <sched.h>; Python has no names for them.
_PTRACE_SEIZE = 0x4206  # Like attaching, but does not stop the other process.
_CLONE_NEWUSER = 0x10000000


@dataclass(frozen=True, slots=True)
class Target:
    """What the attempts are aimed at.

    Attributes:
        outside: A folder that is not the worker's, with the file ``kept`` in it.
        process: The number of a process that is not the worker.
        address: Of a socket of this machine that is listened at.
    """

    outside: Path
    process: int
    # Port 9 is "discard" by convention: whoever listens there ignores what comes.
    address: tuple[str, int] = ("127.0.0.1", 9)


def possible(target: Target) -> list[str]:
    """Which of the attempts succeed; empty if all are refused."""
    done = []
    for name, attempt in ATTEMPTS.items():
        try:
            attempt(target)
        except OSError:
            continue
        done.append(name)
    return done


def _write(target: Target) -> None:
    (target.outside / f"new-{os.getpid()}").write_bytes(b"written")


def _overwrite(target: Target) -> None:
    with (target.outside / "kept").open("r+b") as file:
        file.write(b"changed")


def _cut(target: Target) -> None:
    os.close(os.open(target.outside / "kept", os.O_RDONLY | os.O_TRUNC))


def _change_mode(target: Target) -> None:
    (target.outside / "kept").chmod(0o640)


def _change_time(target: Target) -> None:
    os.utime(target.outside / "kept", (1, 1))


def _remove(target: Target) -> None:
    (target.outside / "kept").unlink()


def _make_folder(target: Target) -> None:
    (target.outside / f"folder-{os.getpid()}").mkdir()


def _use_tcp(target: Target) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
        made.bind(("127.0.0.1", 0))


def _use_udp(target: Target) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.sendto(b"hello", target.address)


def _use_local(target: Target) -> None:
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with first, second:
        first.sendto(b"hello", str(target.outside / "socket"))


def _start_program(target: Target) -> None:
    os.waitpid(os.posix_spawn("/bin/true", ["/bin/true"], {}), 0)


def _start_process(target: Target) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _send_signal(target: Target) -> None:
    # Signal 0 is never delivered; the system only says whether it could be.
    os.kill(target.process, 0)


def _trace(target: Target) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    none = ctypes.c_void_p(None)
    if library.ptrace(ctypes.c_long(_PTRACE_SEIZE), ctypes.c_long(target.process), none, none) != 0:
        raise OSError(ctypes.get_errno(), "refused")


def _read_memory(target: Target) -> None:
    os.close(os.open(f"/proc/{target.process}/mem", os.O_RDONLY))


def _make_namespace(target: Target) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "refused")


ATTEMPTS: dict[str, Callable[[Target], None]] = {
    "write a new file": _write,
    "change a file": _overwrite,
    "cut a file short": _cut,
    "change the mode of a file": _change_mode,
    "change the time of a file": _change_time,
    "remove a file": _remove,
    "make a folder": _make_folder,
    "use TCP": _use_tcp,
    "use UDP": _use_udp,
    "send to a local socket": _use_local,
    "start a program": _start_program,
    "start a process": _start_process,
    "send a signal to another process": _send_signal,
    "trace another process": _trace,
    "read the memory of another process": _read_memory,
    "make a namespace": _make_namespace,
}
