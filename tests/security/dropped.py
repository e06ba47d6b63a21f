"""The hostile files that are dropped onto the window: the attacks of the review, pickles that leave
a mark, and spoiled files of every kind.
"""

from __future__ import annotations

import itertools
import os
import pickle
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from tests.core.loading.makers import Evil
from tests.fuzz.files import hostile
from tests.fuzz.kinds import every_kind
from tests.security.points import attacks

#: What belongs to another file and is not dropped itself.
_BESIDE = (".toml", ".py", ".json", ".bin", ".txt", ".mtl")
#: What a payload leaves.
MARK = "mark"


def hostile_files(
    folder: Path, count: int, seed: int, kinds: Sequence[str] = (), honest: Path | None = None
) -> list[Path]:
    """``count`` hostile files, more where the attacks alone are more, each in a folder of its own
    below ``folder``; the spoiled ones are of these kinds, or of every one.
    """
    folder.mkdir(parents=True)
    found = [*_attacks(folder), *_pickles(folder / "pickles")]
    spoiled = _spoiled(folder, honest or folder / "honest", seed, kinds or tuple(every_kind(8)))
    return found + list(itertools.islice(spoiled, max(len(kinds) or 16, count - len(found))))


def marks(folder: Path) -> list[Path]:
    """What payloads have left."""
    return sorted(folder.rglob(f"{MARK}*"))


def _attacks(folder: Path) -> Iterator[Path]:
    for number, attack in enumerate(attacks()):
        if attack.make.__name__ == "nothing":  # its file is made by the attack itself
            continue
        own = folder / f"point-{attack.point}-{number}"
        own.mkdir(parents=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            attack.make(own)
        yield from (
            path
            for path in sorted([*own.iterdir(), *own.glob("home/*")])
            if not path.is_dir() and path.suffix not in _BESIDE and path.name != MARK
        )


def _pickles(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    torch.save({"state": Evil(folder / MARK)}, folder / "evil.pth")
    yield folder / "evil.pth"
    for name in ("evil.pkl", "evil.joblib", "evil.pt"):
        (folder / name).write_bytes(pickle.dumps(Evil(folder / MARK)))
        yield folder / name
    (folder / "nobody.npy").symlink_to("/dev/zero")
    yield folder / "nobody.npy"
    os.mkfifo(folder / "waits.csv")
    yield folder / "waits.csv"


def _spoiled(folder: Path, home: Path, seed: int, names: Sequence[str]) -> Iterator[Path]:
    """One file of every kind, then a second one of each, and so on."""
    kinds = every_kind(8)
    for number in itertools.count():
        for name in names:
            honest = home / name
            if not honest.is_dir():
                honest.mkdir(parents=True)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    kinds[name].make(honest)
            path = hostile(kinds[name], honest, seed, number, folder / f"{name}-{seed}-{number}")
            yield path.with_suffix("") if name == "side" else path
