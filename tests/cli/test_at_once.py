"""A command that needs no model answers at once: what it imports is checked, not how long it
takes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import robgui.cli
from robgui import resources
from robgui.core.execution.worker import process

HEAVY = {"torch", "cv2", "scipy", "onnxruntime", "matplotlib", "PIL", "sklearn", "PySide6", "ray"}
MODEL = str(resources.path("demo", "fashion_mlp.pt2"))
#: Runs a command in a process that has nothing imported yet, then tells what it has imported.
_CODE = """
import sys
from robgui.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:
    code = end.code
print(code, *{name.partition(".")[0] for name in sys.modules})
"""


def answer(*words: str) -> tuple[int, str, set[str]]:
    """Exit code, what went to stderr, and what was imported."""
    done = subprocess.run(
        [sys.executable, "-c", _CODE, *words], capture_output=True, text=True, check=True
    )
    code, *modules = done.stdout.splitlines()[-1].split()
    return int(code), done.stderr, set(modules)


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["list"], ["list", "--json"]])
def test_what_there_is_to_run_is_told_without_the_libraries_that_run_it(words):
    code, _, modules = answer(*words)
    assert (code, modules & HEAVY) == (0, set())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "There is no command 'nonsense'"),
        (["run", "zonnskan", "--model", MODEL], "There is no analysis 'zonnskan'; did you mean"),
        (["run", "zonnscan", "--model", "nowhere.pt2"], "nowhere.pt2 does not exist"),
        (["run", "zonnscan", "--model", MODEL, "--data", "nowhere"], "no such file or folder"),
        (["run", "zonnscan", "--model", MODEL, "--sampels", "4"], "There is no option --sampels"),
        (["run", "zonnscan", "--model", MODEL, "--samples", "0"], "samples = 0"),
        (["run", "zonnscan", "--model", MODEL, "--set", "x=1"], "There is no setting 'x'"),
        (["run", "zonnscan", "--model", MODEL, "--model-set", "x=1"], "no model setting 'x'"),
        (["run", "zonnscan", "--model", MODEL, "--data-set", "x=1"], "no data option 'x'"),
        (["run", "zonnscan", "--model", MODEL, "--index", "a"], "--index"),
        (["run", "zonnscan", "--model", MODEL, "--out", "/nowhere/r.json"], "--out /nowhere"),
        (["run", "zonnscan", "--model", MODEL, "--workspace", f"{MODEL}/w"], "no folder that"),
        (["run", "zonnscan", "--model", MODEL, "--params", "nowhere.toml"], "--params nowhere"),
        (["run", "zonnscan", "--model", MODEL, "--names", "nowhere.txt"], "nowhere.txt"),
        (["inspect", "nowhere.pt2"], "nowhere.pt2 does not exist"),
        (["inspect", MODEL, "--model-set", "x=1"], "no model setting 'x'"),
        (["batch", "nowhere.toml"], "nowhere.toml"),
        (["report", "nowhere.robgui", "--html", "r.html"], "no workspace nowhere.robgui"),
    ],
)
def test_a_command_that_cannot_work_is_refused_before_anything_heavy_is_imported_or_started(
    words, said
):
    code, told, modules = answer(*words)
    assert said in told and told.count("\n") == 1
    assert (code, modules & HEAVY) == (2, set())
    assert words[0] == "report" or "sqlite3" not in modules


def test_a_workspace_on_a_drive_that_does_not_exist_is_refused_in_one_sentence(monkeypatch, capsys):
    # Only Windows has paths of which no parent exists.
    place = Path("/drive/w").absolute()
    for ask in ("exists", "is_dir"):
        real = getattr(Path, ask)
        monkeypatch.setattr(
            Path,
            ask,
            lambda path, real=real: path not in (place, *place.parents) and real(path),
        )
    assert robgui.cli.main(["run", "zonnscan", "--model", MODEL, "--workspace", str(place)]) == 2
    told = capsys.readouterr().err
    assert f"because {place.anchor} is no folder that may be written" in told


def test_no_worker_is_started_for_a_command_that_is_refused(monkeypatch, capsys):
    started = []
    monkeypatch.setattr(process.subprocess, "Popen", lambda *given, **_: started.append(given))
    assert robgui.cli.main(["run", "zonnscan", "--model", MODEL, "--samples", "0"]) == 2
    assert started == []
    capsys.readouterr()


def test_one_analysis_is_found_without_importing_the_methods_of_the_others():
    code = (
        "import sys; from robgui.core.execution.registry import find; find('zonnscan');"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "robgui.analyses.zonnscan.method" in done.stdout
    assert "robgui.analyses.semantic" not in done.stdout


def test_a_name_is_refused_without_importing_what_says_and_shows_results():
    code = (
        "import sys; from robgui.cli import main; main(['run', 'zonnskan', '--model', sys.argv[1]]);"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, MODEL], capture_output=True, text=True, check=True
    )
    modules = done.stdout.split()
    assert "robgui.analyses.zonnscan.method" in modules
    ours = [name.split(".") for name in modules if name.startswith("robgui.analyses.")]
    assert [name for name in ours if {"views", "findings", "cost"} & {*name[3:]}] == []
    assert "robgui.core.view" not in modules


def test_an_analysis_is_the_same_however_it_is_found():
    from robgui.core.execution.registry import analyses, find

    assert all(find(name) is known for name, known in analyses().items())


def broken(words: list[str]) -> int:
    """Stands for a command with a bug."""
    return len(np.zeros(3)[words])


def test_an_error_that_nobody_foresaw_is_a_bug_in_one_sentence_with_its_traceback_in_a_file(
    monkeypatch, capsys
):
    monkeypatch.setattr(robgui.cli, "dispatch", broken)
    assert robgui.cli.main(["list"]) == 3
    said = capsys.readouterr().err
    assert (
        said.startswith("robgui: This is a bug of robgui (IndexError: ") and said.count("\n") == 1
    )
    found = re.search(r"the details are in (\S+);?, please", said)
    assert found is not None
    path = Path(found[1])
    try:
        assert "in broken" in path.read_text(encoding="utf-8")
        assert path.stat().st_mode & 0o077 == 0
    finally:
        path.unlink()


def test_debug_shows_the_traceback_of_a_bug_and_of_a_refusal(monkeypatch, capsys):
    assert robgui.cli.main(["--debug", "run", "nonsense"]) == 2
    said = capsys.readouterr().err
    assert "Traceback" in said and "ParamsError" in said
    monkeypatch.setattr(robgui.cli, "dispatch", broken)
    assert robgui.cli.main(["list", "--debug"]) == 3
    said = capsys.readouterr().err
    assert "in broken" in said
    Path(re.findall(r"details are in (\S+?);?, please", said)[0]).unlink()
