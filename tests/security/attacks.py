"""What the attacks share: archives with parts replaced, and a child process whose end is looked
at.
"""

from __future__ import annotations

import atexit
import functools
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from robgui.core.errors import RobguiError
from robgui.core.loading import load
from tests.security.warm import Warm

ROOT = Path(__file__).parents[2]
#: A line for each file: one sentence, or that it went well; anything else (a traceback, a signal)
#: ends the child.
_LOAD = """
import resource, sys
import torch
from robgui.core.errors import RobguiError
from robgui.core.loading import load
{limit}
for path in sys.argv[1:]:
    try:
        classifier = load(path, device="cpu", **{settings})
        classifier.infer(torch.rand(2, *classifier.shape))
        print("loaded", flush=True)
    except RobguiError as error:
        print("refused:", error, flush=True)
"""
_LIMIT = """
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {extra}, used + {extra}))
"""


def repack(
    source: Path,
    target: Path,
    change: Callable[[str, bytes], tuple[str, bytes]],
    more: Mapping[str, bytes] | None = None,
) -> Path:
    """A copy of an archive in which every part went through ``change``; checksums are right."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        root = old.namelist()[0].split("/")[0]
        for name in old.namelist():
            new.writestr(*change(name, old.read(name)))
        for name, content in (more or {}).items():
            new.writestr(f"{root}/{name}", content)
    return target


def refused(path: Path, error: type[RobguiError] = RobguiError, **settings: object) -> str:
    """The one sentence with which loading ``path`` ends."""
    with pytest.raises(error) as caught:
        load(path, device="cpu", **settings)
    sentence = str(caught.value)
    assert path.name in sentence and "\n" not in sentence
    return sentence


def child(code: str, *words: object, seconds: float = 600) -> str:
    """What Python prints for ``code`` in a process of its own, which must end by itself and
    without a traceback.
    """
    ended = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=seconds,
        env=_environment(),
        cwd=ROOT,
        check=False,
    )
    return _printed(ended)


def forked(code: str, *words: object, seconds: float = 600) -> str:
    """As ``child``, in a process that has imported torch and the readers of models already."""
    arguments = f"import sys; sys.argv[1:] = {[str(word) for word in words]!r}\n"
    ended = _warm().run(arguments + code, ROOT, _environment(), seconds)
    assert ended is not None, f"still running after {seconds} s"
    return _printed(ended)


def module(name: str) -> str:
    """Code that runs a module as ``python -m`` does, for ``child`` and ``forked``."""
    return f"import runpy; runpy.run_module({name!r}, run_name='__main__')"


@functools.cache
def _warm() -> Warm:
    """One for all attacks of a test process; it ends with that process."""
    made = Warm(["torch", "robgui.core.loading"], _environment())
    atexit.register(made.close)
    return made


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
    }


def _printed(ended: subprocess.CompletedProcess[str]) -> str:
    reason = ended.stderr[-2000:]
    if ended.returncode < 0:
        reason = signal.Signals(-ended.returncode).name
    assert ended.returncode == 0, f"{reason} after {ended.stdout[-300:]!r}"
    return ended.stdout


def loaded_in_child(
    *paths: Path, settings: Mapping[str, object] | None = None, extra: int = 0
) -> list[str]:
    """How loading each of ``paths`` ends in a process of its own, with at most ``extra`` bytes
    more than it begins with.
    """
    limit = _LIMIT.format(extra=extra) if extra else ""
    return forked(
        _LOAD.format(limit=limit, settings=repr(dict(settings or {}))), *paths
    ).splitlines()
