"""What a worker process gives up before it reads the first byte of a foreign file.

A model file is checked before anything of it runs, and code runs only where the user has said so.
Confinement is for the day when a check has a hole: native code that a hostile file has smuggled in
can then compute and answer, and little else. It holds for every worker, also for one that runs code
which the user trusts: trust lets code run, it gives it no more rights. Code that has to download,
to compile or to write files runs in a notebook (``robgui.run``), where nothing is confined; nor is
anything where the user asks for one process to debug in (``ROBGUI_INLINE=1``).

On Linux, and as far as the kernel offers it:

- Landlock (files, since 5.13; TCP, 6.7; signals and abstract sockets, 6.12): every file that the
  user can read can be read, but nothing can be written, made, moved, cut short or removed outside
  the worker's own temporary folder, and no file is executed. Devices of graphics cards, and with
  them ``/dev/shm``, can be written if there are any.
- Seccomp (x86-64 and ARM of 64 bits): no program or process is started; no socket is made or
  connected (with a graphics card, local ones can be made but not connected); no other process is
  traced, read or sent a signal; owner, mode, times and attributes of files stay; no mount, no
  namespace, no bpf, no io_uring. Threads work.
- No new privileges, no core files, a limit of memory, a session and process group of its own, no
  descriptors but three pipes, an environment without display, session bus and secrets, and the end
  together with the process that has started it.

What is not refused: reading what the user can read, filling the disk through the worker's own
folder until the worker ends, and using the processor. macOS and Windows offer nothing of this to a
process of its own accord; there a worker has its own process, limits where the system has them, and
an environment without secrets. ``robgui doctor`` tries what is refused on a machine. Workers of a
Ray cluster are Ray's, and are not confined.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from robgui.core.execution.worker.confinement import kernel, landlock, seccomp
from robgui.core.execution.worker.confinement.devices import graphics_devices, plain_devices

__all__ = ["Confinement", "confine"]

#: Below this version of Landlock a file can still be truncated, or is not guarded at all.
_GUARDS_FILES, _GUARDS_TCP, _GUARDS_PROCESSES = 3, 4, 6


@dataclass(frozen=True, slots=True)
class Confinement:
    """What holds.

    Attributes:
        privileges: No new privileges.
        landlock: The version of Landlock that holds; 0 without.
        calls: System calls are filtered.
    """

    privileges: bool = False
    landlock: int = 0
    calls: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The same for people."""
        parts = {
            "no new privileges": self.privileges,
            "writes only to its own folder": self.landlock >= _GUARDS_FILES,
            "no TCP": self.landlock >= _GUARDS_TCP,
            "no signals to others": self.landlock >= _GUARDS_PROCESSES or self.calls,
            "no sockets, no programs, no other processes": self.calls,
        }
        return tuple(name for name, holds in parts.items() if holds)


def confine(folder: Path | None) -> Confinement:
    """Gives up for good what a worker does not need.

    A protection the system lacks is no error; the answer says which hold.

    Args:
        folder: The only folder that can be written from now on.
    """
    if sys.platform != "linux" or not kernel.give_up_privileges():
        return Confinement()
    cards = graphics_devices()
    folders = [] if folder is None else [folder]
    if _is_alone():
        held = _guard_files(folders, [*plain_devices(), *cards])
    else:
        held = 0
    return Confinement(True, held, seccomp.refuse_calls(local_sockets=bool(cards)))


def _guard_files(folders: list[Path], devices: list[Path]) -> int:
    try:
        return landlock.restrict(folders, devices)
    except OSError:  # The kernel has it, but does not grant it to us.
        return 0


def _is_alone() -> bool:
    """Whether this process has a single thread: confinement would not reach the others."""
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False
