"""The command line: one sub-command per task; without any, the window."""

from __future__ import annotations

import argparse
import errno
import importlib
import logging
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NoReturn

from robgui import __version__
from robgui.cli.places import check_places
from robgui.cli.printing import plain_warnings, print_line, speak_any_encoding
from robgui.cli.signals import ending_like_ctrl_c
from robgui.core.errors import (
    DataError,
    IncompleteModelError,
    ParamsError,
    Remedy,
    RobguiError,
    TrustError,
)

#: Exit codes. A gate that fails is told from a mistake, and a mistake of the user (2, as argparse
#: has it) from one of the program.
GATE_FAILED = 1
# 128 + SIGINT, as shells report it.
INTERRUPTED = 130
BAD_INPUT = 2
BUG = 3
#: Option allowed anywhere: errors are shown with their traceback.
DEBUG = "--debug"

#: The word with which a frozen application calls itself as a worker.
FROZEN = "--robgui-worker"

COMMANDS = {
    "run": "run an analysis and write its result as JSON",
    "batch": "run a suite: models × datasets × analyses × settings from one file",
    "guard": "starred findings become tests: their inputs, a pytest file and a suite for check",
    "check": "ask a model about such a suite: which findings are fixed, still there or new",
    "list": "the analyses, the question each answers, and their settings",
    "inspect": "what a model file holds and how it behaves",
    "reproduce": "run the claims of the papers and say which hold",
    "doctor": "what is installed and what is broken",
    "selftest": "every analysis on a device beside the processor: one page of proof",
    "gui": "open the window, with files if any are given",
    "tour": "the demo without a screen: a picture of every analysis and a report, in a folder",
    "report": "write a workspace as one HTML file, as PDF, or both",
    "postmortem": "what is behind a finding, in one paragraph with its pictures",
    "verify": "compare a report with the record it carries, and run some of it again",
    "vnnlib": "a finding or a box around an input as a property for other verifiers, and back",
    "pair": "two models as one: where they disagree is then a question for every analysis",
    "log": "runs of a workspace to MLflow or Weights & Biases, where that is installed",
    "completion": "a script that lets bash, zsh or fish complete these commands",
}

#: The module of each command, imported when it is used.
_HOMES = {
    "run": ("robgui.cli.run", "run"),
    "batch": ("robgui.cli.batch", "batch"),
    "guard": ("robgui.cli.evidence.guard", "guard"),
    "check": ("robgui.cli.evidence.guard", "check"),
    "list": ("robgui.cli.listing", "list_analyses"),
    "inspect": ("robgui.cli.inspect", "inspect"),
    "reproduce": ("robgui.cli.reproduce", "reproduce"),
    "doctor": ("robgui.doctor", "main"),
    "selftest": ("robgui.selftest", "main"),
    "tour": ("robgui.cli.tour", "tour"),
    "report": ("robgui.cli.evidence.report", "report"),
    "postmortem": ("robgui.cli.evidence.postmortem", "postmortem"),
    "verify": ("robgui.cli.evidence.verify", "verify"),
    "vnnlib": ("robgui.cli.evidence.vnnlib", "vnnlib"),
    "pair": ("robgui.cli.evidence.pair", "pair"),
    "log": ("robgui.cli.evidence.log", "log"),
    "completion": ("robgui.cli.completion", "completion"),
}
#: Commands that a signal ends like Ctrl-C.
_LONG = ("run", "inspect", "reproduce", "guard", "check", "verify", "vnnlib", "postmortem")

_REMEDIES = {
    Remedy.OPEN_INPUTS: "Name them with --data.",
    Remedy.MORE_INPUTS: "Choose more of them with --index or --select.",
    Remedy.FEWER_INPUTS: "Choose it with --index.",
    Remedy.MORE_MODELS: "Give another one with --model.",
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence instead of a page."""

    def error(self, message: str) -> NoReturn:
        """Raises the message; ``main`` prints it."""
        raise ParamsError(f"{message} (see {self.prog} --help)")

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """As usual, but only the unknown word is named, with the option most like it."""
        given, rest = self.parse_known_args(args, namespace)
        if rest:
            raise ParamsError(self._not_known(rest))
        return given

    def _not_known(self, rest: list[str]) -> str:
        from robgui.core.execution.params.problems import did_you_mean

        advice = f"see {self.prog} --help."
        options = [word.partition("=")[0] for word in rest if word.startswith("-")]
        if options:
            return (
                f"There is no option {options[0]};"
                f" {did_you_mean(options[0], self._option_string_actions, advice)}"
            )
        return f"The word {rest[0]!r} was not expected; {advice}"


def main(argv: Sequence[str] | None = None) -> int:
    """Does what the arguments say and returns the exit code.

    0 done, 1 a gate failed, 2 bad input, 3 a bug of this program, 130 interrupted. Without ``argv``
    it is the whole program and does not return: tearing everything down takes longer than many a
    command.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == [FROZEN]:
        _work(bridge=len(words) > 1)
    code = _command(words)
    if argv is None:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _command(words: list[str]) -> int:
    speak_any_encoding()
    debug = DEBUG in words
    words = [word for word in words if word != DEBUG]
    try:
        with plain_warnings():
            code = dispatch(words)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("robgui: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # The reader of our output has gone, as in "robgui list | head".
        # Or Python's own flush at exit would raise the same again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except RobguiError as error:
        _show(debug)
        print_line(f"robgui: {error}{how_to_help(error)}", sys.stderr)
        return BAD_INPUT
    except Exception as error:  # noqa: BLE001 - the last stop: a sentence, and the rest in a file
        _show(debug)
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            print(
                "robgui: There is no space left where the output goes; free some space and try"
                " again.",
                file=sys.stderr,
            )
            return BAD_INPUT
        from robgui.cli.bugs import bug

        print_line(f"robgui: {bug(error)}", sys.stderr)
        return BUG


def _show(debug: bool) -> None:
    """Prints the traceback of the last error, if asked for."""
    if debug:
        traceback.print_exc()


def how_to_help(error: RobguiError) -> str:
    """How to do on the command line what an error asks for."""
    if error.remedy is not None:
        return f" {_REMEDIES[error.remedy]}"
    if isinstance(error, TrustError):
        return " To say so, add --trust."
    if isinstance(error, DataError) and error.option:
        return f" Say it with {' '.join(f'--data-set {word}' for word in error.option.split())}."
    if isinstance(error, IncompleteModelError):
        return (
            " Say it with --model-set, for example --model-set architecture=nets.py:build"
            " --model-set shape=3,32,32."
        )
    return ""


def _work(*, bridge: bool) -> NoReturn:
    if bridge:
        from robgui.batch.bridge import main as worker
    else:
        from robgui.core.execution.worker.entry import main as worker
    worker()


def dispatch(words: list[str]) -> int:
    """Does what the words ask for; the exit code."""
    if not words:
        return _gui([])
    command, rest = words[0], words[1:]
    # Before the slow imports: a mistyped path is the commonest mistake.
    if command in ("run", "inspect", "check"):
        check_places(rest, first=command == "inspect")
    if command in _HOMES:
        module, name = _HOMES[command]
        carry_out: Callable[[list[str]], int] = getattr(importlib.import_module(module), name)
        with ending_like_ctrl_c() if command in _LONG else nullcontext():
            return carry_out(rest)
    if command == "gui":
        return _gui(rest)
    if not command.startswith("-"):
        return _open(words)
    _overview().parse_args(words)
    return 0


def _open(words: list[str]) -> int:
    """Opens files given without a command in the window."""
    if not Path(words[0]).exists():
        raise ParamsError(_no_command(words[0]))
    return _gui(words)


def _no_command(word: str) -> str:
    from robgui.core.execution.params.problems import did_you_mean

    advice = did_you_mean(word, COMMANDS, f"choose one of: {', '.join(COMMANDS)}.")
    if "." in word or os.sep in word:
        what = "file or command"
    else:
        what = "command"
    return f"There is no {what} {word!r}; {advice}"


def _overview() -> Parser:
    lines = "\n".join(f"  {name:<10} {text}" for name, text in COMMANDS.items())
    parser = Parser(
        prog="robgui",
        description=(
            "Looks at the robustness of neural classifiers. Without a command it opens its window,"
            " with files if any are given: robgui model.onnx"
        ),
        epilog=(
            f"commands:\n{lines}\n\n'robgui COMMAND --help' tells more;"
            f" with {DEBUG} an error is shown with its traceback."
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"robgui {__version__}")
    parser.add_argument("command", choices=list(COMMANDS), metavar="command")
    return parser


def gui_parser() -> Parser:
    """What the command ``gui`` takes."""
    made = Parser(prog="robgui gui", description="Opens the window.", allow_abbrev=False)
    made.add_argument("files", nargs="*", help="models, data or a workspace to open")
    return made


def _gui(words: list[str]) -> int:
    files: list[str] = gui_parser().parse_args(words).files
    from robgui.doctor import window_problem

    if problem := window_problem(os.environ):
        raise RobguiError(f"{problem} Without a screen, 'robgui tour' shows the demo as pictures.")
    from robgui.gui.app.app import main as window

    return window(files)
