#!/usr/bin/env python3
"""The project's commands, for a machine with nothing but Python 3.11 and pip.

    python3 packaging/dev.py run [arguments]
        the window; without a display a tour that writes pictures
    python3 packaging/dev.py test [--all] [arguments]
        ruff, mypy, import-linter, pytest; with --all the slow tests too; a few tests that fail are
        tried once more, one at a time, and named if they pass then
    python3 packaging/dev.py test METHOD [METHOD ...] [--all] [arguments]
        the tests of a method alone, such as zonnscan: engine, words, views, panel, claims
    python3 packaging/dev.py setup
        checks and repairs .venv
    python3 packaging/dev.py lint [--fix]
        the checks of test without pytest
    python3 packaging/dev.py bench [words]
        every benchmark in tests/bench, or those whose names hold a word
    python3 packaging/dev.py fuzz [--files N] [--seed S] [--kind KIND]
        opens hostile files as the program does; those that end badly are kept in dist/fuzz
    python3 packaging/dev.py coverage [arguments]
        which lines of robgui the tests run, in the terminal and as pages in dist/coverage; worker
        processes are not counted
    python3 packaging/dev.py api
        pages about every public name, made from the docstrings, in dist/api
    python3 packaging/dev.py package [what]
        wheel, app (with its own Python) and installer into dist/, with a list of what is in them
    python3 packaging/dev.py pin [others]
        writes the hashes of packaging/constraints.txt for this system, or for other ones, into
        packaging/hashes

Everything is installed into .venv with the versions of packaging/constraints.txt.
"""

# No "from __future__ import annotations" and nothing newer than Python 3.6 in this file's syntax:
# an old Python must come as far as its clear sentence.
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the reason stands above
    sys.exit(
        f"robgui needs Python 3.11 or newer; {sys.executable} is Python"
        f" {sys.version_info[0]}.{sys.version_info[1]}."
    )

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import api_pages
import bundles
import chosen_tests
import pins
from display import virtual_display
from environment import (
    PYTHON,
    ROOT,
    TRIED,
    Problem,
    become,
    call,
    check_window,
    has_display,
    install_system_packages,
    missing_libraries,
    prepare,
)

FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
MOST_TRIED_AGAIN = 5
#: pyproject.toml leaves these out, and the slow ones.
WITH_SLOW = "not x11 and not ray and not look"
#: No screen, and bytecode whatever the shell says, from the first import on.
_FOR_TESTS = {"QT_QPA_PLATFORM": "offscreen", "PYTHONDONTWRITEBYTECODE": ""}
#: What a stage says when pytest has gone through all tests and some of them failed.
_TESTS_FAILED = "FAILED (exit code 1)"

# ---------------------------------------------------------------- commands


def run(arguments: Sequence[str]) -> int:
    """Opens the window; without a display or arguments it runs the tour instead."""
    prepare()
    no_display = check_window()
    if no_display and not arguments:
        print(
            f"{no_display} Running the demo tour without a window instead: pictures and a report go"
            f" to {Path('robgui-demo').resolve()}."
        )
        return become(
            [PYTHON, "-P", "-m", "robgui", "tour", "robgui-demo"], {"QT_QPA_PLATFORM": "offscreen"}
        )
    return become([PYTHON, "-P", "-m", "robgui", *arguments])


def test(arguments: Sequence[str]) -> int:
    """Runs every check, even after a failure, and times each; of named methods only their tests."""
    os.chdir(ROOT)
    prepare()
    check_window()
    pytest: list[str | Path] = [PYTHON, "-m", "pytest"]
    known = chosen_tests.method_names(ROOT)
    methods = [word for word in arguments if word in known]
    rest = [word for word in arguments if word not in (*methods, "--all")]
    chosen = ["-m", WITH_SLOW] if "--all" in arguments else []
    if methods:
        paths = chosen_tests.tests_of(ROOT, methods)
        command = [*pytest, *chosen, *workers(), *rest, *paths]
        return conclude([stage("pytest", command, _FOR_TESTS)])
    summary = [*lint_stages(fix=False)]
    summary += pytest_stages("pytest", [*pytest, *chosen], [*workers(), *rest], _FOR_TESTS)
    summary += x11_stages([*pytest, "-m", "x11"], rest)
    return conclude(summary)


def setup(arguments: Sequence[str]) -> int:
    """Checks everything again, whatever the stamp says, and repairs what is broken."""
    refuse_arguments("setup", arguments)
    TRIED.unlink(missing_ok=True)
    prepare(again=True)
    check_window()
    print(f"Ready: {PYTHON}")
    return 0


def lint(arguments: Sequence[str]) -> int:
    """Runs ruff, mypy and import-linter; ``--fix`` lets ruff correct what it can."""
    if list(arguments) not in ([], ["--fix"]):
        raise Problem(f"lint takes --fix or nothing, not: {' '.join(arguments)}.")
    os.chdir(ROOT)
    prepare()
    return conclude(list(lint_stages(fix=bool(arguments))))


def bench(arguments: Sequence[str]) -> int:
    """Runs every benchmark whose name contains one of the arguments, or all."""
    os.chdir(ROOT)
    prepare()
    scripts = sorted((ROOT / "tests" / "bench").glob("bench_*.py"))
    chosen = [
        script
        for script in scripts
        if not arguments or any(word in script.name for word in arguments)
    ]
    if not chosen:
        raise Problem(
            f"No benchmark in tests/bench matches: {' '.join(arguments) or 'bench_*.py'}."
        )
    platform = {} if has_display() else {"QT_QPA_PLATFORM": "offscreen"}
    return conclude([stage(script.stem, [PYTHON, str(script)], platform) for script in chosen])


def fuzz(arguments: Sequence[str]) -> int:
    """Opens hostile files as the program does, and counts how each ended."""
    os.chdir(ROOT)
    prepare()
    return call([PYTHON, "-P", "-m", "tests.fuzz", *arguments], {"PYTHONPATH": str(ROOT)})


def coverage(arguments: Sequence[str]) -> int:
    """Runs pytest and counts which lines of robgui it reaches."""
    os.chdir(ROOT)
    prepare()
    shown = ["--cov=robgui", "--cov-report=term:skip-covered", "--cov-report=html:dist/coverage"]
    offscreen = {
        "QT_QPA_PLATFORM": "offscreen",
        "COVERAGE_FILE": str(ROOT / "dist" / "coverage.db"),
    }
    (ROOT / "dist").mkdir(exist_ok=True)
    return call([PYTHON, "-m", "pytest", *workers(), *shown, *arguments], offscreen)


def api(arguments: Sequence[str]) -> int:
    """Writes a page about every module with public names."""
    refuse_arguments("api", arguments)
    written = api_pages.write(ROOT / "robgui", ROOT / "dist" / "api")
    print(f"{written} pages in {ROOT / 'dist' / 'api'}, the first one is index.md.")
    return 0


def package(arguments: Sequence[str]) -> int:
    """Builds wheel and source archive, the application, and the installer of this system."""
    os.chdir(ROOT)
    prepare()
    bundles.make(arguments)
    return 0


COMMANDS = {
    "run": run,
    "test": test,
    "setup": setup,
    "lint": lint,
    "bench": bench,
    "fuzz": fuzz,
    "coverage": coverage,
    "api": api,
    "package": package,
    "pin": pins.pin,
}


def main(argv: Sequence[str]) -> int:
    """Dispatches to a command; a problem is one sentence and exit code 1."""
    if not argv or argv[0] not in COMMANDS:
        print(__doc__, file=sys.stderr)
        return 0 if argv and argv[0] in ("-h", "--help") else 2
    try:
        return COMMANDS[argv[0]](argv[1:])
    except Problem as problem:
        print(f"\n{problem}", file=sys.stderr)
    except OSError as error:
        print(
            f"\n{error.filename or 'A file'}: {error.strerror or error}; correct this and start"
            " again.",
            file=sys.stderr,
        )
    except KeyboardInterrupt:
        print("\nInterrupted; the same command goes on where it stopped.", file=sys.stderr)
        return 130
    return 1


def refuse_arguments(command: str, arguments: Sequence[str]) -> None:
    """Says that ``command`` takes no arguments when it got some."""
    if arguments:
        raise Problem(f"{command} takes no arguments, but got: {' '.join(arguments)}.")


# ---------------------------------------------------------------- stages of a test


def lint_stages(*, fix: bool) -> Iterator[tuple[str, float, str]]:
    """Runs ruff, mypy and import-linter one after the other."""
    check, layout = (["--fix"], []) if fix else ([], ["--check"])
    yield stage("ruff check", [PYTHON, "-m", "ruff", "check", *check, "."])
    yield stage("ruff format", [PYTHON, "-m", "ruff", "format", *layout, "."])
    yield stage("mypy", [PYTHON, "-m", "mypy"])
    yield stage(
        "import-linter",
        [PYTHON, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
    )


def stage(
    title: str,
    command: Sequence[str | Path],
    environment: dict[str, str] | None = None,
    fine: Sequence[int] = (0,),
) -> tuple[str, float, str]:
    """Runs one command under a heading.

    Returns its title, its seconds and ``ok`` or what went wrong.
    """
    print(f"\n== {title}", flush=True)
    start = time.monotonic()
    code = call(command, environment)
    return title, time.monotonic() - start, "ok" if code in fine else f"FAILED (exit code {code})"


def pytest_stages(
    title: str,
    pytest: Sequence[str | Path],
    arguments: Sequence[str],
    environment: dict[str, str],
    fine: Sequence[int] = (0,),
) -> list[tuple[str, float, str]]:
    """The test stage, and a second try of the few tests that failed, one at a time.

    Tests of real windows and processes depend on what else the machine does. If all pass the second
    time, the summary names them. If one fails again, if more failed than chance explains, or if the
    run did not reach all of them, the first outcome stands.
    """
    FAILED.unlink(missing_ok=True)
    first = stage(title, [*pytest, *arguments], environment, fine)
    whole = not any(one.startswith(("-x", "--exitfirst", "--maxfail")) for one in arguments)
    failed = failed_tests() if first[2] == _TESTS_FAILED and whole else []
    if not 0 < len(failed) <= MOST_TRIED_AGAIN:
        return [first]
    second = stage(f"{title} again", [*pytest, *failed], environment)
    if second[2] != "ok":
        return [first, second]
    named = f"ok, but {len(failed)} only when alone: {', '.join(failed)}"
    return [(title, first[1], named), second]


def workers() -> list[str]:
    """How many tests run at once: one more than there are cores.

    Tests of windows and processes wait a third of their time.
    """
    return ["-n", str(min(4, os.cpu_count() or 1) + 1), "--dist", "worksteal"]


def failed_tests() -> list[str]:
    """The tests that failed in the last run, as pytest noted them."""
    with contextlib.suppress(OSError, ValueError):
        return sorted(json.loads(FAILED.read_text(encoding="utf-8")))
    return []


def x11_stages(
    pytest: Sequence[str | Path], arguments: Sequence[str]
) -> list[tuple[str, float, str]]:
    """Runs the stories that need a real X11 window, in an Xvfb of its own."""
    title = "pytest in X11"
    if not sys.platform.startswith("linux"):
        return [(title, 0.0, "skipped (only on Linux)")]
    needed = [
        package
        for program, package in (("Xvfb", "xvfb"), ("xdotool", "xdotool"))
        if not shutil.which(program)
    ]
    missing = install_system_packages(
        [*needed, *missing_libraries()], "The stories in a real X11 window need them."
    )
    if missing:
        return [(title, 0.0, f"skipped (missing: {' '.join(missing)})")]
    with virtual_display() as display:
        environment = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "WAYLAND_DISPLAY": ""}
        fine = (0, 5) if arguments else (0,)  # what was asked for may hold none of them
        return pytest_stages(title, pytest, arguments, environment, fine)


def conclude(summary: Sequence[tuple[str, float, str]]) -> int:
    """Prints one line per stage; returns 1 if any failed."""
    print("\n== Summary")
    for title, seconds, outcome in summary:
        print(f"{title:<16} {seconds:7.1f} s   {outcome}")
    return int(any(outcome.startswith("FAILED") for _, _, outcome in summary))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
