"""Words from files are shown by the terminal and never obeyed by it."""

from __future__ import annotations

import io
import json
import logging
import warnings

import pytest
import torch
from torch import nn

from robgui.cli import main
from robgui.cli.printing import plain, plain_warnings, print_json
from robgui.cli.progress import ProgressLine
from robgui.core.execution.step import Step

#: A new window title, a cleared screen, the same with the one-byte form, a turned direction of
#: writing, a forged line.
NAMES = [
    "\x1b]0;owned\x07",
    "\x1b[2Jclear",
    "\x9b2J",
    "a\u202eb",
    "fine\nrobgui: all is well",
    "tab\there",
    "Käse 猫",
]
ORDERS = ("\x1b", "\x07", "\x9b", "\u202e", "\r", "\x7f")


@pytest.fixture
def model(tmp_path):
    """A model whose side file brings hostile class names."""
    path = tmp_path / "m.pt2"
    program = torch.export.export(
        nn.Sequential(nn.Linear(6, len(NAMES))).eval(),
        (torch.rand(2, 6),),
        dynamic_shapes=({0: torch.export.Dim("n")},),
    )
    torch.export.save(program, path)
    (tmp_path / "m.pt2.toml").write_text(f"labels = {json.dumps(NAMES)}\n")
    return path


def assert_tame(text: str) -> None:
    assert not any(order in text for order in ORDERS)


def test_inspect_shows_hostile_class_names_as_text(model, tmp_path, capsys):
    (tmp_path / "data.csv").write_text(
        "a,b,c,d,e,f\n" + "\n".join("0.1,0.2,0.3,0.4,0.5,0.6" for _ in range(4)) + "\n"
    )
    assert (
        main(["inspect", str(model), "--data", str(tmp_path / "data.csv"), "--device", "cpu"]) == 0
    )
    captured = capsys.readouterr()
    assert_tame(captured.out + captured.err)
    assert (
        "\\x1b]0;owned" in captured.out
        and "\\nrobgui: all is well" in captured.out
        and "Käse 猫" in captured.out
    )


def test_the_json_of_inspect_parses_to_the_same_names_and_holds_no_orders(model, capsys):
    assert main(["inspect", str(model), "--json", "--device", "cpu"]) == 0
    text = capsys.readouterr().out
    assert_tame(text)
    assert json.loads(text)["classes"] == NAMES


def test_an_error_about_a_hostile_file_is_one_tame_line(tmp_path, capsys):
    path = tmp_path / "\x1b[2Jm\n.pt"
    path.write_bytes(b"nothing")
    assert main(["inspect", str(path)]) == 2
    text = capsys.readouterr().err
    assert_tame(text)
    assert text.count("\n") == 1


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_shows_hostile_titles_and_sentences_as_text(terminal, monkeypatch):
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    stream = Stream()
    monkeypatch.setenv("TERM", "xterm")
    progress = ProgressLine("\x1b]0;owned\x07", stream)
    progress.show(Step(1, 1, None))
    progress.say("\x9b2J gone\nforged")
    written = stream.getvalue().replace("\r\x1b[K", "")  # what the bar itself draws
    assert_tame(written)
    assert "\\x1b]0;owned\\x07" in written and "\\nforged" in written


def test_a_warning_in_the_words_of_a_model_is_one_tame_line():
    with plain_warnings():
        text = warnings.formatwarning("\x1b[2J\nforged", UserWarning, "model.py", 1)
    assert_tame(text)
    assert text.count("\n") == 1


def test_what_is_logged_about_a_file_is_one_tame_line(capsys):
    with plain_warnings():
        logging.lastResort.handle(
            logging.LogRecord("robgui", 30, "", 0, "%s cannot be read", ("\x1b[2J\nx.json",), None)
        )
    assert capsys.readouterr().err == "\\x1b[2J\\nx.json cannot be read\n"


def test_what_a_worker_says_of_a_hostile_file_is_one_tame_line(tmp_path, capsys):
    name = "\x1b]0;owned\x07\nforged.pt2"
    (tmp_path / name).write_bytes(b"PK\x03\x04 no archive")
    assert main(["inspect", str(tmp_path / name)]) == 2
    written = capsys.readouterr()
    assert_tame(written.out + written.err)
    assert written.err.count("\n") == 1 and "owned" in written.err


def test_plain_text_is_left_alone(capsys):
    assert plain("Käse 猫, 50 % – ok") == "Käse 猫, 50 % – ok"
    print_json({"a": ["Käse", "\x9b", 1.5]})
    assert json.loads(capsys.readouterr().out) == {"a": ["Käse", "\x9b", 1.5]}
