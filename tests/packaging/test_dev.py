"""The two commands: what they install, skip, repair and say."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "packaging" / "dev.py"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """packaging/environment.py working on an empty project in a temporary folder."""
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    for name in ("environment", "display", "dev"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    module = importlib.import_module("environment")
    venv = tmp_path / ".venv"
    places = {
        "ROOT": tmp_path,
        "VENV": venv,
        "PYTHON": venv / "bin" / "python",
        "STAMP": venv / "robgui-setup.json",
        "TRIED": venv / "tried.json",
        "LOCK": tmp_path / ".venv.lock",
        "CONSTRAINTS": tmp_path / "constraints.txt",
        "HASHES": tmp_path / "hashes",
    }
    for name, place in places.items():
        monkeypatch.setattr(module, name, place)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "packaging" / "constraints.txt", tmp_path)
    yield module
    for name in ("environment", "display", "dev"):
        sys.modules.pop(name, None)


@pytest.fixture
def dev(environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """packaging/dev.py whose environment is always ready and whose folder is never left."""
    module = importlib.import_module("dev")
    monkeypatch.setattr(module, "prepare", lambda: None)
    monkeypatch.setattr(module, "check_window", lambda: "")
    monkeypatch.setattr(module.os, "chdir", lambda folder: None)
    return module


@pytest.fixture
def venv(environment: ModuleType) -> Path:
    """A .venv that looks complete."""
    site = environment.VENV / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    environment.PYTHON.parent.mkdir()
    environment.PYTHON.touch()
    (environment.VENV / "pyvenv.cfg").write_text("version = 3.11.7")
    return site


def _package(site: Path, name: str, content: str = "x = 1\n", size: int | None = None) -> Path:
    """Installs a package of one file; returns the folder of its records."""
    (site / f"{name}.py").write_text(content)
    record = site / f"{name}-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (record / "RECORD").write_text(
        f"{name}.py,,{len(content) if size is None else size}\n{name}-1.0.dist-info/RECORD,,\n"
    )
    return record


class Calls(list):
    """Stands for ``call``: notes the commands and answers with prepared exit codes."""

    def __init__(self, **codes: int) -> None:
        self.codes = codes

    def __call__(self, command, extra=None, **options) -> int:
        line = " ".join(str(part) for part in command)
        self.append(line)
        return next((code for word, code in self.codes.items() if word in line), 0)


def test_an_old_python_can_read_the_script_as_far_as_its_sentence():
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))
    code = (
        "import sys; sys.version_info = (3, 8, 1); sys.argv = ['dev.py', 'run']; import runpy;"
        f" runpy.run_path({str(SCRIPT)!r})"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 1
    assert re.fullmatch(
        r"robgui needs Python 3\.11 or newer; \S+ is Python 3\.8\.\n", answer.stderr
    )


def test_an_unknown_command_shows_the_commands():
    answer = subprocess.run(
        [sys.executable, str(SCRIPT), "fly"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert "dev.py run" in answer.stderr


def test_every_package_that_dev_installs_is_pinned():
    lines = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.match(r"[\w.-]+==[\w.+]+(; python_version .*)?$", line) for line in pins)
    pinned = {re.split("==", line)[0].lower().replace("_", "-") for line in pins}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = [
        *project["dependencies"],
        *(one for extra in project["optional-dependencies"].values() for one in extra),
    ]
    names = {re.match(r"[\w.-]+", one)[0].lower().replace("_", "-") for one in stated} - {"robgui"}
    assert names <= pinned


def test_torch_is_installed_first_and_alone(environment, venv, monkeypatch):
    calls = Calls()
    monkeypatch.setattr(environment, "call", calls)
    environment.prepare()
    installs = [line for line in calls if "pip install" in line]
    assert installs[0].endswith(" torch==2.13.0")
    assert installs[-1].endswith("[dev]")
    assert all("--constraint" in line for line in installs)


def test_the_second_start_installs_nothing(environment, venv, monkeypatch):
    calls = Calls()
    monkeypatch.setattr(environment, "call", calls)
    environment.prepare()
    calls.clear()
    environment.prepare()
    assert calls == []


@pytest.mark.parametrize(
    "what", ["constraints", "dependencies", "entry points", "interpreter", "packages"]
)
def test_a_change_of_what_matters_installs_again(environment, venv, what):
    environment.write_stamp()
    assert environment.is_current()
    if what == "constraints":
        environment.CONSTRAINTS.write_text("torch==2.14.0\n")
    elif what == "dependencies":
        project = environment.ROOT / "pyproject.toml"
        project.write_text(
            project.read_text(encoding="utf-8").replace("pydantic>=2.7", "pydantic>=2.8"),
            encoding="utf-8",
        )
    elif what == "entry points":
        project = environment.ROOT / "pyproject.toml"
        found = 'semantic = "robgui.analyses.semantic.method:METHOD"\n'
        text = project.read_text(encoding="utf-8")
        assert found in text
        project.write_text(text.replace(found, ""), encoding="utf-8")
    elif what == "interpreter":
        (environment.VENV / "pyvenv.cfg").write_text("version = 3.12.1")
    else:
        (venv / "another").mkdir()
    assert not environment.is_current()


def test_a_change_of_the_linter_settings_installs_nothing(environment, venv):
    environment.write_stamp()
    project = environment.ROOT / "pyproject.toml"
    project.write_text(
        project.read_text(encoding="utf-8").replace("line-length = 140", "line-length = 100"),
        encoding="utf-8",
    )
    assert environment.is_current()


def test_a_failed_installation_is_one_sentence_and_is_repeated(environment, venv, monkeypatch):
    environment.write_stamp()
    monkeypatch.setattr(environment, "call", Calls(torch=1))
    with pytest.raises(environment.Problem, match=r"could not install torch==2\.13\.0"):
        environment.prepare(again=True)
    assert not environment.is_current()


def test_an_interrupted_installation_is_repeated(environment, venv, monkeypatch):
    def interrupt(command, *rest, **options):
        if "pip" in command:
            raise KeyboardInterrupt
        return 0

    monkeypatch.setattr(environment, "call", interrupt)
    with pytest.raises(KeyboardInterrupt):
        environment.prepare()
    assert not environment.is_current()
    calls = Calls()
    monkeypatch.setattr(environment, "call", calls)
    environment.prepare()
    assert any(line.endswith("torch==2.13.0") for line in calls)


def test_a_half_installed_package_is_forgotten_and_a_whole_one_kept(environment, venv):
    whole, short = _package(venv, "whole"), _package(venv, "short", size=999)
    gone, unrecorded = _package(venv, "gone"), _package(venv, "unrecorded")
    (venv / "gone.py").unlink()
    (unrecorded / "RECORD").unlink()
    (venv / "~hole").mkdir()
    environment.forget_broken_packages()
    assert [record.exists() for record in (whole, short, gone, unrecorded)] == [
        True,
        False,
        False,
        False,
    ]
    assert not (venv / "~hole").exists()


def test_a_file_that_python_compiled_anew_is_no_damage(environment, venv):
    record = _package(venv, "whole")
    with (record / "RECORD").open("a") as file:
        file.write("__pycache__/whole.cpython-311.pyc,,999\n")
    assert environment.is_complete(record)


def test_an_environment_from_another_folder_is_made_anew(environment, venv, monkeypatch):
    environment.write_stamp()
    environment.STAMP.write_text(
        environment.STAMP.read_text().replace(str(environment.ROOT), "/elsewhere")
    )
    calls = Calls()
    monkeypatch.setattr(environment, "call", calls)
    environment.prepare()
    assert any("-m venv --clear" in line for line in calls)


def test_a_link_to_the_environment_of_another_folder_is_never_emptied(
    environment, tmp_path, monkeypatch
):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "kept").touch()
    link = tmp_path / "link"
    link.symlink_to(theirs)
    monkeypatch.setattr(environment, "VENV", link)
    with pytest.raises(environment.Problem, match="is a link; remove it"):
        environment.make_environment()
    assert (theirs / "kept").exists()


def test_two_starts_at_once_do_not_install_at_once(environment):
    with environment.only_one() as first, environment.LOCK.open("a") as second:
        assert not environment.try_lock(second)
        assert not first.closed
    with environment.LOCK.open("a") as third:
        assert environment.try_lock(third)


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are passed on POSIX only")
def test_a_running_pip_keeps_the_lock_when_the_start_is_killed(environment):
    with environment.only_one() as lock:
        child = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock.fileno(),)
        )
    with environment.LOCK.open("a") as other:
        assert not environment.try_lock(other)
        child.communicate(b"\n")
        assert environment.try_lock(other)


class TestSystemPackages:
    @pytest.fixture(autouse=True)
    def _debian(self, environment, venv, monkeypatch):
        self.calls = Calls()
        monkeypatch.setattr(environment, "call", self.calls)
        monkeypatch.setattr(environment, "is_debian", lambda: True)
        monkeypatch.setattr(environment, "is_root", lambda: True)

    def test_root_on_debian_installs_them_after_an_update(self, environment):
        assert environment.install_system_packages(["xvfb"], "Why.") == []
        assert [line.split()[4] for line in self.calls] == ["update", "install"]

    def test_others_are_told_the_exact_command(self, environment, monkeypatch, capsys):
        monkeypatch.setattr(environment, "is_root", lambda: False)
        assert environment.install_system_packages(["libegl1", "libxcb-cursor0"], "Why.") == [
            "libegl1",
            "libxcb-cursor0",
        ]
        assert "sudo apt-get install libegl1 libxcb-cursor0" in capsys.readouterr().err
        assert self.calls == []

    def test_a_failure_is_a_warning_and_is_not_tried_at_every_start(self, environment, capsys):
        self.calls.codes = {" install ": 100}
        assert environment.install_system_packages(["xvfb"], "Why.") == ["xvfb"]
        assert "Warning" in capsys.readouterr().err
        self.calls.clear()
        assert environment.install_system_packages(["xvfb"], "Why.") == ["xvfb"]
        assert self.calls == []


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("ID=debian\n", True),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', True),
        ("ID=fedora\n", False),
        ("", False),
    ],
)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux files")
def test_debian_and_its_descendants_are_told_from_others(
    environment, monkeypatch, tmp_path, text, answer
):
    (tmp_path / "os-release").write_text(text)
    monkeypatch.setattr(environment, "OS_RELEASE", tmp_path / "os-release")
    monkeypatch.setattr(environment.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert environment.is_debian() is answer


def _checks(*, qt=(), x11=(), display="OK"):
    return [
        {
            "name": "qt libraries",
            "state": "FAIL" if qt else "OK",
            "sentence": "Qt cannot start.",
            "packages": qt,
        },
        {
            "name": "x11 libraries",
            "state": "FAIL" if x11 else "OK",
            "sentence": "",
            "packages": x11,
        },
        {"name": "display", "state": display, "sentence": "There is no display.", "packages": ()},
    ]


def test_libraries_for_x11_are_no_matter_without_a_display(environment, monkeypatch, capsys):
    monkeypatch.setattr(environment, "is_root", lambda: False)
    monkeypatch.setattr(
        environment, "window_checks", lambda: _checks(x11=("libxcb-cursor0",), display="WARN")
    )
    assert environment.check_window() == "There is no display."
    assert capsys.readouterr().err == ""


def test_without_the_libraries_that_qt_always_needs_nothing_is_started(environment, monkeypatch):
    monkeypatch.setattr(environment, "is_root", lambda: False)
    monkeypatch.setattr(environment, "window_checks", lambda: _checks(qt=("libegl1",)))
    with pytest.raises(environment.Problem, match="Qt cannot start"):
        environment.check_window()


def test_without_the_libraries_for_x11_there_is_no_window(environment, monkeypatch, capsys):
    monkeypatch.setattr(environment, "is_root", lambda: False)
    monkeypatch.setattr(environment, "window_checks", lambda: _checks(x11=("libxcb-cursor0",)))
    assert environment.check_window() == "Qt cannot open a window without these packages."
    assert "libxcb-cursor0" in capsys.readouterr().err


def test_run_shows_the_tour_where_there_is_no_display(dev, monkeypatch, capsys):
    started = Calls()
    monkeypatch.setattr(dev, "become", started)
    monkeypatch.setattr(dev, "check_window", lambda: "There is no display.")
    assert dev.run([]) == 0
    assert started[0].endswith("-m robgui tour robgui-demo")
    assert "There is no display." in capsys.readouterr().out


def test_run_hands_its_arguments_on(dev, monkeypatch):
    started = Calls()
    monkeypatch.setattr(dev, "become", started)
    dev.run(["inspect", "x.onnx"])
    assert started[0].endswith("-m robgui inspect x.onnx")


def test_every_stage_runs_even_when_the_first_fails(dev, monkeypatch, capsys):
    calls = Calls(ruff=1)
    monkeypatch.setattr(dev, "call", calls)
    monkeypatch.setattr(
        dev,
        "x11_stages",
        lambda *_: [("pytest in X11", 0.0, "skipped (missing: xvfb)")],
    )
    assert dev.test([]) == 1
    parts = ("ruff check", "ruff format --check", "mypy", "importlinter", "pytest -n")
    assert [part for part, line in zip(parts, calls, strict=True) if part in line] == list(parts)
    summary = capsys.readouterr().out.partition("== Summary")[2]
    assert re.findall(r"ok|FAILED|skipped", summary) == [
        "FAILED",
        "FAILED",
        "ok",
        "ok",
        "ok",
        "skipped",
    ]


class TestTriedAgain:
    """Tests that failed are tried once more, alone, and are never hidden."""

    @pytest.fixture
    def outcome(self, dev, monkeypatch, tmp_path, capsys):
        monkeypatch.setattr(dev, "FAILED", tmp_path / "lastfailed")
        monkeypatch.setattr(dev, "x11_stages", lambda *_: [("pytest in X11", 0.0, "ok")])

        def of(failed: list[str], second: int, first: int = 1, arguments: tuple[str, ...] = ()):
            calls = Calls(**{"pytest -n": first, "::test_": second})

            def call(command, extra=None, **options):
                code = calls(command, extra, **options)
                if "-n" in command:
                    text = json.dumps(dict.fromkeys(failed, True))
                    (tmp_path / "lastfailed").write_text(text)
                return code

            monkeypatch.setattr(dev, "call", call)
            code = dev.test(arguments)
            return code, [line for line in calls if "::" in line], capsys.readouterr().out

        return of

    def test_one_that_passes_alone_is_named_in_the_summary(self, outcome):
        code, again, said = outcome(["tests/test_a.py::test_b"], 0)
        assert code == 0
        assert [line.split("pytest ")[1] for line in again] == ["tests/test_a.py::test_b"]
        assert "ok, but 1 only when alone: tests/test_a.py::test_b" in said

    def test_one_that_fails_again_fails_the_run(self, outcome):
        code, again, said = outcome(["tests/test_a.py::test_b"], 1)
        assert code == 1
        assert len(again) == 1
        assert said.count("FAILED") == 2

    @pytest.mark.parametrize("many", [0, 6])
    def test_none_that_is_named_or_many_are_not_tried_again(self, outcome, many):
        code, again, _ = outcome([f"tests/test_a.py::test_{index}" for index in range(many)], 0)
        assert code == 1
        assert again == []

    @pytest.mark.parametrize(("first", "arguments"), [(2, ()), (3, ()), (1, ("-x",))])
    def test_a_run_that_did_not_go_through_all_tests_stays_failed(self, outcome, first, arguments):
        code, again, _ = outcome(["tests/test_a.py::test_b"], 0, first, arguments)
        assert code == 1
        assert again == []


def test_all_asks_for_the_slow_tests_too(dev, monkeypatch):
    calls = Calls()
    monkeypatch.setattr(dev, "call", calls)
    monkeypatch.setattr(dev, "x11_stages", lambda pytest, arguments: list(arguments))
    assert dev.test(["--all"]) == 0
    (line,) = [line for line in calls if "-m pytest" in line]
    assert f"-m {dev.WITH_SLOW} -n" in line and "--all" not in line
    assert "slow" not in dev.WITH_SLOW


def test_of_a_named_method_only_its_tests_run(dev, monkeypatch):
    calls = Calls()
    monkeypatch.setattr(dev, "call", calls)
    monkeypatch.setattr(dev, "ROOT", ROOT)
    assert dev.test(["semantic", "--all", "-x"]) == 0
    (line,) = calls
    assert line.endswith(
        " -x tests/analyses/semantic tests/gui/panels/semantic"
        " tests/reproduce/test_semantic_claims.py"
    )
    assert f"-m {dev.WITH_SLOW} -n" in line


def test_every_method_has_tests_of_its_own(dev):
    chosen = sys.modules["chosen_tests"]
    methods = chosen.method_names(ROOT)
    assert {"zonnscan", "semantic", "feature_game", "deepinspect", "last_particle"} <= set(methods)
    for method in methods:
        assert f"tests/analyses/{method}" in chosen.tests_of(ROOT, [method])


def test_a_story_that_cannot_run_is_skipped_in_words(dev, monkeypatch):
    monkeypatch.setattr(dev.sys, "platform", "linux")
    monkeypatch.setattr(dev.shutil, "which", lambda name: None)
    monkeypatch.setattr(dev, "missing_libraries", list)
    monkeypatch.setattr(dev, "install_system_packages", lambda packages, why: packages)
    assert [outcome for _, _, outcome in dev.x11_stages([], [])] == [
        "skipped (missing: xvfb xdotool)"
    ]


@pytest.mark.skipif(not shutil.which("Xvfb"), reason="needs Xvfb")
def test_two_virtual_displays_have_different_numbers(dev):
    with dev.virtual_display() as one, dev.virtual_display() as two:
        assert one != two
        assert re.fullmatch(r":\d+", one)


def test_a_foreign_python_path_does_not_leak_in(environment, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    assert "PYTHONPATH" not in environment.clean_environment()


def test_processes_of_the_tests_find_the_program_compiled(dev, monkeypatch):
    given = []
    monkeypatch.setattr(
        dev, "call", lambda command, extra=None: given.append((command, extra)) or 0
    )
    monkeypatch.setattr(dev, "ROOT", ROOT)
    dev.test(["zonnscan"])
    [(command, extra)] = given
    assert "pytest" in command
    assert extra["PYTHONDONTWRITEBYTECODE"] == "", "as good as unset for Python"


def test_ci_runs_the_test_command_of_the_readme_and_nothing_else():
    command = "python3 packaging/dev.py test"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines == [
        "#!/usr/bin/env bash",
        "set -euo pipefail",
        'cd "$(dirname "$0")/.."',
        f"exec {command}",
    ]
