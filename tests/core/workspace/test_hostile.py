"""A workspace may come from anyone: whatever is wrong with it is one sentence, and its report
and export stay harmless.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from torch import nn

from robgui.core.dataset import from_arrays
from robgui.core.dataset.derived import Ancestor, Derived
from robgui.core.errors import RobguiError, WorkspaceError
from robgui.core.execution.request import build_request
from robgui.core.finding import Finding
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import Workspace, database
from robgui.report.html import write_html
from robgui.report.pictures import DrawnRun, Figures
from tests.inline import steps

#: Values of every type, in place of what a cell should hold.
ODD_NUMBERS = (None, -1, 0, 2**62, 1e300, -1e300)
ODD = (
    *ODD_NUMBERS,
    "",
    "x",
    "nan",
    "{}",
    "[]",
    "null",
    "NaN",
    "[" * 5000,
    '{"a":' * 3000,
    b"",
    b"\xff\xfe",
    "../../x",
    "<b>",
)
#: The same inside a document.
ODD_TAGS = ({"$array": "a0"}, {"$type": "X", "fields": {}}, {"$tuple": 3}, {"$float": "nan"})
ODD_JSON = (None, -1, 2**70, 1e308, "", "x", [], {}, [[]], True, *ODD_TAGS)
QUICK = {
    "zonnscan": {"samples": 16, "radii": (0.0, 0.1)},
    "zonnscan_populations": {"samples": 16},
    "deepinspect": {},
}


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return write_base(tmp_path_factory.mktemp("base") / "base.robgui")


def write_base(path: Path) -> Path:
    """A real workspace: three analyses, a failed run, findings with pictures, a derived input,
    references.
    """
    net = nn.Sequential(nn.Flatten(), nn.Linear(16, 6), nn.ReLU(), nn.Linear(6, 3))
    classifier = Classifier.from_module(net, (1, 4, 4), tuple("abc"), name="net")
    classifier.path = Path("/models/net.pt2")
    images = np.random.default_rng(0).random((12, 1, 4, 4), np.float32)
    data = from_arrays(images, labels=np.arange(12) % 3, name="images")
    with Workspace.open(path) as workspace:
        for name, params in QUICK.items():
            indices = [1] if name == "zonnscan" else None
            list(
                steps(
                    build_request(name, [classifier], data, params, indices=indices),
                    workspace,
                    [classifier],
                    data,
                )
            )
        first = workspace.runs()[0]
        picture = np.full((4, 4, 3), 9, np.uint8)
        workspace.add_findings(
            first.id,
            [
                Finding("trap", "bad", 0.9, {"radius": 0.5}, picture, images[0]),
                Finding("trap", "mild", 0.1),
            ],
        )
        workspace.add_derived(
            [
                Derived(
                    "made",
                    images[0],
                    "image",
                    "images",
                    (Ancestor("images, 3", dataset="d", index=3),),
                )
            ]
        )
        workspace.files.set_in_use(first.request.models[0], first.request.dataset)
        failed = workspace.add_run(first.request)
        workspace.update_run(failed.id, error="The model net is no longer at /models/net.pt2.")
    return path


class OnlyChanged(Figures):
    """Draws results that differ from those of the base only: drawing the same ones hundreds of
    times takes minutes.
    """

    def __init__(self, workspace: Workspace, base: Path | None) -> None:
        super().__init__(workspace)
        self._same = stored(base) & stored(workspace.path) if base is not None else set()

    def drawn(self, chapter, dark, most):
        if chapter.run.id in {name for name, *_ in self._same}:
            return DrawnRun()
        return super().drawn(chapter, dark, most)


def stored(path: Path) -> set[tuple]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        rows = connection.execute("SELECT run, document, blob FROM results").fetchall()
    return {((name or b"").decode("utf-8", "replace"), *rest) for name, *rest in rows}


def look_at_everything(
    path: Path, folder: Path, base: Path | None = None, *, report: bool = True
) -> None:
    """All that the window and the command line read."""
    with Workspace.open(path, create=False) as workspace:
        runs = workspace.runs()
        for listed in workspace.findings():
            workspace.finding(listed.id)
        for kind in ("model", "dataset"):
            workspace.files.references(kind)
        workspace.files.last_used()
        workspace.files.in_use()
        workspace.derived()
        for run in runs:
            try:
                workspace.result(run.id)
            except RobguiError:
                continue
        if report:
            write_html(workspace, folder / "report.html", OnlyChanged(workspace, base))
        workspace.export(folder / "export")


def changed(base: Path, target: Path, *statements: tuple[str, tuple]) -> Path:
    shutil.copy(base, target)
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for sql, values in statements:
            connection.execute(sql, values)
        connection.commit()
    return target


def refused(path: Path, folder: Path) -> str:
    with pytest.raises(WorkspaceError) as caught:
        look_at_everything(path, folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_base_itself_is_sound(base, tmp_path):
    look_at_everything(shutil.copy(base, tmp_path / "w.robgui"), tmp_path)
    assert len(list((tmp_path / "export" / "runs").glob("*.json"))) == 4


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("id", "../../victim/package"),
        ("request", '{"analysis": "../../victim/package"}'),
        ("request", '{"analysis": "zonnscan", "models": 3}'),
        ("request", '{"analysis": "zonnscan", "params": NaN}'),
        ("request", '{"params":' * 20_000),
        ("request", b"\x00"),
        ("state", "exploded"),
        ("created", 1e300),
        ("created", "yesterday"),
        ("seconds", -1.0),
        ("done", "x"),
        ("verdict", b"x"),
        ("versions", "[1]"),
        ("versions", '{"torch": [1]}'),
    ],
)
def test_a_value_of_a_run_that_cannot_be_is_one_sentence(base, tmp_path, column, value):
    path = changed(
        base, tmp_path / "w.robgui", (f"UPDATE runs SET {column} = ? WHERE rowid = 1", (value,))
    )
    assert "w.robgui" in refused(path, tmp_path)


def test_an_analysis_cannot_name_a_file_outside_the_folder_of_an_export(base, tmp_path):
    victim = tmp_path / "victim" / "package-1.json"
    victim.parent.mkdir()
    victim.write_text("mine")
    request = json.dumps({"analysis": "../../../victim/package"})
    path = changed(
        base,
        tmp_path / "w.robgui",
        ("UPDATE runs SET request = ?, id = '1' WHERE rowid = 1", (request,)),
    )
    (tmp_path / "out").mkdir()
    refused(path, tmp_path / "out")
    assert victim.read_text() == "mine"
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER evil AFTER UPDATE ON runs BEGIN DELETE FROM findings; END",
        "CREATE TABLE other (x)",
        "CREATE INDEX odd ON runs (upper(verdict))",
        "ALTER TABLE runs ADD COLUMN odd TEXT",
    ],
)
def test_tables_views_and_triggers_that_are_not_ours_are_refused_before_they_run(
    base, tmp_path, schema
):
    assert "not those of robgui" in refused(
        changed(base, tmp_path / "w.robgui", (schema, ())), tmp_path
    )


def test_an_endless_view_in_place_of_a_table_does_not_hang(base, tmp_path):
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, '{}' AS"
        " request, 'done' AS state FROM n"
    )
    path = changed(
        base, tmp_path / "w.robgui", ("DROP TABLE runs", ()), (f"CREATE VIEW runs AS {endless}", ())
    )
    began = time.monotonic()
    assert "not those of robgui" in refused(path, tmp_path)
    assert time.monotonic() - began < 5


def test_a_query_that_does_not_end_is_interrupted(base, tmp_path, monkeypatch):
    monkeypatch.setattr(database, "LONGEST_SECONDS", 0.3)
    with Workspace.open(shutil.copy(base, tmp_path / "w.robgui")) as workspace:
        began = time.monotonic()
        with pytest.raises(WorkspaceError, match="takes far too long"):
            workspace.database.rows(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*)"
                " FROM n"
            )
        assert time.monotonic() - began < 5
        assert len(workspace.runs()) == 4, "the workspace goes on"


def test_the_schema_of_a_file_is_not_trusted(base, tmp_path):
    with Workspace.open(shutil.copy(base, tmp_path / "w.robgui")) as workspace:
        assert workspace.database.rows("PRAGMA trusted_schema") == [(0,)]


def mutated(base: Path, target: Path, dice: random.Random) -> None:
    """The base with one thing wrong: a cell, a part of a document, or some bytes of the file."""
    shutil.copy(base, target)
    kind = dice.choice(("cell", "cell", "document", "document", "document", "bytes"))
    if kind == "bytes":
        content = bytearray(target.read_bytes())
        for _ in range(dice.randint(1, 20)):
            content[dice.randrange(len(content))] = dice.randrange(256)
        target.write_bytes(content)
        return
    tables = {
        "runs": 11,
        "results": 3,
        "findings": 8,
        "pictures": 2,
        "refs": 4,
        "inputs": 3,
        "settings": 2,
    }
    table = dice.choice(list(tables))
    with closing(sqlite3.connect(target)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        documents = [
            name
            for name in columns
            if name in ("request", "document", "detail", "body", "value", "versions")
        ]
        column = dice.choice(documents if kind == "document" and documents else columns)
        rows = [row[0] for row in connection.execute(f"SELECT rowid FROM {table}")]
        row = dice.choice(rows)
        (value,) = connection.execute(
            f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)
        ).fetchone()
        if kind == "document" and documents:
            value = json.dumps(bent(json.loads(value), dice))
        else:
            value = dice.choice(ODD)
        try:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
            connection.commit()
        except sqlite3.Error:  # SQLite itself refuses it, so it cannot be in a file
            connection.rollback()


def bent(document, dice: random.Random):
    """The document with one of its parts replaced, removed or doubled."""
    places: list[tuple[object, object]] = []

    def walk(node):
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    if not isinstance(document, dict | list) or not document:
        return dice.choice(ODD_JSON)
    walk(document)
    node, key = dice.choice(places)
    match dice.randrange(4):
        case 0 if isinstance(node, dict):
            del node[key]
        case 1 if isinstance(node, dict):
            node[f"{key}x"] = node.pop(key)
        case 2 if isinstance(node, list):
            node.append(node[key])
        case _:
            node[key] = dice.choice(ODD_JSON)
    return document


@pytest.mark.parametrize(
    "start", [0, 50, *(pytest.param(more, marks=pytest.mark.slow) for more in (100, 150))]
)
def test_hundreds_of_mutated_workspaces_raise_nothing_but_sentences(base, tmp_path, start):
    outcomes = {"refused": 0, "read": 0}
    for seed in range(start, start + 50):
        path, folder = tmp_path / f"{seed}.robgui", tmp_path / str(seed)
        folder.mkdir()
        mutated(base, path, random.Random(seed))
        said = ""
        try:
            look_at_everything(path, folder, base, report=seed % 25 == 0)  # a report takes seconds
            outcomes["read"] += 1
        except RobguiError as error:
            outcomes["refused"] += 1
            said = str(error)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
        assert "\n" not in said, seed
        shutil.rmtree(folder)
    assert min(outcomes.values()) > 0, outcomes
