"""Programs that the packaging starts."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from environment import Problem, clean_environment


def must(
    command: Sequence[str | Path],
    trouble: str,
    *,
    folder: str | None = None,
    extra: dict[str, str] | None = None,
) -> None:
    """Runs a command that has to succeed."""
    code = subprocess.run(
        [str(part) for part in command], cwd=folder, env=clean_environment(extra), check=False
    ).returncode
    if code:
        raise Problem(f"{trouble} (exit code {code}; the reason is above).")


def output(command: Sequence[str]) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
