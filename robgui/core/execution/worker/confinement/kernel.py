"""Linux system calls that Python does not offer."""

from __future__ import annotations

import ctypes
import os

# From <linux/prctl.h> and <linux/capability.h>; the version of capabilities is the third, with two
# words per set.
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITIES_VERSION = 0x20080522
_CAP_DAC_READ_SEARCH = 2


class _Whose(ctypes.Structure):
    """``struct __user_cap_header_struct``; process 0 is this one."""

    _fields_ = [("version", ctypes.c_uint32), ("process", ctypes.c_int)]


class _Capabilities(ctypes.Structure):
    """``struct __user_cap_data_struct``, twice: the lower and the upper 32 of each set."""

    _fields_ = [
        (f"{name}_{half}", ctypes.c_uint32)
        for half in ("lower", "upper")
        for name in ("effective", "permitted", "inheritable")
    ]


def call(number: int, *values: int | ctypes.Array[ctypes.c_char] | ctypes.Structure | None) -> int:
    """Makes a system call; OSError says why it was refused."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    # As long: ctypes would pass a plain integer with 32 bits.
    given = [
        ctypes.c_long(value) if isinstance(value, int) else _address(value) for value in values
    ]
    answer = int(library.syscall(ctypes.c_long(number), *given))
    if answer < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return answer


def give_up_privileges() -> bool:
    """Bars this process and its children from ever gaining rights; True if that holds.

    Of root's rights, only reading every file remains.
    """
    library = ctypes.CDLL(None, use_errno=True)
    whose, held = _Whose(_CAPABILITIES_VERSION, 0), _Capabilities()
    if library.capget(ctypes.byref(whose), ctypes.byref(held)) == 0:
        kept = held.permitted_lower & 1 << _CAP_DAC_READ_SEARCH
        library.capset(ctypes.byref(whose), ctypes.byref(_Capabilities(kept, kept)))
    return _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def end_with_parent(signal: int) -> bool:
    """Makes the kernel send this signal when the parent process ends."""
    return _prctl(_PR_SET_PDEATHSIG, signal)


def _address(value: ctypes.Array[ctypes.c_char] | ctypes.Structure | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if value is None else ctypes.addressof(value))


def _prctl(option: int, value: int) -> bool:
    # The kernel refuses some options unless the unused arguments are 0 in all 64 bits.
    zero = ctypes.c_ulong(0)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return bool(prctl(option, ctypes.c_ulong(value), zero, zero, zero) == 0)
