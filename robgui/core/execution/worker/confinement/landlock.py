"""Landlock: which files, connections and processes this process may change, for good.

Three system calls, for which no rights are needed. What is not named in a rule is refused; reading
is left alone. The kernel tells how much of it it knows:

    version  kernel  what is new
    1        5.13    files: writing, making, removing, executing
    2        5.19    moving a file to another folder
    3        6.2     cutting a file short
    4        6.7     TCP: binding and connecting
    5        6.10    commands to devices
    6        6.12    signals and abstract sockets of processes outside

It holds for the thread that asks and for all that come after it, so it is asked for before there is
a second one.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from robgui.core.execution.worker.confinement.kernel import call

#: The same numbers on every processor.
_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
# LANDLOCK_CREATE_RULESET_VERSION and LANDLOCK_RULE_PATH_BENEATH of <linux/landlock.h>.
_TELL_VERSION = 1
_BENEATH = 1

# LANDLOCK_ACCESS_FS_* of <linux/landlock.h>; bits 2 and 3 are reading, which stays allowed.
_EXECUTE, _WRITE_FILE = 1 << 0, 1 << 1
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK = 1 << 6, 1 << 7, 1 << 8, 1 << 9
_MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = 1 << 10, 1 << 11, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

_MAKING = _MAKE_DIR | _MAKE_REG | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM
#: What may be done inside a folder of one's own: everything but executing and making devices.
_IN_FOLDER = _WRITE_FILE | _TRUNCATE | _REMOVE_DIR | _REMOVE_FILE | _MAKING | _REFER
_TO_DEVICE = _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_ALL = _EXECUTE | _IN_FOLDER | _MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV
#: Rights that came with a later version.
_SINCE = {_REFER: 2, _TRUNCATE: 3, _IOCTL_DEV: 5}
# Two bits each: binding and connecting; abstract sockets and signals.
_TCP, _TCP_SINCE = 3, 4
_SCOPES, _SCOPES_SINCE = 3, 6


class _Ruleset(ctypes.Structure):
    """``struct landlock_ruleset_attr``."""

    _fields_ = [
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    ]


class _Beneath(ctypes.Structure):
    """``struct landlock_path_beneath_attr``."""

    # Packed in the kernel's header too: 12 bytes, not 16.
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def version() -> int:
    """How much of Landlock this kernel knows; 0 when nothing, or when it is switched off."""
    try:
        return call(_CREATE, None, 0, _TELL_VERSION)
    except OSError:
        return 0


def restrict(folders: Iterable[Path], devices: Iterable[Path]) -> int:
    """Refuses every change but inside ``folders`` and to ``devices``.

    Returns the version that holds.

    Only for a process with one thread, which has given up new privileges.
    """
    known = version()
    if not known:
        return 0
    rights = _known(_ALL, known)
    network = _TCP if known >= _TCP_SINCE else 0
    if known >= _SCOPES_SINCE:
        scopes = _SCOPES
    else:
        scopes = 0
    # The structure has grown with the versions; a kernel takes only as much as it knows.
    size = 8 + 8 * (known >= _TCP_SINCE) + 8 * (known >= _SCOPES_SINCE)
    rules = call(_CREATE, _Ruleset(rights, network, scopes), size, 0)
    try:
        for folder in folders:
            _allow(rules, folder, _known(_IN_FOLDER, known))
        for device in devices:
            _allow(rules, device, _known(_TO_DEVICE, known))
        call(_RESTRICT, rules, 0)
    finally:
        os.close(rules)
    return known


def _known(rights: int, version: int) -> int:
    """Those of the rights that this version knows."""
    return rights & ~sum(right for right, since in _SINCE.items() if version < since)


def _allow(rules: int, place: Path, rights: int) -> None:
    # O_PATH: a rule needs the place, not the right to read what is there.
    opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        call(_ADD_RULE, rules, _BENEATH, _Beneath(rights, opened), 0)
    finally:
        os.close(opened)
