"""Devices that a worker may write to."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path

_DEV = Path("/dev")
#: NVIDIA (also under Windows' Linux), AMD.
_CARDS = ("nvidia*", "nvidia-caps/*", "dxg", "kfd", "dri/renderD*")


def plain_devices(dev: Path = _DEV) -> list[Path]:
    """Devices that store nothing."""
    return [device for name in ("null", "zero", "full") if (device := dev / name).exists()]


def graphics_devices(dev: Path = _DEV) -> list[Path]:
    """Devices of graphics cards, and the shared memory their drivers use; empty without a card."""
    cards = [device for pattern in _CARDS for device in sorted(dev.glob(pattern))]
    if cards and (dev / "shm").exists():
        shared = [dev / "shm"]
    else:
        shared = []
    return [*cards, *shared]


def make_nvidia_devices(dev: Path = _DEV) -> None:
    """Makes the driver create its memory device, which appears only on first use.

    The driver starts a program for that, which a confined worker cannot.
    """
    program = shutil.which("nvidia-modprobe")
    if program and (dev / "nvidiactl").exists() and not (dev / "nvidia-uvm").exists():
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([program, "-c", "0", "-u"], check=False, capture_output=True, timeout=20)
