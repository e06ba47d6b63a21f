"""``robgui completion``: a script that lets a shell complete commands, analyses and options.

Everything in it comes from the parsers of the commands, so it knows what they know.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from robgui.cli import COMMANDS, Parser, gui_parser
from robgui.core.execution.params.text import choices
from robgui.core.execution.registry import analyses

#: Metavars of values that are files or folders.
_FILES = ("FILE", "PATH", "FOLDER")
_NAME = "robgui"


@dataclass(frozen=True)
class Option:
    """One option of a command.

    Attributes:
        name: With its dashes.
        help: What it does, one line.
        values: The words it takes; empty for any.
        files: It takes a file or a folder.
        alone: It takes no value.
    """

    name: str
    help: str
    values: tuple[str, ...] = ()
    files: bool = False
    alone: bool = False


@dataclass(frozen=True)
class Command:
    """What may follow ``robgui``: one word, or ``run`` and the name of an analysis."""

    words: tuple[str, ...]
    options: tuple[Option, ...]
    arguments: tuple[str, ...] = ()


def completion(words: list[str]) -> int:
    """Prints the script for a shell."""
    shell = parser().parse_args(words).shell
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    print("\n".join(write(list(commands()))))
    return 0


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="robgui completion",
        description="Prints a script that lets a shell complete the commands of robgui.",
        epilog=(
            "bash: robgui completion bash > ~/.local/share/bash-completion/completions/robgui;"
            " zsh: robgui completion zsh > a folder of $fpath, as _robgui;"
            " fish: robgui completion fish > ~/.config/fish/completions/robgui.fish"
        ),
        allow_abbrev=False,
    )
    made.add_argument("shell", choices=("bash", "zsh", "fish"))
    return made


def commands() -> Iterator[Command]:
    """Every command with what its own parser takes."""
    from robgui.cli import batch, inspect, listing, reproduce, run, tour
    from robgui.cli.evidence import guard, log, pair, postmortem, report, verify, vnnlib
    from robgui.doctor import examination
    from robgui.selftest import command as selftest

    plain = {
        "batch": batch.parser(),
        "guard": guard.guard_parser(),
        "check": guard.check_parser(),
        "list": listing.parser(),
        "inspect": inspect.parser(),
        "reproduce": reproduce.parser(),
        "doctor": examination.parser(),
        "selftest": selftest.parser(),
        "gui": gui_parser(),
        "tour": tour.parser(),
        "report": report.parser(),
        "postmortem": postmortem.parser(),
        "verify": verify.parser(),
        "vnnlib": vnnlib.parser(),
        "pair": pair.parser(),
        "log": log.parser(),
        "completion": parser(),
    }
    for name, found in plain.items():
        yield Command((name,), tuple(_options(found)), _arguments(found))
    names = tuple(name.replace("_", "-") for name in analyses())
    yield Command(("run",), (), names)
    for name, known in zip(names, analyses().values(), strict=True):
        words = {
            f"--{field.replace('_', '-')}": choices(info)
            for field, info in known.params.model_fields.items()
        }
        yield Command(("run", name), tuple(_options(run.parser(known), words)))


def _options(
    found: argparse.ArgumentParser, words: dict[str, tuple[str, ...]] | None = None
) -> Iterator[Option]:
    for action in found._actions:
        if action.help == argparse.SUPPRESS:
            continue
        for name in action.option_strings:
            # Short forms complete to nothing longer.
            if not name.startswith("--"):
                continue
            values = tuple(map(str, action.choices or (words or {}).get(name, ())))
            files = str(action.metavar) in _FILES
            yield Option(name, _line(action.help or ""), values, files, action.nargs == 0)


def _arguments(found: argparse.ArgumentParser) -> tuple[str, ...]:
    """The words allowed without an option."""
    positional = [action for action in found._actions if not action.option_strings]
    return tuple(str(word) for action in positional for word in action.choices or ())


def _line(text: str) -> str:
    """Help as one short line without characters special to a shell."""
    plain = re.sub(r"[^\w ,.:;()+*/<>=×–-]", "", text.replace("%%", "%").replace("\n", " "))
    return plain.partition(". ")[0][:90].strip()


def _bash(found: Sequence[Command]) -> Iterator[str]:
    yield f"# Completion of {_NAME} in bash."
    yield f"_{_NAME}() {{"
    yield '    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield '    local command="${COMP_WORDS[1]}" words="" files=""'
    yield '    [[ $command == run && $COMP_CWORD -gt 2 ]] && command="run ${COMP_WORDS[2]}"'
    yield "    if [[ $COMP_CWORD -eq 1 ]]; then"
    yield f'        words="{" ".join(COMMANDS)}" files=yes'
    yield "    else"
    yield '        case "$command" in'
    for command in found:
        names = " ".join([*command.arguments, *(option.name for option in command.options)])
        yield f'            "{" ".join(command.words)}") words="{names}" ;;'
    yield "        esac"
    yield '        [[ $current != -* && $command != "run" ]] && files=yes'
    yield '        case "$command $before" in'
    for command in found:
        yield from (f"            {line}" for line in _bash_values(command))
    yield "        esac"
    yield "    fi"
    yield '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")'
    # mapfile, since the usual array assignment would split file names at blanks.
    yield '    [[ -n $files ]] && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \\'
    yield '        < <(compgen -f -- "$current")'
    yield "}"
    yield f"complete -o filenames -F _{_NAME} {_NAME}"


def _bash_values(command: Command) -> Iterator[str]:
    """What may follow each option that takes a value."""
    where = " ".join(command.words)
    for option in command.options:
        if option.alone:
            continue
        files = "yes" if option.files else ""
        words = " ".join(option.values)
        yield f'"{where} {option.name}") words="{words}" files="{files}" ;;'


def _zsh(found: Sequence[Command]) -> Iterator[str]:
    yield f"#compdef {_NAME}"
    yield f"# Completion of {_NAME} in zsh."
    yield "local -a options"
    yield 'local command="$words[2]"'
    yield '[[ $command == run && $CURRENT -gt 3 ]] && command="run $words[3]"'
    yield "if (( CURRENT == 2 )); then"
    yield "    options=("
    for name, text in COMMANDS.items():
        yield f"        {shlex.quote(f'{name}:{_line(text)}')}"
    yield "    )"
    yield "    _describe command options"
    yield "    _files"
    yield "    return"
    yield "fi"
    yield 'case "$command $words[CURRENT-1]" in'
    for command in found:
        for option in command.options:
            if not option.alone:
                if option.files:
                    wanted = "_files"
                else:
                    wanted = f"compadd -- {' '.join(option.values)}"
                place = shlex.quote(" ".join([*command.words, option.name]))
                yield f"    {place}) {wanted}; return ;;"
    yield "esac"
    yield 'case "$command" in'
    for command in found:
        shown = [*command.arguments, *(f"{each.name}:{each.help}" for each in command.options)]
        listed = " ".join(shlex.quote(word) for word in shown)
        yield f"    {shlex.quote(' '.join(command.words))}) options=({listed}) ;;"
    yield "esac"
    yield "_describe option options"
    yield '[[ $command != run && "$words[CURRENT]" != -* ]] && _files'


def _fish(found: Sequence[Command]) -> Iterator[str]:
    yield f"# Completion of {_NAME} in fish."
    for name, text in COMMANDS.items():
        yield (
            f"complete -c {_NAME} -n __fish_use_subcommand -a {name} -d {shlex.quote(_line(text))}"
        )
    for command in found:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words)
        start = f"complete -c {_NAME} -n {shlex.quote(seen)}"
        # -f: no files until the analysis is named.
        if command.words == ("run",):
            start = f"{start} -f"
        for word in command.arguments:
            yield f"{start} -a {word}"
        for option in command.options:
            takes = "" if option.alone else " -r"
            if option.values:
                words = f" -f -a {shlex.quote(' '.join(option.values))}"
            else:
                words = ""
            files = " -F" if option.files else ""
            told = shlex.quote(option.help)
            yield f"{start} -l {option.name[2:]}{takes}{files}{words} -d {told}"
