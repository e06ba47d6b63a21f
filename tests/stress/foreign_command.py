"""A person at the command line and models that misbehave: at loading, in a preview, in a run."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from tests.core.execution.worker.foreign import STUCK
from tests.patience import LONGEST, Stopwatch
from tests.stress.seen import Seen, children, misbehaves

ROOT = Path(__file__).parent.parent.parent
#: Bytes of addresses that a command and its processes may take, as ``ulimit -v`` sets it.
ADDRESSES = 3_000_000_000
#: Seconds that a stuck run is left alone, so that its result so far is in the workspace.
_LEAVE_ALONE = 2.5
_SETTINGS = ["--samples", 4096, "--radii", "0:0.5:8", "--target-half-width", 0, "--batch", 256]


def command(*words: object) -> subprocess.Popen[str]:
    """A command in its own process group, as a shell starts it; Ctrl-C is heard."""
    return subprocess.Popen(
        [sys.executable, "-m", "robgui", *map(str, words)],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "ROBGUI_INLINE"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        preexec_fn=_as_from_a_shell,  # noqa: PLW1509
    )


def at_loading(folder: Path, model: str) -> Seen:
    """``robgui inspect`` of a model that misbehaves at its first answer."""
    said, stopped = _watched(command("inspect", *_model(folder, f"{model}_at_once")), model)
    return _seen(folder, "loading", model, said, stopped)


def in_preview(folder: Path, model: str) -> Seen:
    """``robgui inspect --data`` with a model that misbehaves when it sees the data."""
    words = ["inspect", *_model(folder, f"{model}_on_data"), "--data", folder / "data.npz"]
    said, stopped = _watched(command(*words), model)
    return _seen(folder, "preview", model, said, stopped)


def in_run(folder: Path, model: str) -> Seen:
    """``robgui run`` with a model that misbehaves after some results."""
    out, workspace = folder / f"{model}.json", folder / f"{model}.robgui"
    for old in (out, workspace):
        old.unlink(missing_ok=True)
    words = _run(folder, f"{model}_later", "--out", out, "--workspace", workspace)
    said, stopped = _watched(command(*words), model, _LEAVE_ALONE)
    state = RunState.CANCELLED if model in STUCK else RunState.FAILED
    document = json.loads(out.read_text()) if out.exists() else {"state": "", "done": 0}
    with Workspace.open(workspace) as opened:
        (stored,) = opened.runs()
    kept = (document["state"], stored.state, stored.has_result) == (state.value, state, True)
    return _seen(folder, "run", model, said, stopped, kept=kept and document["done"] > 0)


@cache
def works(folder: Path) -> bool:
    """Whether the same command with a good model does; commands share nothing, so once is enough."""
    process = command(*_run(folder, "good", "--set", "samples=64"))
    out, _ = process.communicate(timeout=LONGEST)
    return process.returncode == 0 and json.loads(out)["state"] == "done"


def _as_from_a_shell() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


def _model(folder: Path, build: str) -> list[object]:
    settings = ["--model-set", f"architecture=foreign.py:{build}", "--model-set", "shape=3"]
    return [folder / "foreign.safetensors", *settings, "--trust", "--device", "cpu"]


def _run(folder: Path, build: str, *more: object) -> list[object]:
    data = ["--data", folder / "data.npz", "--index", 0]
    settings = [] if "--set" in more else _SETTINGS
    return ["run", "zonnscan", "--model", *_model(folder, build), *data, *settings, *more]


def _watched(
    process: subprocess.Popen[str], model: str, leave_alone: float = 0.0
) -> tuple[str, float | None]:
    """What a command says last, and how long Ctrl-C took where it was needed."""
    stopped, before = None, ""
    try:
        if model in STUCK:
            _wait_for_mischief(process)
            time.sleep(leave_alone)
            stopped, before = _interrupted(process)
        _, errors = process.communicate(timeout=LONGEST)
    finally:
        process.kill()
    lines = (before + errors).replace("\r", "\n").splitlines()
    assert "Traceback" not in errors, errors
    assert process.returncode == (130 if model in STUCK else 2), (process.returncode, lines)
    return " ".join(line.strip() for line in lines[-3:] if line.strip()), stopped


def _wait_for_mischief(process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + LONGEST
    while not misbehaves(children(process.pid)):
        time.sleep(0.02)
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "waited in vain for the mischief"


def _interrupted(process: subprocess.Popen[str]) -> tuple[float, str]:
    """Ctrl-C as a terminal sends it, to the whole group; seconds until it is said to have worked.

    How long a system takes to tear a process down after that is its own business.
    """
    lines = []
    with Stopwatch() as watch:
        os.killpg(process.pid, signal.SIGINT)
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if "interrupted" in line:
                break
    return watch.seconds, "".join(lines)


def _seen(
    folder: Path,
    when: str,
    model: str,
    said: str,
    stopped: float | None,
    kept: bool | None = None,
) -> Seen:
    return Seen("command line", when, model, said, stopped, kept, None, works(folder))
