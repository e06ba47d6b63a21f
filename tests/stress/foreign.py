"""Models that loop, crash, eat memory, sleep and print, at every place where a model is called, in
the real window under a real X server and on the command line: what a person sees.

``python -m tests.stress.foreign`` walks the whole table, in about ten minutes, and prints it. It
starts an X server of its own (Xvfb) unless ``DISPLAY`` names one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.core.execution.worker import foreign
from tests.core.execution.worker.foreign import MISCHIEFS
from tests.stress.seen import HEAD, Seen

PLACES = ("loading", "preview", "run")


def main() -> int:
    """Prints the table; the exit code says whether every row is as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--where", choices=("window", "command"), action="append")
    parser.add_argument("--when", choices=PLACES, action="append")
    parser.add_argument("--model", choices=list(MISCHIEFS), action="append")
    given = parser.parse_args()
    wanted = (given.when or PLACES, given.model or tuple(MISCHIEFS))
    print(HEAD, flush=True)
    rows: list[Seen] = []
    with tempfile.TemporaryDirectory(prefix="robgui-stress-") as place:
        for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            os.environ[variable] = str(Path(place) / variable.lower())
        folder = foreign.write_files(Path(place))
        for where in given.where or ("window", "command"):
            rows += in_window(folder, *wanted) if where == "window" else at_command(folder, *wanted)
    bad = [row for row in rows if not fine(row)]
    print(f"{len(rows)} rows, {len(bad)} not as they must be; load {os.getloadavg()[0]:.1f}")
    return int(bool(bad))


def fine(row: Seen) -> bool:
    """Stopped in time, said in words, nothing lost, and everything goes on."""
    in_time = row.stopped is None or row.stopped < 3
    return in_time and bool(row.said) and row.kept is not False and row.again


def in_window(folder: Path, places: tuple[str, ...], models: tuple[str, ...]) -> Iterator[Seen]:
    """The rows of the window, one after another in the same one."""
    with display() as name:
        os.environ.update(DISPLAY=name, QT_QPA_PLATFORM="xcb")
        from tests.stress.foreign_window import Person

        person = Person(folder)
        calls = {
            "loading": person.at_loading,
            "preview": person.in_preview,
            "run": person.in_run,
        }
        yield from _walked({place: calls[place] for place in places}, models)
        print(f"the window closed in {person.leave():.2f} s", flush=True)


def at_command(folder: Path, places: tuple[str, ...], models: tuple[str, ...]) -> Iterator[Seen]:
    """The rows of the command line."""
    from tests.stress import foreign_command as command

    calls = {
        "loading": partial(command.at_loading, folder),
        "preview": partial(command.in_preview, folder),
        "run": partial(command.in_run, folder),
    }
    yield from _walked({place: calls[place] for place in places}, models)


def _walked(calls: dict, models: tuple[str, ...]) -> Iterator[Seen]:
    for call in calls.values():
        for model in models:
            row = call(model)
            print(row.line, flush=True)
            yield row


@contextlib.contextmanager
def display() -> Iterator[str]:
    """The X server that there is, or one that is started on a free number and ended afterwards."""
    if named := os.environ.get("DISPLAY"):
        yield named
        return
    reading, writing = os.pipe()
    words = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
    server = subprocess.Popen(words, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as pipe:
            yield f":{pipe.readline().strip()}"
    finally:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(5)


if __name__ == "__main__":
    began = time.monotonic()
    code = main()
    print(f"{time.monotonic() - began:.0f} s")
    raise SystemExit(code)
