"""Every file that may be somebody else's is opened in one place, which knows its kind and size
before it reads.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import robgui
from robgui.batch.suite import read_suite
from robgui.cli.files import settings_in
from robgui.core.errors import ModelError, ParamsError, RobguiError, WorkspaceError
from robgui.core.execution.registry import find
from robgui.core.records import Records
from robgui.core.workspace import Workspace
from tests.security.test_files import SECONDS, within

PACKAGE = Path(robgui.__file__).parent
#: The process of a model reads nothing here but what the system says of itself.
SYSTEM = PACKAGE / "core" / "execution" / "worker"
#: Names of functions and methods that read a file by its path.
READERS = {
    "open",
    "read_text",
    "read_bytes",
    "ZipFile",
    "connect",
    "load",
    "load_file",
    "load_scene",
    "imread",
    "fromfile",
    "memmap",
    "genfromtxt",
    "loadtxt",
    "import_ir_module",
}
#: Whose ``load`` reads a file.
LIBRARIES = {"np", "torch", "torch.jit", "torch.export", "pickle", "joblib", "json", "tomllib"} | {
    "io",  # of skops
    "onnx",
    "trimesh",
}
#: Where such a call stands -> why it needs no look at the file first.
ALLOWED = {
    "core/regular.py: open": "the one place",
    "core/loading/archive.py: ZipFile": "given a file that open_regular opened, or memory",
    "core/npz.py: ZipFile": "memory",
    "core/npz.py: open": "a part of an archive in memory",
    "core/loading/archive.py: open": "a part of an open archive",
    "core/dataset/formats/numpy_files.py: ZipFile": "given a file that open_regular opened",
    "core/dataset/formats/numpy_files.py: open": "a part of an open archive",
    "core/dataset/images.py: open": "Pillow is given a file that open_regular opened",
    "analyses/semantic/scene/meshes/file.py: open": "Pillow is given bytes of read_regular",
    "analyses/semantic/scene/meshes/file.py: load_scene": "trimesh is given bytes of read_regular",
    "analyses/pipeline/ways.py: open": "a picture in memory that was packed just before",
    "report/own.py: open": "Pillow is given bytes of read_regular, or of a workspace",
    "report/pictures.py: open": "a picture in memory that was drawn just before",
    "core/workspace/database.py: connect": "SQLite, after the file was looked at; or memory",
    "core/loading/weights.py: load": "torch, after sniff looked at the file",
    "core/loading/weights.py: load_file": "safetensors, after sniff looked at the file",
    "core/loading/sklearn_files/model.py: load": "skops, after sniff and Archive looked at the file",
    "core/loading/exported/program.py: load": "torch, a private copy of a trusted file",
    "core/loading/loader.py: load": "joblib and pickle, a private copy of a trusted file",
    "reproduce/semantic/bench.py: load": "weights of an installed package",
    "core/files.py: open": "writes a new file",
    "core/workspace/lock.py: open": "a lock without content",
    "cli/__init__.py: open": "the null device",
    "core/identify/zip_directory.py: ZipFile": "given a file that open_regular opened",
    "gui/app/status.py: read_text": "what the system says of this process",
    "gui/app/theme.py: read_text": "an icon of ours",
    "manual.py: read_text": "a page of ours, or of an installed method",
}


def calls() -> Iterator[tuple[str, int]]:
    """``file: function`` and the line of every call that reads a file by its path."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.is_relative_to(SYSTEM):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else ""
            name = function.id if isinstance(function, ast.Name) else name
            if name in READERS and not _is_other(function) and not _writes(node):
                yield f"{path.relative_to(PACKAGE).as_posix()}: {name}", node.lineno


def _is_other(function: ast.expr) -> bool:
    """Whether a function only shares its name: signals of Qt, the loading of models."""
    if isinstance(function, ast.Name):
        return function.id in ("load", "connect")
    assert isinstance(function, ast.Attribute)
    owner = ast.unparse(function.value)
    if function.attr == "load":
        return owner not in LIBRARIES
    if function.attr == "open":
        return owner in ("Workspace", "self", "self.history", "self._streams", "self.findings")
    return function.attr == "connect" and owner != "sqlite3"


def _writes(call: ast.Call) -> bool:
    modes = [each.value for each in call.args if isinstance(each, ast.Constant)]
    return any(isinstance(mode, str) and mode[:1] in "wax" and len(mode) < 4 for mode in modes)


def test_no_file_is_read_past_the_one_place():
    strays = [f"{place}, line {line}" for place, line in calls() if place not in ALLOWED]
    assert not strays, strays


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.fixture(params=["pipe", "/dev/zero"])
def endless(request, tmp_path) -> str:
    """What is waited for, or read, without end."""
    if request.param != "pipe":
        return request.param
    os.mkfifo(tmp_path / "endless")
    return str(tmp_path / "endless")


def linked(endless: str, path: Path) -> Path:
    path.symlink_to(endless)
    return path


def test_a_workspace_that_never_ends_is_refused_at_once(tmp_path, endless):
    path = linked(endless, tmp_path / "w.robgui")
    error = within(SECONDS, lambda: Workspace.open(path, create=False))
    assert isinstance(error, WorkspaceError) and "\n" not in str(error)


def test_a_suite_that_never_ends_is_refused_at_once(tmp_path, endless):
    error = within(SECONDS, lambda: read_suite(linked(endless, tmp_path / "s.toml")))
    assert isinstance(error, ParamsError) and "s.toml" in str(error)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_settings_that_never_end_are_refused_at_once(tmp_path, endless, suffix):
    path = linked(endless, tmp_path / f"p{suffix}")
    error = within(SECONDS, lambda: settings_in(str(path), find("zonnscan")))
    assert isinstance(error, ParamsError) and path.name in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a = " + "9" * 5_000,
        "a." * 20_000 + "b = 1",
        "[[models]]\npath = 'x'\nsettings = " + "{a=" * 3000 + "1" + "}" * 3000,
    ],
)
def test_a_suite_nested_or_written_without_end_is_one_sentence(tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_text(text)
    error = within(SECONDS, lambda: read_suite(path))
    assert isinstance(error, ParamsError) and "\n" not in str(error)


def test_a_suite_of_gigabytes_is_not_read(tmp_path):
    path = tmp_path / "s.toml"
    with path.open("wb") as file:
        file.truncate(20 * 2**30)
    error = within(SECONDS, lambda: read_suite(path))
    assert isinstance(error, ParamsError) and "larger than" in str(error)


@pytest.mark.parametrize("workspace", ["../victim.robgui", "/tmp/victim.robgui", "link/v.robgui"])
def test_a_suite_puts_its_workspace_beside_itself_only(tmp_path, workspace):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "link").symlink_to(tmp_path)
    path = tmp_path / "home" / "s.toml"
    path.write_text(
        f'workspace = "{workspace}"\n[[models]]\npath = "m"\n[[analyses]]\nname = "zonnscan"\n'
    )
    with pytest.raises(ParamsError, match="--workspace"):
        _ = read_suite(path).runs


def test_records_and_preferences_that_are_pipes_are_not_waited_for(monkeypatch, tmp_path, pipe):
    from robgui.gui.app.settings import Settings, load_settings

    monkeypatch.setenv("ROBGUI_CONFIG", str(pipe))
    found: list[Settings] = []
    assert within(SECONDS, lambda: found.append(load_settings())) is None
    assert found == [Settings()]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    records = Records("models")
    records.folder.mkdir(parents=True)
    os.mkfifo(records.folder / f"{'0' * 64}.json")
    kept: list[object] = []
    assert within(SECONDS, lambda: kept.append(records.read("0" * 64))) is None
    assert kept == [None]


def test_preferences_nested_without_end_leave_the_defaults(monkeypatch, tmp_path):
    from robgui.gui.app.settings import Settings, load_settings

    path = tmp_path / "settings.json"
    path.write_text("[" * 100_000)
    monkeypatch.setenv("ROBGUI_CONFIG", str(path))
    assert load_settings() == Settings()


@pytest.mark.parametrize("name", ["texture.png", "m.png"])
def test_a_texture_beside_a_mesh_that_is_a_bomb_takes_no_gigabytes(tmp_path, name):
    from robgui.analyses.semantic.scene.meshes.file import read_mesh

    (tmp_path / "m.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
    )
    os.mkfifo(tmp_path / name)
    assert within(SECONDS, lambda: read_mesh(tmp_path / "m.obj")) is None


def test_a_model_whose_side_file_or_code_is_of_gigabytes_is_not_copied(tmp_path):
    from robgui.core.loading import load

    (tmp_path / "nets.py").write_text("def net(): ...")
    with (tmp_path / "nets.py").open("ab") as file:
        file.truncate(20 * 2**30)
    import torch

    torch.save({"w": torch.zeros(2)}, tmp_path / "m.pth")
    error = within(
        SECONDS, lambda: load(tmp_path / "m.pth", device="cpu", architecture="nets.py:net")
    )
    assert isinstance(error, RobguiError) and "\n" not in str(error)


def test_an_onnx_file_of_gigabytes_is_not_read_into_memory(tmp_path):
    from robgui.core.loading import load

    path = tmp_path / "m.onnx"
    path.write_bytes(b"\x08\x08")
    with path.open("ab") as file:
        file.truncate(20 * 2**30)
    error = within(SECONDS, lambda: load(path, device="cpu"))
    assert isinstance(error, ModelError) and "larger than" in str(error)


def test_arrays_and_documents_of_these_tests_are_real(tmp_path):
    np.savez(tmp_path / "a.npz", images=np.zeros((2, 3, 3)))
    (tmp_path / "p.json").write_text(json.dumps({"samples": 16}))
    assert settings_in(str(tmp_path / "p.json"), find("zonnscan")) == {"samples": 16}
