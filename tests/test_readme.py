"""Every command of the README and of the pages it links to, run as it stands there.

One that nobody has taught this file is an error.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from robgui import resources
from robgui.cli import main
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace

ROOT = Path(__file__).parent.parent
#: The README and the pages that were once a part of it.
PAGES = (
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            *("install", "analyses", "files", "window", "command_line", "python", "batches"),
            *("architecture", "measured", "limits"),
        )
    ),
)
README = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
DEMO = ROOT / "resources" / "demo"
#: What begins a command, in a block or in a sentence.
PROGRAMS = ("robgui", "python", "python3", "pip")


# ---------------------------------------------------------------- what stands in the README


def fenced() -> list[tuple[str, str]]:
    """The fenced blocks: language and text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def block(language: str) -> str:
    (text,) = [text for found, text in fenced() if found == language]
    return text


def spans() -> list[str]:
    """What stands between backticks in the text."""
    return re.findall(
        r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    )


def commands() -> list[str]:
    """Every command without its comment, in order and once."""
    lines = [
        line.strip()
        for language, text in fenced()
        if language == ""
        for line in text.splitlines()
        if line.strip()
    ]
    inline = [text for text in spans() if text.split()[0] in PROGRAMS]
    return list(
        dict.fromkeys(" ".join(line.partition(" #")[0].split()) for line in [*lines, *inline])
    )


def options() -> list[str]:
    """The options that are named in sentences."""
    return list(dict.fromkeys(text for text in spans() if text.startswith("--")))


# ---------------------------------------------------------------- how commands are run


def words_of(command: str) -> list[str]:
    """The words of a command, with paths into the checkout."""
    return [
        str(ROOT / word) if word.startswith("resources/") else word for word in shlex.split(command)
    ]


def robgui(command: str, *more: str) -> None:
    """Runs a command of robgui in this process, which has imported torch already.

    It must end well.
    """
    program, *rest = words_of(command)
    assert program == "robgui"
    assert main([*rest, *more]) == 0


def alone(command: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of robgui in a process of its own."""
    program, *rest = words_of(command)
    assert program == "robgui"
    return subprocess.run(
        [sys.executable, "-m", "robgui", *rest, *more],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def inspect_weights(command: str, folder: Path) -> None:
    (folder / "nets.py").write_text(
        "from torch import nn\n\ndef build():\n    return nn.Sequential(nn.Flatten(), nn.Linear(3 *"
        " 32 * 32, 10))\n",
        encoding="utf-8",
    )
    layer = torch.nn.Linear(3 * 32 * 32, 10)
    torch.save(
        {"1.weight": layer.weight.detach(), "1.bias": layer.bias.detach()}, folder / "weights.pth"
    )
    robgui(command)


def run_sweep(command: str, folder: Path) -> None:
    robgui(command)
    document = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert document["state"] == "done" and document["verdict"]


def report(command: str, folder: Path) -> None:
    sweep = [
        "run",
        "zonnscan",
        "--model",
        str(DEMO / "fashion_mlp.pt2"),
        "--data",
        str(DEMO / "fashion.npz"),
        "--index",
        "0",
    ]
    assert (
        main(
            [
                *sweep,
                "--samples",
                "64",
                "--radii",
                "0,0.1",
                "--workspace",
                "workspace.robgui",
                "--out",
                "small.json",
            ]
        )
        == 0
    )
    robgui(command)
    assert "zoNNscan" in (folder / "report.html").read_text(encoding="utf-8")
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")


def suite(folder: Path) -> None:
    """The suite of the README with a real model and real data, both small."""
    (folder / "suite.toml").write_text(block("toml"), encoding="utf-8")
    (folder / "models").mkdir()
    for name in ("table_mlp.onnx", "table_mlp.onnx.toml"):
        shutil.copy(DEMO / name, folder / "models")
    rows = np.loadtxt(
        DEMO / "table.csv", delimiter=",", skiprows=1, usecols=range(30), dtype=np.float32
    )
    names = np.loadtxt(DEMO / "table.csv", delimiter=",", skiprows=1, usecols=30, dtype=str)
    labels = (names == "malignant").astype(np.int64)
    chosen = np.random.default_rng(0).integers(len(rows), size=2000)
    np.savez(
        folder / "test.npz",
        inputs=rows[chosen],
        labels=labels[chosen],
        names=np.array(["benign", "malignant"]),
    )


def batch(command: str, folder: Path) -> None:
    """The gate of the example holds for some input, so the suite fails: that is exit code 1,
    with every request done.
    """
    suite(folder)
    done = alone(command, "--workspace", "w.robgui", *shlex.split(" ".join(options_of("batch"))))
    assert done.returncode == 1, done.stderr
    assert "zonnscan.crossing.max > 0.5" in done.stdout + done.stderr
    with Workspace.open(folder / "w.robgui") as workspace:
        states = [run.state for run in workspace.runs()]
    assert len(states) >= 61 and set(states) == {RunState.DONE}
    assert (folder / "report.xml").exists()


def reproduce(command: str, folder: Path) -> None:
    """On one of the three bundled networks, which takes a third of the time.

    The claims that need three cannot run then.
    """
    robgui(command, "--models", str(DEMO / "fashion_mlp.pt2"))
    claims = json.loads((folder / "robgui-reproduce" / "result.json").read_text(encoding="utf-8"))
    assert claims["holds"] > 0 and claims["does_not_hold"] == 0


def window(command: str, folder: Path) -> None:
    """Comes up offscreen and is stopped when it has opened the user's workspace, which it does
    once it is on screen.
    """
    assert words_of(command) == ["robgui"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    started = subprocess.Popen(
        [sys.executable, "-m", "robgui"], env=environment, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 120
    while (
        not Workspace.default_path().exists() and started.poll() is None and time.monotonic() < end
    ):
        time.sleep(0.1)
    running = started.poll() is None
    started.kill()
    said = started.communicate()[1]
    assert running and Workspace.default_path().exists(), said
    assert said == ""


def tour(command: str, folder: Path) -> None:
    """One stop instead of fifteen: the whole takes minutes."""
    done = alone(command, "--only", "last_particle")
    assert done.returncode == 0, done.stdout + done.stderr
    made = sorted(path.name for path in (folder / "robgui-demo").iterdir())
    assert {
        "01-welcome.png",
        "02-last_particle-fashion_cnn.safetensors.png",
        "03-dark.png",
        "report.html",
    } <= set(made)


def listing(command: str, folder: Path) -> None:
    """Lists every analysis that the README has a line for."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        robgui(command)
    lines = README.partition("| analysis | what it does |")[2].partition("\n\n")[0]
    named = re.findall(r"`([a-z-]+)`", lines)
    assert len(named) > 10
    assert {f"{name}:" for name in named} <= {
        line.split()[0] for line in printed.getvalue().splitlines() if line.strip()
    }


def development(command: str, folder: Path) -> None:
    """These would install packages and start these very tests again: that they exist is what is
    checked.

    tests/packaging/test_dev.py runs ``run`` and ``test`` with the calls to the system recorded.
    """
    _, script, name = shlex.split(command)
    done = subprocess.run(
        [sys.executable, ROOT / script, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert f"{script} {name} " in done.stderr


def install(command: str, folder: Path) -> None:
    """Installing would replace what these tests run on: pip builds the project's metadata and
    says what it would do.

    Without a network pip does not look for what the extras name, so their names are looked up in
    the project's own list.
    """
    *words, place = shlex.split(command)
    assert words == ["pip", "install"]
    path, _, extras = place.removesuffix("]").partition("[")
    assert path == "."
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert set(filter(None, extras.split(","))) <= set(known)
    dry = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        place,
    ]
    done = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Would install robgui-" in done.stdout


def bench(command: str, folder: Path) -> None:
    """A benchmark takes minutes and wants a quiet machine: that it is there and knows the
    options is what is checked.
    """
    program, flag, module, *rest = shlex.split(command)
    assert (program, flag) == ("python", "-m")
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    source = Path(spec.origin).read_text(encoding="utf-8")
    texts = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    assert "__main__" in texts
    assert {word for word in rest if word.startswith("--")} <= texts


def selftest(command: str, folder: Path) -> None:
    """One analysis instead of all."""
    done = alone(command, "--only", "pipeline_audit")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Pipeline audit" in done.stdout or "pipeline_audit" in done.stdout


def answered_in_one_sentence(command: str, folder: Path) -> None:
    """Its files are not there: tests/cli and tests/report run it on real ones."""
    done = alone(command)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith("robgui: ") and done.stderr.count("\n") == 1


def plain(command: str, folder: Path) -> None:
    robgui(command)


#: How each command of the README is run; a pattern must fit the whole command.
CHECKS: dict[str, Callable[[str, Path], None]] = {
    r"python3 packaging/dev\.py (run|test|package)": development,
    r"pip install .*": install,
    r"python -m tests\.bench\.[\w.]+( .*)?": bench,
    r"python -m tests\.mutation( .*)?": bench,
    r"robgui": window,
    r"robgui inspect weights\.pth .*": inspect_weights,
    r"robgui inspect resources/\S+": plain,
    r"robgui run zonnscan --model resources/\S+ --data resources/\S+ .* --out result\.json": (
        run_sweep
    ),
    r"robgui report workspace\.robgui --html report\.html --pdf report\.pdf": report,
    r"robgui batch demo:suite\.toml --dry-run": plain,
    r"robgui batch suite\.toml": batch,
    r"robgui reproduce zonnscan --quick": reproduce,
    r"robgui list": listing,
    r"robgui list zonnscan": plain,
    r"robgui list --data": plain,
    r"robgui doctor": plain,
    r"robgui selftest": selftest,
    r"robgui guard workspace\.robgui tests/guarded": answered_in_one_sentence,
    r"robgui check tests/guarded --model resources/\S+": answered_in_one_sentence,
    r"robgui verify report\.html": answered_in_one_sentence,
    r"robgui tour": tour,
    r"robgui completion bash": plain,
}
#: The command each option in a sentence belongs to.
OPTIONS = {
    "--trust": "inspect",
    "--model-set": "inspect",
    "--names FILE": "inspect",
    "--split train": "inspect",
    "--data-set every=10": "inspect",
    "--data-set classes=00=Stop,01=Yield": "inspect",
    "--data-set names_file=signnames.csv": "inspect",
    "--params FILE": "run zonnscan",
    "--dry-run": "run zonnscan",
    "--max-seconds": "run zonnscan",
    "--data FOLDER": "reproduce",
    "--workers 2": "batch",
    '--fail-on "zonnscan_populations.auc<0.6"': "batch",
    "--junit report.xml": "batch",
    "--json": "batch",
    "--cluster auto": "",  # Ray: tests/batch, with -m ray
    "--debug": "--help",
}


def options_of(command: str) -> list[str]:
    return [text for text in options() if OPTIONS[text] == command]


def checks_for(command: str) -> list[Callable[[str, Path], None]]:
    return [check for pattern, check in CHECKS.items() if re.fullmatch(pattern, command)]


# ---------------------------------------------------------------- claims


#: Commands that take seconds; the tests of each package run the same code on less.
SLOW = (
    "robgui tour",
    "robgui batch suite.toml",
    "robgui reproduce",
    "robgui selftest",
    "robgui doctor",
)


def as_parameters() -> list[Any]:
    """Every command; those that take long are slow tests."""
    marks = {True: (pytest.mark.slow,), False: ()}
    return [pytest.param(each, marks=marks[each.startswith(SLOW)]) for each in commands()]


@pytest.mark.parametrize("command", as_parameters())
def test_the_command_does_what_the_readme_says(command, tmp_path, monkeypatch):
    (check,) = checks_for(command) or pytest.fail(f"Nobody taught this test how to run: {command}")
    monkeypatch.chdir(tmp_path)
    check(command, tmp_path)


def test_no_check_is_left_from_a_command_that_is_gone():
    for pattern in CHECKS:
        assert any(re.fullmatch(pattern, command) for command in commands()), pattern
    assert set(options()) == set(OPTIONS)


def test_a_command_that_nobody_taught_is_noticed():
    assert checks_for("robgui polish weights.pth") == []
    assert checks_for("robgui list --loud") == []


@pytest.mark.parametrize("option", [text for text in OPTIONS if OPTIONS[text] != "batch"])
def test_an_option_named_in_a_sentence_exists(option, capsys):
    with pytest.raises(SystemExit):
        main([*(OPTIONS[option] or "batch").split(), "--help"])
    assert option.split()[0] in capsys.readouterr().out


def test_every_block_is_a_command_python_toml_or_a_drawing():
    assert {language for language, _ in fenced()} <= {"", "python", "toml", "text"}
    for language, text in fenced():
        assert language != "text" or not re.search(
            rf"^\s*({'|'.join(PROGRAMS)}) ", text, flags=re.MULTILINE
        )


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "example.py"
    script.write_text(
        block("python").replace('"resources/', f'"{ROOT.as_posix()}/resources/'), encoding="utf-8"
    )
    names = runpy.run_path(str(script))
    assert len(names["result"].radii) == len(names["result"].index)
    assert str(names["step"].done) in capsys.readouterr().out


def test_pictures_and_pages_that_the_readme_links_to_exist_and_are_small():
    paths = []
    for page in PAGES:
        links = re.findall(
            r"\]\(([^)#]+)(?:#[^)]*)?\)|src=\"([^\"]+)\"", page.read_text(encoding="utf-8")
        )
        named = (one or other for one, other in links)
        paths += [page.parent / name for name in named if not name.startswith("http")]
    assert len(paths) > 30
    assert set(PAGES[1:]) <= {path.resolve() for path in paths}, "every page is linked to"
    for path in paths:
        assert path.exists(), path
        if path.suffix in (".png", ".gif", ".svg"):
            assert path.stat().st_size < 1_500_000, path


def test_every_analysis_is_named_and_every_extra_named_exists():
    from robgui.core.execution.registry import analyses

    ours = {
        name
        for name, known in analyses().items()
        if known.engine.__module__.startswith("robgui.analyses.")
    }
    assert {name.replace("_", "-") for name in ours} <= set(spans())
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    named = re.search(r"^\| extra \|.*?\n\n", README, flags=re.MULTILINE | re.DOTALL)
    assert named is not None
    assert set(re.findall(r"^\| `(\w+)`", named[0], flags=re.MULTILINE)) <= set(extras)
    assert resources.path("demo", "suite.toml").exists()


def test_the_drawing_has_the_layers_that_are_enforced():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    rows = [re.findall(r"robgui\.(\w+)", layer) for layer in layers]
    drawing = next(text for language, text in fenced() if language == "text").splitlines()
    places = [
        [
            next(number for number, line in enumerate(drawing) if re.search(rf"\b{name}\b", line))
            for name in row
        ]
        for row in rows[1:]
    ]
    assert all(len(set(row)) == 1 for row in places), "layers side by side stand side by side"
    assert places == sorted(places)


def test_the_readme_is_short():
    lines = PAGES[0].read_text(encoding="utf-8").splitlines()
    assert len(lines) < 80
