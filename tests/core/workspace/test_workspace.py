from __future__ import annotations

import csv
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from robgui.core import files
from robgui.core.errors import WorkspaceError
from robgui.core.execution.request import Reference, Request
from robgui.core.execution.step import Step
from robgui.core.finding import Finding
from robgui.core.verdict import Status, Verdict
from robgui.core.workspace import RunState, Workspace, database
from robgui.core.workspace.export import write_document
from tests.core.tiny import TinyResult

MODEL = Reference(
    kind="model",
    name="m",
    path="/models/m.pt2",
    fingerprint="0123456789abcdef",
    options={"mean": [0.5]},
)
DATA = Reference(kind="dataset", name="d", path="/data/d.npz", fingerprint="fedcba9876543210")
REQUEST = Request(
    analysis="tiny_confidence",
    models=(MODEL,),
    dataset=DATA,
    indices=(1, 2),
    params={"samples": 4, "radii": (0.0, 0.1)},
)

FINE = Verdict(Status.HOLDS, "Fine.")


def step(done: int = 1, size: int = 2) -> Step[TinyResult]:
    return Step(done, 10, TinyResult(np.arange(size) / 4, np.full(size, done, np.float32), done))


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def read_everything(path: Path) -> None:
    with Workspace.open(path) as workspace:
        for run in workspace.runs():
            workspace.result(run.id)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "a.robgui"


@pytest.fixture
def workspace(path):
    with Workspace.open(path) as opened:
        yield opened


def test_a_run_comes_back_after_reopening(path):
    with Workspace.open(path) as workspace:
        run = workspace.add_run(REQUEST)
        workspace.update_run(
            run.id,
            state=RunState.DONE,
            step=step(7),
            verdict=FINE,
            seconds=1.5,
            device="cpu",
            versions={"torch": "2"},
        )
    with Workspace.open(path, create=False) as workspace:
        (found,) = workspace.runs()
        assert found.request == REQUEST
        assert (found.state, found.done, found.total, found.verdict, found.seconds) == (
            RunState.DONE,
            7,
            10,
            Verdict(Status.HOLDS, "Fine."),
            1.5,
        )
        assert (found.device, found.versions, found.has_result) == ("cpu", {"torch": "2"}, True)
        result = workspace.result(found.id)
        assert isinstance(result, TinyResult)
        np.testing.assert_array_equal(result.confidence, [7, 7])


def test_runs_are_listed_newest_first_and_without_touching_a_blob(path, monkeypatch):
    from robgui.core.workspace import rows as module

    with Workspace.open(path) as workspace:
        ids = [workspace.add_run(REQUEST).id for _ in range(3)]
        workspace.update_run(ids[0], step=step(1, 1000))
        monkeypatch.setattr(module, "decode", lambda *a: pytest.fail("a result was decoded"))
        seen: list[str] = []
        read = workspace.database.rows
        monkeypatch.setattr(
            workspace.database, "rows", lambda sql, *values: seen.append(sql) or read(sql, *values)
        )
        runs = workspace.runs()
        assert [run.id for run in runs] == ids[::-1]
        assert [run.has_result for run in runs] == [False, False, True]
        assert seen and not any("blob" in sql for sql in seen)


def test_a_run_without_a_step_has_no_result(workspace):
    assert workspace.result(workspace.add_run(REQUEST).id) is None


def test_an_unknown_run_is_one_sentence(workspace):
    for call in (
        lambda: workspace.run("nope"),
        lambda: workspace.update_run("nope", error="x"),
        lambda: workspace.finding(9),
    ):
        with pytest.raises(WorkspaceError, match="There is no"):
            call()


def test_deleting_a_run_deletes_its_result_and_findings_and_gives_the_space_back(path):
    with Workspace.open(path) as workspace:
        run = workspace.add_run(REQUEST)
        noise = np.random.default_rng(0).random(500_000)
        workspace.update_run(
            run.id, step=Step(1, 1, TinyResult(noise, noise, 1)), findings=[Finding("k", "t", 0.5)]
        )
    large = path.stat().st_size
    with Workspace.open(path) as workspace:
        workspace.delete_run(run.id)
        assert workspace.runs() == []
        assert workspace.findings() == []
        assert workspace.result(run.id) is None
    assert path.stat().st_size < large / 10


def test_findings_keep_picture_detail_note_and_star(workspace):
    run = workspace.add_run(REQUEST)
    picture, failing = np.full((3, 4, 3), 9, np.uint8), np.linspace(0, 1, 5, dtype=np.float32)
    detail = {"radius": 0.25, "classes": ["a", "b"], "never": float("inf")}
    workspace.add_findings(
        run.id,
        [Finding("trap", "mild", 0.1), Finding("trap", "bad", 0.9, detail, picture, failing)],
    )
    worst, mild = workspace.findings()
    assert (worst.title, mild.title, worst.picture, worst.has_picture, mild.has_picture) == (
        "bad",
        "mild",
        None,
        True,
        False,
    )
    workspace.set_finding(worst.id, note="look", starred=True)
    workspace.set_finding(worst.id, note="look again")
    full = workspace.finding(worst.id)
    np.testing.assert_array_equal(full.picture, picture)
    np.testing.assert_array_equal(full.input, failing)
    assert (full.note, full.starred, full.run_id, full.detail) == (
        "look again",
        True,
        run.id,
        detail,
    )
    assert workspace.findings(run.id) != []
    assert workspace.findings("other") == []


def test_references_of_a_run_are_remembered_and_can_be_relinked(workspace):
    workspace.add_run(REQUEST)
    assert workspace.files.references("model") == [MODEL]
    assert workspace.files.references("dataset") == [DATA]
    workspace.files.relink(MODEL.fingerprint, "/elsewhere/m.pt2")
    (moved,) = workspace.files.references("model")
    assert moved == MODEL.model_copy(update={"path": "/elsewhere/m.pt2"})
    workspace.files.forget(MODEL.fingerprint)
    assert workspace.files.references("model") == []
    with pytest.raises(WorkspaceError):
        workspace.files.relink(MODEL.fingerprint, "/x")


def test_settings_are_json_values_with_a_default(workspace):
    assert workspace.values.get("layout", "none") == "none"
    workspace.values.set("layout", {"docks": ["a", 1, None]})
    assert workspace.values.get("layout") == {"docks": ["a", 1, None]}


def test_runs_broken_off_by_a_crash_are_cancelled_when_reopened_and_queued_ones_stay_queued(path):
    with Workspace.open(path) as workspace:
        for state in (
            RunState.QUEUED,
            RunState.RUNNING,
            RunState.PAUSED,
            RunState.DONE,
            RunState.FAILED,
        ):
            workspace.add_run(REQUEST, state)
    with Workspace.open(path) as workspace:
        states = [run.state for run in workspace.runs()]
        assert states == [
            RunState.FAILED,
            RunState.DONE,
            RunState.CANCELLED,
            RunState.CANCELLED,
            RunState.QUEUED,
        ]
        assert "interrupted" in workspace.runs()[-2].error


def test_the_second_opener_is_read_only_says_so_and_sees_new_commits(path):
    with Workspace.open(path) as first, Workspace.open(path) as second:
        assert not first.read_only
        assert first.reason == ""
        assert second.read_only
        assert "another window" in second.reason
        first.update_run(first.add_run(REQUEST, RunState.RUNNING).id, step=step(3))
        (run,) = second.runs()
        assert run.state is RunState.RUNNING
        assert second.result(run.id).drawn == 3
        with pytest.raises(WorkspaceError, match="read-only"):
            second.add_run(REQUEST)
    with Workspace.open(path) as third:
        assert not third.read_only


def test_another_process_is_kept_from_writing_until_the_first_is_killed(path):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            (
                f"from robgui.core.workspace import Workspace; w = Workspace.open({str(path)!r});"
                " print('held', flush=True); input()"
            ),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "held\n"
        with Workspace.open(path) as second:
            assert second.read_only
        holder.kill()
        holder.wait()
    with Workspace.open(path) as after:
        assert not after.read_only


def test_a_closed_workspace_leaves_one_file_and_says_that_it_is_closed(path):
    workspace = Workspace.open(path)
    workspace.add_run(REQUEST)
    workspace.close()
    workspace.close()
    assert names(path.parent) == [path.name]
    with pytest.raises(WorkspaceError, match="closed"):
        workspace.runs()


@pytest.mark.parametrize(
    "content",
    [b"not a database at all", b"SQLite format 3\x00" + b"\xff" * 5000, b"PK\x03\x04" * 100],
)
def test_a_file_that_is_no_workspace_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(WorkspaceError) as caught:
        Workspace.open(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content
    assert names(path.parent) == [path.name]


def test_another_programs_database_is_refused_and_left_alone(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE notes (text)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(WorkspaceError, match="another program"):
        Workspace.open(path)
    assert path.read_bytes() == before


def test_a_file_from_a_newer_version_is_refused_and_left_alone(path):
    Workspace.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(WorkspaceError, match=r"newer robgui .* update robgui"):
        Workspace.open(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (99,)
    connection.close()


def test_an_older_file_is_migrated_and_keeps_its_runs(path, monkeypatch):
    with Workspace.open(path) as workspace:
        workspace.add_run(REQUEST, RunState.DONE)
    monkeypatch.setattr(
        database,
        "MIGRATIONS",
        [*database.MIGRATIONS, "ALTER TABLE runs ADD COLUMN colour TEXT; CREATE TABLE extra (a)"],
    )
    with Workspace.open(path) as workspace:
        assert len(workspace.runs()) == 1
        assert workspace.database.rows("SELECT colour FROM runs") == [(None,)]
        assert workspace.database.rows("PRAGMA user_version") == [(len(database.MIGRATIONS),)]


def test_a_migration_that_fails_changes_nothing(path, monkeypatch):
    with Workspace.open(path) as workspace:
        workspace.add_run(REQUEST, RunState.DONE)
    with monkeypatch.context() as patch:
        patch.setattr(
            database,
            "MIGRATIONS",
            [*database.MIGRATIONS, "CREATE TABLE extra (a); CREATE TABLE runs (b)"],
        )
        with pytest.raises(WorkspaceError):
            Workspace.open(path)
    with Workspace.open(path) as workspace:
        assert len(workspace.runs()) == 1
        assert workspace.database.rows("SELECT name FROM sqlite_master WHERE name = 'extra'") == []


@pytest.mark.parametrize(
    "damage", [slice(200, 4096), slice(2 * 4096, 4 * 4096), slice(20 * 4096, None)]
)
def test_damage_inside_the_file_is_one_sentence_and_the_file_is_kept(path, damage):
    with Workspace.open(path) as workspace:
        for _ in range(50):
            workspace.update_run(workspace.add_run(REQUEST).id, step=step(1, 500))
    content = bytearray(path.read_bytes())
    content[damage] = b"\xa5" * len(content[damage])
    path.write_bytes(content)
    with pytest.raises(WorkspaceError, match="damaged"):
        read_everything(path)
    assert path.exists()


def test_a_folder_or_an_impossible_place_is_one_sentence(tmp_path):
    with pytest.raises(WorkspaceError, match="folder"):
        Workspace.open(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(WorkspaceError, match="cannot be opened"):
        Workspace.open(tmp_path / "file" / "a.robgui")
    with pytest.raises(WorkspaceError, match="There is no workspace"):
        Workspace.open(tmp_path / "b.robgui", create=False)
    assert not (tmp_path / "b.robgui").exists()


AS_NOBODY = """
import fcntl, os, sys  # what the interpreter needs may lie where nobody cannot read
from robgui.core import files
from robgui.core.errors import WorkspaceError
from robgui.core.workspace import Workspace
if os.getuid() == 0:
    os.setuid(65534)
try:
    with Workspace.open(sys.argv[1]) as workspace:
        print("read-only" if workspace.read_only else "writable", len(workspace.runs()), workspace.reason)
except WorkspaceError as error:
    print("error", error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file modes")
@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "expected"),
    [(0o444, 0o555, "read-only 1"), (0o444, 0o777, "read-only 1"), (0o000, 0o755, "error")],
)
def test_without_permission_it_is_read_only_or_one_sentence(file_mode, folder_mode, expected):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:  # pytest's own folder is closed to other users
        path = Path(folder) / "a.robgui"
        with Workspace.open(path) as workspace:
            workspace.add_run(REQUEST, RunState.DONE)
        path.chmod(file_mode)
        Path(folder).chmod(folder_mode)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        Path(folder).chmod(0o755)
    assert done.stdout.startswith(expected), done
    assert "Traceback" not in done.stderr


def test_a_full_disk_is_one_sentence_and_loses_nothing(path):
    with Workspace.open(path) as workspace:
        run = workspace.add_run(REQUEST)
        workspace.update_run(run.id, step=step(1))
        ((pages,),) = workspace.database.rows("PRAGMA page_count")
        workspace.database.rows(f"PRAGMA max_page_count = {pages + 2}")
        noise = np.random.default_rng(0).random(100_000)
        with pytest.raises(WorkspaceError, match="disk is full"):
            workspace.update_run(
                run.id, state=RunState.DONE, step=Step(9, 9, TinyResult(noise, noise, 9))
            )
        assert workspace.result(run.id).drawn == 1
        workspace.database.rows("PRAGMA max_page_count = 1000000")
        workspace.update_run(run.id, state=RunState.DONE, step=step(2))
        assert workspace.result(run.id).drawn == 2


def test_an_update_that_cannot_be_stored_changes_nothing(workspace):
    run = workspace.add_run(REQUEST)
    with pytest.raises(WorkspaceError):
        workspace.update_run(
            run.id,
            state=RunState.DONE,
            step=Step(1, 1, TinyResult(np.array([object()]), np.zeros(1), 1)),
        )
    assert workspace.run(run.id).state is RunState.QUEUED


def test_many_threads_may_use_one_workspace(workspace):
    def work(seed: int) -> None:
        for i in range(10):
            run = workspace.add_run(REQUEST)
            workspace.update_run(run.id, step=step(i + seed), state=RunState.DONE)
            assert workspace.result(run.id).drawn == i + seed
            workspace.runs()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert len(workspace.runs()) == 60


def test_save_as_writes_a_whole_copy_and_replaces_what_a_killed_program_left(path, tmp_path):
    target = tmp_path / "copy.robgui"
    with Workspace.open(target) as old:
        old.add_run(REQUEST)
        shutil.copy(f"{target}-wal", tmp_path / "wal")
    shutil.copy(tmp_path / "wal", f"{target}-wal")
    with Workspace.open(path) as workspace:
        run = workspace.add_run(REQUEST, RunState.DONE)
        workspace.update_run(run.id, step=step(5))
        assert workspace.save_as(target) == target
        assert workspace.save_as(path) == path
        with Workspace.open(target) as copy:
            assert [found.id for found in copy.runs()] == [run.id]
            assert copy.result(run.id).drawn == 5
            assert not copy.read_only
            with pytest.raises(WorkspaceError, match="another window"):
                workspace.save_as(target)
    assert names(tmp_path) == ["a.robgui", "copy.robgui", "wal"]


def test_save_as_to_an_impossible_place_is_one_sentence(workspace, tmp_path):
    with pytest.raises(WorkspaceError, match="cannot be saved"):
        workspace.save_as(tmp_path / "no" / "such" / "folder.robgui")


def test_export_writes_json_npz_csv_and_png(workspace, tmp_path):
    run = workspace.add_run(REQUEST, RunState.DONE)
    finding = Finding("trap", "a, b", 0.5, {"x": float("nan")}, np.zeros((2, 2, 3), np.uint8))
    workspace.update_run(run.id, step=step(5, 5000), findings=[finding])
    workspace.add_run(REQUEST)
    folder = workspace.export(tmp_path / "out")
    (document,) = [
        json.loads(file.read_text()) for file in (folder / "runs").glob(f"*{run.id}.json")
    ]
    assert document["request"]["analysis"] == "tiny_confidence"
    assert document["result"]["drawn"] == 5
    with np.load(folder / "runs" / document["arrays"]) as arrays:
        assert arrays[document["result"]["confidence"]["array"]].shape == (5000,)
    assert len(list((folder / "runs").glob("*.json"))) == 2
    with (folder / "findings.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["title"] == "a, b"
    assert (folder / row["picture"]).read_bytes().startswith(b"\x89PNG")


def test_opening_needs_no_torch():
    code = (
        "import sys; from robgui.core.workspace import Workspace; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


COMMIT_FOREVER = """
import sys
import numpy as np
from robgui.core.execution.analysis import Step
from robgui.core.finding import Finding
from robgui.core.execution.request import Request
from robgui.core.workspace import RunState, Workspace
from dataclasses import dataclass

@dataclass
class TinyResult:
    radii: np.ndarray
    confidence: np.ndarray
    drawn: int
    every: np.ndarray | None = None

rng = np.random.default_rng(0)
with Workspace.open(sys.argv[1]) as workspace:
    while True:
        run = workspace.add_run(Request(analysis="tiny_confidence"), RunState.RUNNING)
        for done in range(1, 6):
            result = TinyResult(rng.random(20_000), np.full(20_000, done, np.float32), done)
            last = done == 5
            findings = [Finding("k", "t", 0.5)] if last else []
            workspace.update_run(run.id, state=RunState.DONE if last else RunState.RUNNING, step=Step(done, 5, result), findings=findings)
            print(run.id, done, flush=True)
"""


def kill_while_committing(path: Path, seconds: float) -> list[tuple[str, int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", COMMIT_FOREVER, str(path)], stdout=subprocess.PIPE, text=True
    )
    with process:
        lines = [process.stdout.readline()]
        killer = threading.Timer(seconds, process.send_signal, (signal.SIGKILL,))
        killer.start()
        lines += process.stdout.readlines()
        killer.join()
    return [(line.split()[0], int(line.split()[1])) for line in lines if line.endswith("\n")]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_kill_9_at_any_moment_keeps_every_finished_run_and_the_last_partial_one(path):
    chance = random.Random(time.time_ns())
    promised: dict[str, int] = {}
    for _ in range(6):
        promised |= dict(kill_while_committing(path, chance.uniform(0, 0.4)))
        with Workspace.open(path) as workspace:
            assert not workspace.read_only
            assert workspace.database.rows("PRAGMA integrity_check") == [("ok",)]
            assert workspace.database.rows("PRAGMA foreign_key_check") == []
            runs = {run.id: run for run in workspace.runs()}
            for run_id, done in promised.items():
                assert runs[run_id].done >= done
            for run in runs.values():
                result = workspace.result(run.id)
                assert run.state is (RunState.DONE if run.done == 5 else RunState.CANCELLED)
                assert len(workspace.findings(run.id)) == (run.done == 5)
                if run.has_result:
                    assert result.drawn == run.done
                    assert (result.confidence == run.done).all()
    assert len(promised) > 6


def test_a_document_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch):
    out = tmp_path / "r.json"
    write_document({"done": 1}, out)

    def full(path, content, *, private):
        path.write_bytes(content[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "create", full)
    with pytest.raises(OSError, match="No space"):
        write_document({"done": 2}, out)
    assert json.loads(out.read_text()) == {"done": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
