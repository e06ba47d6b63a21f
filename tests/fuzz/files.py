"""Hostile files by number: the same seed, kind and number make the same file."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from tests.fuzz.kinds.kind import Kind


def hostile(kind: Kind, seeds: Path, seed: int, number: int, target: Path) -> Path:
    """Writes one hostile file with what belongs beside it into ``target``; gives its path."""
    dice = dice_of(kind.name, seed, number)
    honest = sorted(path for path in seeds.iterdir() if path.is_dir())
    chosen = honest[number % len(honest)]
    shutil.copytree(chosen, target)
    main = kind.main(target, dice)
    main.write_bytes(kind.spoil(main.read_bytes(), dice, chosen.name))
    return main


def dice_of(kind: str, seed: int, number: int) -> random.Random:
    """The dice of one file."""
    return random.Random(f"{kind}/{seed}/{number}")
