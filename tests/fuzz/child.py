"""The process that opens hostile files, one after the other, and says how each ended.

It prints one JSON line before and one after each file; a file without the second has ended the
process.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path

from tests.fuzz.files import dice_of, hostile
from tests.fuzz.kinds.kind import Kind
from tests.fuzz.outcome import End, Outcome, of_error, tame

#: Bytes that may be allocated for a file beyond what the libraries take.
MEMORY = 2 * 2**30


def open_files(kind: Kind, seeds: Path, seed: int, numbers: range) -> None:
    """Opens the files with these numbers."""
    warnings.simplefilter("ignore")
    kind.prepare()
    with tempfile.TemporaryDirectory(prefix="robgui-fuzz-") as folder:
        for number in numbers:
            path = hostile(kind, seeds, seed, number, Path(folder) / str(number))
            _say({"begins": number})
            with _Limits():
                outcome = _open(kind, path, seed, number)
            if resident() > MEMORY + _RESIDENT:
                outcome = Outcome(End.MEMORY, f"{resident() / 1e9:.1f} GB: {outcome.words}", 0)
            _say(
                {
                    "number": number,
                    "end": outcome.end,
                    "words": tame(outcome.words),
                    "seconds": round(outcome.seconds, 2),
                }
            )
            shutil.rmtree(path.parent, ignore_errors=True)


class _Limits:
    """Two gigabytes of addresses more than there are, and back again."""

    def __enter__(self) -> None:
        global _RESIDENT
        _RESIDENT = resident(now=True)
        with open("/proc/self/clear_refs", "w") as file:  # noqa: PTH123
            file.write("5")
        addresses = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (addresses + MEMORY, resource.RLIM_INFINITY))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


_RESIDENT = 0


def resident(*, now: bool = False) -> int:
    """Bytes of memory in use, the most since the file began or ``now``."""
    name = "VmRSS:" if now else "VmHWM:"
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0


def _open(kind: Kind, path: Path, seed: int, number: int) -> Outcome:
    began = time.process_time()
    try:
        kind.open(path, dice_of(f"{kind.name}/open", seed, number))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 (what it was is the result)
        return of_error(error, time.process_time() - began)
    return Outcome(End.LOADED, "", time.process_time() - began)


def _say(record: dict[str, object]) -> None:
    os.write(_OUT, (json.dumps(record) + "\n").encode())


_OUT = 1


def main(arguments: list[str]) -> None:
    """``KIND SEEDS SEED FIRST END``."""
    from tests.fuzz.kinds import every_kind

    global _OUT
    _OUT = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a library may print what it likes
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    name, seeds, *numbers = arguments
    seed, first, end = map(int, numbers)
    open_files(every_kind(1)[name], Path(seeds), seed, range(first, end))


if __name__ == "__main__":
    main(sys.argv[1:])
