"""What the fuzzing knows of one kind of file."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


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
    """

    name: str
    share: int
    make: Callable[[Path], None]
    spoil: Callable[[bytes, random.Random, str], bytes]
    open: Callable[[Path, random.Random], None]
    prepare: Callable[[], None]


def place(folder: Path, name: str, suffix: str) -> Path:
    """The ``main`` of a new honest file called ``name``."""
    own = folder / name.replace(" ", "_").replace("/", "_")
    own.mkdir(parents=True, exist_ok=True)
    return own / f"main{suffix}"
