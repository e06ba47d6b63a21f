"""A shell completes what the parsers take, and robgui starts no torch for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from robgui.cli import COMMANDS, main
from robgui.cli.completion import commands
from robgui.core.execution.registry import analyses

ROOT = Path(__file__).parents[2]


def script(capsys, shell: str) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def completed(text: str, *words: str, folder: Path = ROOT) -> list[str]:
    """What a real bash offers for the last of ``words``."""
    listed = " ".join(f"'{word}'" for word in ("robgui", *words))
    ask = f"COMP_WORDS=({listed}); COMP_CWORD={len(words)}; _robgui"
    program = f"{text}\n{ask}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, check=True, cwd=folder
    )
    assert not done.stderr
    return done.stdout.split()


def test_bash_completes_commands_files_analyses_options_and_their_words(capsys, tmp_path):
    text = script(capsys, "bash")
    (tmp_path / "model.onnx").touch()
    assert completed(text, "re", folder=tmp_path) == ["reproduce", "report"]
    assert completed(text, "mod", folder=tmp_path) == ["model.onnx"]
    names = [name.replace("_", "-") for name in analyses()]
    assert completed(text, "run", "zonnscan") == [
        name for name in names if name.startswith("zonnscan")
    ]
    assert "--radii" in completed(text, "run", "zonnscan", "--ra")
    presets = analyses()["zonnscan"].params.presets
    assert set(presets) <= set(completed(text, "run", "zonnscan", "--preset", ""))
    assert completed(text, "run", "zonnscan", "--model", "mo", folder=tmp_path) == ["model.onnx"]
    assert completed(text, "inspect", "mo", folder=tmp_path) == ["model.onnx"]
    assert completed(text, "completion", "f", folder=tmp_path) == ["fish"]


def test_every_command_and_every_setting_of_every_analysis_is_in_it():
    found = {command.words: command for command in commands()}
    assert {words[0] for words in found} == set(COMMANDS)
    for name, known in analyses().items():
        options = {option.name for option in found["run", name.replace("_", "-")].options}
        assert {f"--{field.replace('_', '-')}" for field in known.params.model_fields} <= options


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_the_same_words(capsys, shell):
    text = script(capsys, shell)
    for words in (*COMMANDS, "deepinspect-coverage", "radii"):
        assert words in text
    if shutil.which(shell):
        subprocess.run([shell, "-n", "-c", text], check=True)


def test_completion_imports_neither_torch_nor_qt():
    code = (
        "import sys; from robgui.cli import main; main(['completion', 'bash']);"
        " print([name for name in ('torch', 'PySide6', 'matplotlib', 'cv2') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_unknown_shell_is_one_sentence(capsys):
    assert main(["completion", "cmd"]) == 2
    assert "bash" in capsys.readouterr().err


def test_a_file_without_a_command_opens_the_window_and_a_wrong_word_is_named(
    capsys, tmp_path, monkeypatch
):
    import robgui.gui.app.app as app

    opened: list[list[str]] = []
    monkeypatch.setattr(app, "main", lambda files: opened.append(list(files)) or 0)
    monkeypatch.setattr("robgui.doctor.window_problem", lambda environment: "")
    (tmp_path / "model.onnx").touch()
    (tmp_path / "data.npz").touch()
    files = [str(tmp_path / "model.onnx"), str(tmp_path / "data.npz")]
    assert main(files) == 0 and opened == [files]
    assert main([str(tmp_path / "modle.onnx")]) == 2
    assert "There is no file or command" in capsys.readouterr().err
    assert main(["rum"]) == 2
    assert "run" in capsys.readouterr().err
