"""Runs an attack against an edition of the program, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.security.warm import Warm

#: What every attack finds: the mark that its payload leaves, and the two words it may end with.
PRELUDE = """
import json, os, pathlib, resource, sqlite3, sys, time
mark = pathlib.Path("mark").absolute()

def held(words=""):
    print("HELD", words, flush=True)
    os._exit(0)

def broken(words):
    print("BROKEN", words, flush=True)
    os._exit(0)

def judge(words=""):
    broken("the payload ran") if mark.exists() else held(words)

def most_memory(extra):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, used + extra))

def sentence(action, memory=0):
    "The one sentence with which an action ends; anything else but success breaks the promise."
    from robgui.core.errors import RobguiError
    if memory:
        most_memory(memory)
    try:
        action()
    except RobguiError as error:
        words = str(error)
        broken("more than a sentence") if chr(10) in words else None
        text = repr(error.__cause__) + repr(error.__context__) + words
        broken("memory ran out") if memory and ("MemoryError" in text or "allocate" in text) else None
        return words
    except MemoryError:
        broken("memory ran out")
    except BaseException as error:
        broken(f"{type(error).__name__}: {str(error)[:80]!r}")
    return ""
"""


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack of the review.

    Attributes:
        point: Its number there.
        name: What it does, in a few words.
        make: Writes the attack files into a folder; it needs nothing of the program.
        code: Opens them with the edition under attack, and judges.
        seconds: After which it counts as hanging.
    """

    point: int
    name: str
    make: Callable[[Path], object]
    code: str
    seconds: float = 90.0


def carry_out(attack: Attack, root: Path, folder: Path, warm: Warm | None = None) -> str:
    """``held …`` or ``broken: …``, for the edition in ``root``.

    Args:
        attack: What is tried.
        root: The checkout that is attacked.
        folder: Where the attack's files are made, and where it runs.
        warm: Has imported the edition already; by default each attack starts an interpreter.
    """
    attack.make(folder)
    environment = environment_of(root, folder)
    code = PRELUDE + attack.code
    if warm is not None:
        ended = warm.run(code, folder, environment, attack.seconds)
    else:
        ended = _run_cold(code, folder, environment, attack.seconds)
    if ended is None:
        return "broken: it hangs"
    return _judgement(ended.returncode, ended.stdout, ended.stderr)


def environment_of(root: Path, folder: Path) -> dict[str, str]:
    """What an attack knows of the system: nothing of the user's is in it."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), str(folder / "libraries")]),
        "ROOT": str(root),
        "QT_QPA_PLATFORM": "offscreen",
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
        "MPLBACKEND": "agg",
        "ROBGUI_CONFIG": str(folder / "settings.json"),
        **{f"XDG_{kind}_HOME": str(folder / "user") for kind in ("DATA", "CONFIG", "CACHE")},
    }
    environment.pop("ROBGUI_INLINE", None)  # the program as its users start it, with its workers
    return environment


def _run_cold(
    code: str, folder: Path, environment: dict[str, str], seconds: float
) -> subprocess.CompletedProcess[str] | None:
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)
    return subprocess.CompletedProcess("", process.returncode, out, err)


def _end(process: subprocess.Popen[str]) -> None:
    """Ends the attack with all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def _judgement(code: int, out: str, err: str) -> str:
    last = next((line for line in reversed(out.splitlines()) if line[:4] in ("HELD", "BROK")), "")
    if last.startswith("HELD"):
        return f"held {last[5:]}".strip()
    if last:
        return f"broken: {last[7:]}"
    if code < 0:
        return f"broken: {signal.Signals(-code).name}"
    return f"no answer: {err.strip().splitlines()[-1][:200] if err.strip() else code}"
