"""What a check is, and the few safe ways to examine a machine."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["OK", "WARN", "FAIL"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing examined: name, whether it is well, a sentence, Debian packages that would help."""

    name: str
    state: State
    sentence: str
    packages: tuple[str, ...] = ()


def version(package: str) -> str | None:
    """The installed version of a Python package; None if it is missing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def numbers(version: str) -> tuple[int, ...]:
    """Major and minor number of a version, for comparison."""
    # As numbers: as text 6.10 would come before 6.8.
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def frozen() -> bool:
    """True in the application that carries its own Python and packages."""
    return bool(getattr(sys, "frozen", False))


def output(command: Sequence[str]) -> str:
    """What a program prints on both streams; empty if it is missing, fails or hangs."""
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if answer.returncode == 0:
        return answer.stdout + answer.stderr
    return ""


def probe(name: str, environment: Mapping[str, str] | None = None) -> tuple[Any, str]:
    """Runs a probe of robgui.doctor.probes in its own process.

    Returns what it found, or None and the reason.
    """
    if frozen():
        itself = ["doctor"]
    else:
        # -P: a random.py in the current folder must not be imported in place of Python's own.
        itself = ["-P", "-m", "robgui.doctor"]
    return answer_of([sys.executable, *itself, "--probe", name], environment)


def answer_of(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> tuple[Any, str]:
    """The JSON that a program prints last, or None and the reason."""
    variables = {**os.environ, **(environment or {})}
    try:
        answer = subprocess.run(
            command,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            # Generous: without bytecode, torch takes long to import from a slow disk.
            timeout=120,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    if answer.returncode == 0:
        # The last line: libraries print greetings when they are imported.
        return json.loads(answer.stdout.splitlines()[-1]), ""
    # The frozen start's own.
    lines = [
        line for line in answer.stderr.splitlines() if line.strip() and not line.startswith("[PYI-")
    ]
    # An abort gives its reason first, a Python error last.
    told = 0 if answer.returncode < 0 else -1
    return None, lines[told] if lines else f"the process ended with code {answer.returncode}"
