"""The command line with real worker processes: models that never answer, crash or are not there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robgui.core.errors import WorkspaceError
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from tests.core.execution.worker import foreign
from tests.core.execution.worker.foreign import COMMAND_LINE, STUCK, tried
from tests.patience import LONGEST, Stopwatch
from tests.stress import foreign_command

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = foreign.write_files(tmp_path_factory.mktemp("foreign"))
    foreign.endless_script(folder)
    return folder


@pytest.fixture(autouse=True)
def no_pipe_is_left_open():
    """Pipes of commands are closed with them."""
    yield
    for process in STARTED:
        process.kill()
        process.communicate()
    STARTED.clear()


STARTED: list[subprocess.Popen[str]] = []


def start(*words: object) -> subprocess.Popen[str]:
    """A command in its own process group, as a shell starts it.

    Ctrl-C is heard even where the tests run in the background.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "robgui", *map(str, words)],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "ROBGUI_INLINE"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    STARTED.append(process)
    return process


def foreign_words(files: Path, build: str) -> list[object]:
    settings = [
        "--model-set",
        f"architecture=foreign.py:{build}",
        "--model-set",
        "shape=3",
        "--trust",
    ]
    return ["--model", files / "foreign.safetensors", *settings]


def run_words(files: Path, model: list[object], tmp_path: Path) -> list[object]:
    inputs = ["--data", files / "data.npz", "--index", 0, "--device", "cpu"]
    settings = ["--samples", 4096, "--radii", "0:0.5:8", "--target-half-width", 0, "--batch", 256]
    return [
        "run",
        "zonnscan",
        *model,
        *inputs,
        *settings,
        "--out",
        tmp_path / "r.json",
        "--workspace",
        tmp_path / "w.robgui",
    ]


def interrupted(process: subprocess.Popen[str]) -> tuple[float, str]:
    """Ctrl-C as a terminal sends it, to the whole group.

    Seconds until it is said to have worked, and all that was said.

    How long a system takes to tear a process down after that is its own business.
    """
    lines = []
    with Stopwatch() as watch:
        os.killpg(process.pid, signal.SIGINT)
        for line in process.stderr:
            lines.append(line)
            if "interrupted" in line:
                break
    rest = process.stderr.read()  # communicate would lose what is buffered already
    process.communicate(timeout=LONGEST)
    return watch.seconds, "".join(lines) + rest


@pytest.mark.slow  # the worker's own tests stop a model that loops in torch
def test_ctrl_c_ends_a_run_whose_script_never_answers_and_keeps_what_it_had(files, tmp_path):
    words = ["--model", files / "endless.pt", "--model-set", "shape=3", "--trust"]
    process = start(*run_words(files, words, tmp_path))
    wait_for_result(process, tmp_path / "w.robgui")
    time.sleep(3)
    seconds, said = interrupted(process)
    assert process.returncode == 130, said
    assert seconds < 3
    assert "interrupted; the result so far is kept" in said
    document = json.loads((tmp_path / "r.json").read_text())
    assert (document["state"], document["done"] > 0) == ("cancelled", True)
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        (stored,) = workspace.runs()
        assert (stored.state, stored.has_result) == (RunState.CANCELLED, True)


def wait_for_result(process: subprocess.Popen[str], path: Path) -> None:
    """Waits until a partial result is in the workspace."""
    until = time.monotonic() + LONGEST
    while process.poll() is None and time.monotonic() < until:
        if has_result(path):
            return
        time.sleep(0.2)
    raise AssertionError(
        "no result came:"
        f" {process.stderr.read() if process.poll() is not None else 'still running'}"
    )


def has_result(path: Path) -> bool:
    """Seen from outside, while the command writes."""
    try:
        with Workspace.open(path, create=False) as seen:
            return seen.read_only and any(run.has_result for run in seen.runs())
    except WorkspaceError:  # it is only just being made
        return False


def test_a_model_that_leaves_in_a_run_is_one_sentence_exit_code_2_and_its_result_failed(
    files, tmp_path
):
    process = start(*run_words(files, foreign_words(files, "exits"), tmp_path))
    _, said = process.communicate(timeout=LONGEST)
    assert process.returncode == 2, said
    assert "exit code 7" in said.splitlines()[-1]
    assert "Traceback" not in said
    kept = tmp_path / "r.json"  # a Step that was on its way when the process died is lost
    assert not kept.exists() or json.loads(kept.read_text())["state"] == "failed"


@pytest.mark.parametrize(
    ("place", "model"),
    [
        pytest.param(place, *each.values, marks=each.marks)
        for place in ("at_loading", "in_preview", "in_run")
        for each in tried(COMMAND_LINE, place)
    ],
)
def test_a_model_that_misbehaves_is_stopped_within_three_seconds_or_told_in_one_sentence(
    files, place, model
):
    seen = getattr(foreign_command, place)(files, model)
    said = {"aborts": "signal 6 (SIGABRT)", "eats": "memory"}.get(model, "robgui: interrupted")
    assert said in seen.said
    assert (seen.stopped is not None) == (model in STUCK)
    assert seen.stopped is None or seen.stopped < 3
    assert seen.kept is (True if place == "in_run" else None)
    assert seen.again


def test_what_a_model_prints_does_not_get_into_the_result(files, tmp_path):
    words = run_words(files, foreign_words(files, "talks"), tmp_path)
    words = [*words[: words.index("--out")], "--set", "samples=64"]
    process = start(*words)
    out, said = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, said
    assert json.loads(out)["state"] == "done"


@pytest.mark.parametrize(
    "words",
    [
        ["run", "zonnscan", "--model", "nowhere.onnx"],
        ["run", "zonnscan", "--model", "README.md", "--data", "nowhere.npz"],
        ["inspect", "nowhere.onnx", "--json"],
        ["inspect", "README.md", "--data", "nowhere.npz"],
        ["--colour"],
        ["inspekt"],
    ],
)
def test_a_command_line_that_names_a_missing_file_is_refused_without_importing_torch(words):
    code = (
        "import sys, time; began = time.process_time(); from robgui.cli import main; code ="
        " main(sys.argv[1:]); print(code, 'torch' in sys.modules, 'numpy' in sys.modules,"
        " time.process_time() - began)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    code, torch, numpy, seconds = done.stdout.split()
    assert (code, torch, numpy) == ("2", "False", "False")
    assert float(seconds) < 0.3
    assert done.stderr.startswith("robgui: ")
