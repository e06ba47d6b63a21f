"""Seccomp: system calls that the kernel refuses to this process for good.

The filter is a small program that the kernel runs at every call. It refuses with EPERM, as if
rights were missing, so a library that has an alternative takes it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

from robgui.core.execution.worker.confinement.kernel import call
from robgui.core.execution.worker.confinement.system_calls import PROCESSORS, REFUSED, Processor

# From <linux/seccomp.h>: SECCOMP_SET_MODE_FILTER and SECCOMP_FILTER_FLAG_TSYNC, then
# SECCOMP_RET_ALLOW and SECCOMP_RET_ERRNO.
_SET_FILTER, _ALL_THREADS = 1, 1
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_REFUSE = _ERROR | errno.EPERM
#: Filter operations: load a word; jump if equal, at least, or if bits are set; return.
_LOAD, _EQUAL, _AT_LEAST, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
#: Offsets of the call number, the processor and the first argument in ``struct seccomp_data``.
_NUMBER, _PROCESSOR, _ARGUMENTS = 0, 4, 16

# From <linux/sched.h> and <sys/socket.h>.
_CLONE_THREAD = 0x10000
_AF_UNIX = 1
#: fcntl and ioctl that would have the kernel send signals to others, type into a terminal, or
#: change the flags of a file; prctl that would let this process outlive the one that started it.
_FCNTL = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
#: TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR
_IOCTL = (0x5412, 0x541C, 0x8901, 0x8902, 0x40086602, 0x401C5820)
_PRCTL = (1,)  # PR_SET_PDEATHSIG

# Operation, instructions to skip if the test holds and if it does not, and its value.
Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def refuse_calls(*, local_sockets: bool) -> bool:
    """Refuses what a worker never needs; False if kernel or processor cannot filter calls.

    Args:
        local_sockets: Sockets of this machine may be made (not connected): a CUDA driver makes one.
    """
    processor = PROCESSORS.get(platform.machine())
    # A 32-bit Python on a 64-bit kernel has other
    # call numbers than the machine's name suggests.
    if processor is None or sys.maxsize < 2**32:
        return False
    program = filter_program(processor, os.getpid(), local_sockets=local_sockets)
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in program))
    number = processor.number("seccomp")
    assert number is not None
    given = _Program(len(program), ctypes.addressof(code))
    try:
        return call(number, _SET_FILTER, _ALL_THREADS, given) == 0
    except OSError:  # A kernel without seccomp, or one that refuses it to us.
        return False


def filter_program(processor: Processor, own: int, *, local_sockets: bool) -> list[Instruction]:
    """The filter, as instructions.

    Args:
        processor: Whose calls are numbered.
        own: The number of this process, the only one that it may send signals to.
        local_sockets: See ``refuse_calls``.
    """
    domains = (_AF_UNIX,) if local_sockets else ()
    program = [
        (_LOAD, 0, 0, _PROCESSOR),
        # First the convention: a 32-bit call has other numbers, and would pass all tests below.
        (_EQUAL, 1, 0, processor.audit),
        _answer(_REFUSE),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, processor.most),
        _answer(_REFUSE),
    ]
    looked_at = {
        "clone": [_load(0), (_BITS, 0, 1, _CLONE_THREAD), _answer(_ALLOW), _answer(_REFUSE)],
        # The filter cannot read clone3's arguments, which are behind a pointer; the C library falls
        # back to clone.
        "clone3": [_answer(_ERROR | errno.ENOSYS)],
        "prlimit64": _only(0, (0, own)),
        "socket": _only(0, domains),
        # Without an address: to the other end of a socket pair.
        "sendto": [
            # The address of the receiver, a pointer, so both halves must be 0.
            _load(4),
            (_EQUAL, 0, 3, 0),
            _load(4, upper=True),
            (_EQUAL, 0, 1, 0),
            _answer(_ALLOW),
            _answer(_REFUSE),
        ],
        "fcntl": _never(1, _FCNTL),
        "ioctl": _never(1, _IOCTL),
        "prctl": _never(0, _PRCTL),
    }
    for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
        looked_at[name] = _only(0, (own,))
    for name, answer in [
        *looked_at.items(),
        *((name, [_answer(_REFUSE)]) for name in REFUSED),
    ]:
        if (number := processor.number(name)) is not None:
            program += [(_EQUAL, 0, len(answer), number), *answer]
    return [*program, _answer(_ALLOW)]


def _load(argument: int, *, upper: bool = False) -> Instruction:
    """Loads the lower half of an argument, which is all of a number or flag, or its upper half."""
    return _LOAD, 0, 0, _ARGUMENTS + 8 * argument + 4 * upper


def _answer(value: int) -> Instruction:
    return _RETURN, 0, 0, value


def _only(argument: int, values: tuple[int, ...]) -> list[Instruction]:
    """Allows the call with one of these values only."""
    tests = [
        instruction for value in values for instruction in ((_EQUAL, 0, 1, value), _answer(_ALLOW))
    ]
    return [_load(argument), *tests, _answer(_REFUSE)]


def _never(argument: int, values: tuple[int, ...]) -> list[Instruction]:
    """Refuses the call with any of these values."""
    tests = [
        instruction for value in values for instruction in ((_EQUAL, 0, 1, value), _answer(_REFUSE))
    ]
    return [_load(argument), *tests, _answer(_ALLOW)]
