"""What the fuzzing knows of one kind of file."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def shortest_main(folder: Path, dice: random.Random) -> Path:
    """The file called ``main``; not the material or the texture beside it."""
    found = [path for path in folder.iterdir() if path.name.startswith("main")]
    return min(found, key=lambda path: (path.suffix in (".mtl", ".png"), len(path.name)))


def longest_main(folder: Path, dice: random.Random) -> Path:
    """The side file, since it is called after its model."""
    found = [path for path in folder.iterdir() if path.name.startswith("main")]
    return max(found, key=lambda path: len(path.name))


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of file: honest ones, how they are spoiled, and how the program opens them.

    Attributes:
        name: As on the command line.
        share: Of a round of all kinds, in files per thousand.
        make: Writes honest files into folders of their own below the given one; the file that is
            spoiled is called ``main`` with its ending, all others stay as they are.
        spoil: From the honest content of ``main`` to a hostile one.
        open: Opens ``main`` as the program does and uses it once.
        prepare: Imports what opening needs, so that no file pays for it.
        main: Which of the files in a folder is spoiled.
    """

    name: str
    share: int
    make: Callable[[Path], None]
    spoil: Callable[[bytes, random.Random, str], bytes]
    open: Callable[[Path, random.Random], None]
    prepare: Callable[[], None]
    main: Callable[[Path, random.Random], Path] = shortest_main


def place(folder: Path, name: str, suffix: str) -> Path:
    """The ``main`` of a new honest file called ``name``."""
    own = folder / name.replace(" ", "_").replace("/", "_")
    own.mkdir(parents=True, exist_ok=True)
    return own / f"main{suffix}"
