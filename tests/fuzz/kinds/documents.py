"""Workspaces, suites, side files and files of settings: read as the window and the command line
read them.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import torch

from robgui import resources
from tests.core.loading.makers import save_exported, table_net
from tests.fuzz.kinds.kind import Kind, longest_main, place
from tests.fuzz.kinds.models import import_loaders, load_and_ask
from tests.fuzz.spoiling.database import database
from tests.fuzz.spoiling.documents import json_bytes, toml_bytes

#: One workspace in every N becomes a report, because that takes seconds.
REPORTED = 150
_SUITE = """workspace = "runs.robgui"
device = "cpu"
fail_on = ["zonnscan.crossing.max > 0.999"]

[[models]]
path = "model.pt2"
datasets = ["*.csv"]
[models.settings]
labels = ["a", "b", "c"]

[[datasets]]
path = "data.csv"
index = "0:2"

[[analyses]]
name = "zonnscan"
params = { samples = 64, radii = "0:0.4:9" }
grid = { seed = [0, 1] }
shards = 1
"""
_SIDE = """kind = "table"
shape = [6]
low = [0.0]
high = [1.0]
mean = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
std = [1.0]
labels = ["a", "b", "c"]
features = ["f1", "f2", "f3", "f4", "f5", "f6"]
output = "logits"
scores = ""
lowest_wins = false
"""
_SETTINGS = 'samples = 64\nradii = "0:0.4:9"\nseed = 1\nsampler = "sobol"\n'
_RESULT = """{"request": {"analysis": "zonnscan", "params": {"samples": 64, "radii": [0.0, 0.1]},
"models": [], "seed": 0}, "result": {"a": [1, 2, {"b": null}]}, "verdict": "x"}"""


def make_workspaces(folder: Path) -> None:
    """A workspace with runs, findings, pictures and references, and one of the first edition."""
    import gzip

    from tests.core.workspace import test_hostile

    target = place(folder, "runs", ".robgui")
    shutil.copy(test_hostile.write_base(target.with_name("base.robgui")), target)
    target.with_name("base.robgui").unlink()
    first = Path(test_hostile.__file__).with_name("first_edition.robgui.gz")
    place(folder, "first edition", ".robgui").write_bytes(gzip.decompress(first.read_bytes()))


def read_workspace(path: Path, dice: random.Random) -> None:
    """All that window, command line, report and export read."""
    from tests.core.workspace.test_hostile import look_at_everything

    with tempfile.TemporaryDirectory() as folder:
        look_at_everything(path, Path(folder), report=dice.randrange(REPORTED) == 0)


def import_workspaces() -> None:
    """What reading a workspace and writing its report import late."""
    import tests.core.workspace.test_hostile  # noqa: F401

    torch.set_num_threads(1)


def make_suites(folder: Path) -> None:
    """A suite with a small model and a small table; the demo's."""
    suite = place(folder, "small", ".toml")
    suite.write_text(_SUITE, encoding="utf-8")
    save_exported(table_net(), suite.with_name("model.pt2"), torch.rand(2, 6))
    rows = "".join(f"{i},0.5,0.1,0.2,0.3,0.4,{'abc'[i % 3]}\n" for i in range(6))
    suite.with_name("data.csv").write_text("a,b,c,d,e,f,label\n" + rows, encoding="utf-8")
    shutil.copy(resources.path("demo", "suite.toml"), place(folder, "demo", ".toml"))


def plan_suite(path: Path, dice: random.Random) -> None:
    """What ``robgui batch --dry-run`` does."""
    from robgui.batch.gates import Gate
    from robgui.batch.plan import expand
    from robgui.batch.suite import read_suite

    suite = read_suite(path)
    for gate in suite.fail_on:
        Gate.parse(gate)
    expand(suite, "cpu")


def make_sides(folder: Path) -> None:
    """A side file beside a small model."""
    side = place(folder, "side", ".pt2.toml")
    side.write_text(_SIDE, encoding="utf-8")
    save_exported(table_net(), side.with_name("main.pt2"), torch.rand(2, 6))


def load_beside(path: Path, dice: random.Random) -> None:
    """Loads the model that the side file belongs to."""
    load_and_ask(path.with_suffix(""), dice)


def make_settings(folder: Path) -> None:
    """What ``--params`` reads: TOML, and the result of a run."""
    place(folder, "toml", ".toml").write_text(_SETTINGS, encoding="utf-8")
    place(folder, "result", ".json").write_text(_RESULT, encoding="utf-8")


def read_settings(path: Path, dice: random.Random) -> None:
    """The settings, validated as the command line does."""
    from robgui.cli.files import settings_in
    from robgui.core.execution.registry import find

    known = find("zonnscan")
    known.params.parse(settings_in(str(path), known))


def _any(content: bytes, dice: random.Random, seed: str) -> bytes:
    return json_bytes(content, dice) if content[:1] == b"{" else toml_bytes(content, dice)


def _spoil_workspace(content: bytes, dice: random.Random, seed: str) -> bytes:
    with suppress(OverflowError):
        return database(content, dice)
    return content


def kinds() -> list[Kind]:
    """Every kind of document."""
    return [
        Kind("workspace", 60, make_workspaces, _spoil_workspace, read_workspace, import_workspaces),
        Kind("suite", 20, make_suites, _any, plan_suite, import_loaders),
        Kind("side", 20, make_sides, _any, load_beside, import_loaders, longest_main),
        Kind("settings", 10, make_settings, _any, read_settings, import_loaders),
    ]
