"""``python -m tests.fuzz``: see ``packaging/dev.py fuzz --help``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.kinds import every_kind
from tests.fuzz.kinds.kind import Kind
from tests.fuzz.rounds import HEAD, ROOT, Tally, fuzz

FAULTS = ROOT / "dist" / "fuzz"


def main(words: list[str]) -> int:
    """Runs a round; 1 when any file ended in a fault."""
    kinds = every_kind(1)
    given = _parser(sorted(kinds)).parse_args(words)
    kinds = every_kind(given.files)
    chosen = [kinds[name] for name in given.kind or kinds]
    tallies = []
    with tempfile.TemporaryDirectory(prefix="robgui-fuzz-") as kept:
        folder = given.honest or Path(kept)
        print(HEAD, flush=True)
        for kind in chosen:
            count = _share(kind, chosen, given.files)
            seeds = _honest(kind, folder)
            numbers = range(given.first, given.first + count)
            tallies.append(fuzz(kind, seeds, given.seed, numbers, given.faults))
            print(tallies[-1], flush=True)
    print(_closing(tallies, given.faults))
    return int(not all(tally.is_clean for tally in tallies))


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dev.py fuzz", description="Opens hostile files as the program does, and counts."
    )
    parser.add_argument("--files", type=int, default=400, metavar="N", help="how many in all")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="another round")
    parser.add_argument("--first", type=int, default=0, help="number of the first file of a kind")
    parser.add_argument("--kind", action="append", choices=names, help="only this; may be repeated")
    parser.add_argument(
        "--faults", type=Path, default=FAULTS, help="where files that end badly are kept"
    )
    parser.add_argument("--honest", type=Path, help="keeps the honest files, for the next round")
    return parser


def _share(kind: Kind, chosen: list[Kind], files: int) -> int:
    whole = sum(each.share for each in chosen)
    return max(1, round(files * kind.share / whole))


def _honest(kind: Kind, folder: Path) -> Path:
    """The folder of honest files of a kind; made when it is not there."""
    own = folder / kind.name
    if not own.is_dir():
        own.mkdir(parents=True)
        kind.make(own)
    return own


def _closing(tallies: list[Tally], faults: Path) -> str:
    found = [path for tally in tallies for path in tally.faults]
    files = sum(sum(tally.ends.values()) for tally in tallies)
    if not found:
        return f"{files:,} files: every one was refused by a sentence or loaded."
    return f"{files:,} files, {len(found):,} of them ended badly; they are in {faults}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
