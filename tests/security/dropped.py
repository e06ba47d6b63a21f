"""The hostile files that are dropped onto the window: the attacks of the review, pickles that leave
a mark, and spoiled files of every kind.
"""

from __future__ import annotations

import itertools
import json
import os
import pickle
import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import torch

from robgui import resources
from robgui.core.workspace import Workspace
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
    """``count`` hostile files, each in a folder of its own below ``folder``; the spoiled ones are
    of these kinds, or of every one.

    There are more where the attacks and one spoiled file of each kind are more, unless ``kinds``
    are named: then the attacks are left out until there are ``count``.
    """
    folder.mkdir(parents=True)
    names = kinds or tuple(every_kind(8))
    found = [*_pickles(folder / "pickles"), *_workspaces(folder / "workspaces"), *_attacks(folder)]
    if kinds:
        found = found[:: -(-len(found) // max(1, count - len(names)))]
    spoiled = _spoiled(folder, honest or folder / "honest", seed, names)
    return found + list(itertools.islice(spoiled, max(len(names), count - len(found))))


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


def _workspaces(folder: Path) -> Iterator[Path]:
    """Workspaces that bring their trust, never end, leave their folder, or hold what cannot be."""
    folder.mkdir()
    body = {
        "kind": "model",
        "name": "net",
        "path": str(resources.path("demo", "fashion_cnn.safetensors")),
        "fingerprint": "0" * 16,
        "trust": True,
        "options": {
            "architecture": f"os:system('touch {folder / MARK}')",
            "shape": [1, 28, 28],
        },
    }
    run = (
        "INSERT INTO runs (id, request, state, created, seconds, done, total, error, verdict,"
        " device, versions) VALUES ('r', ?, 'done', ?, 1, 1, 1, '', '', '', '{}')"
    )
    empty = {"models": [], "dataset": None, "indices": None, "params": {}, "device": ""}
    endless = (
        "CREATE VIEW findings AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT i AS id FROM n"
    )
    statements: dict[str, list[tuple[str, tuple[object, ...]]]] = {
        "trust": [("INSERT INTO refs VALUES (?, 'model', ?, 1e10)", ("0" * 16, json.dumps(body)))],
        "outside": [(run, (json.dumps({**empty, "analysis": "../../victim/package"}), 1.0))],
        "no time": [(run, (json.dumps({**empty, "analysis": "zonnscan"}), "yesterday"))],
        "endless": [("DROP TABLE findings", ()), (endless, ())],
    }
    used = {"models": ["0" * 16], "model": "0" * 16, "dataset": None}
    for name, changes in statements.items():
        path = folder / f"{name}.robgui"
        with Workspace.open(path) as made:
            for setting in ("last_used", "in_use", "used"):
                made.values.set(setting, used)
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("PRAGMA foreign_keys = OFF")
            for statement, values in changes:
                database.execute(statement, values)
        yield path


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
            yield _dropped(name, path)


def _dropped(kind: str, path: Path) -> Path:
    """What a person would drop: the model of a side file, the folder of a description."""
    if kind == "folder":
        return path.parent
    return path.with_suffix("") if kind == "side" else path
