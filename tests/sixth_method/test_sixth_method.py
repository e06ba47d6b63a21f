"""A method from another package: one folder, found through its entry point, and everything in
the program knows it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from robgui import resources
from robgui.core.execution import method
from robgui.core.execution.registry import analyses
from tests.methods import OUR_METHODS

EXAMPLE = Path(__file__).parent / "robgui_brightness"
ROOT = Path(__file__).parents[2]


def install(site: Path, name: str, entry: str) -> None:
    """Puts the entry point of a package into ``site``, as pip would."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[robgui.methods]\n{entry}\n")


@pytest.fixture
def site(tmp_path):
    """A folder as pip leaves it: the package and its metadata."""
    site = tmp_path / "site"
    shutil.copytree(EXAMPLE, site / "robgui_brightness")
    install(site, "robgui_brightness", "brightness = robgui_brightness.method:METHOD")
    return site


@pytest.fixture
def installed(site, monkeypatch):
    """The same for this process."""
    monkeypatch.syspath_prepend(str(site))
    method.refresh()
    yield site
    monkeypatch.undo()
    method.refresh()
    for name in [name for name in sys.modules if name.startswith("robgui_brightness")]:
        del sys.modules[name]


def robgui(site: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(site), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "robgui", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=cwd, env=environment, timeout=300
    )


def test_the_command_line_lists_it_runs_it_and_reports_it(site, tmp_path):
    listed = robgui(site, "list", cwd=tmp_path)
    assert listed.returncode == 0 and "How much brighter or darker" in listed.stdout
    demo = [str(resources.path("demo", name)) for name in ("fashion_mlp.pt2", "fashion.npz")]
    workspace = tmp_path / "w.robgui"
    for index in ("0", "1"):
        asked = [
            "run",
            "brightness",
            "--model",
            demo[0],
            "--data",
            demo[1],
            "--index",
            index,
            "--set",
            "steps=21",
        ]
        ran = robgui(
            site,
            *asked,
            "--workspace",
            str(workspace),
            "--out",
            str(tmp_path / "r.json"),
            cwd=tmp_path,
        )
        assert ran.returncode == 0, ran.stderr
        assert "shift" in ran.stderr
    stored = json.loads((tmp_path / "r.json").read_text())
    assert (
        stored["analysis"] == "brightness"
        and len(stored["result"]["shift"]) == 21
        and stored["status"]
    )
    wrong = robgui(
        site,
        "run",
        "brightness",
        "--model",
        demo[0],
        "--data",
        demo[1],
        "--set",
        "steps=1",
        cwd=tmp_path,
    )
    assert wrong.returncode == 2 and "steps = 1" in wrong.stderr
    written = robgui(
        site, "report", str(workspace), "--html", str(tmp_path / "r.html"), cwd=tmp_path
    )
    assert written.returncode == 0, written.stderr
    page = (tmp_path / "r.html").read_text()
    assert "Brightness" in page and "shift" in page and "<img" in page


def test_its_page_stands_in_the_manual(installed):
    from robgui import manual

    assert "brightness" in [page.name for page in manual.pages()] and "brightness" in analyses()


def test_a_notebook_shows_it(installed):
    from robgui import load, open_dataset, show

    model = load(resources.path("demo", "fashion_mlp.pt2"))
    shown = show(
        "brightness",
        model,
        open_dataset(resources.path("demo", "fashion.npz")).subset([0]),
        steps=11,
    )
    page = shown._repr_html_()
    assert (
        shown.verdict.sentence in page.replace("&#x27;", "'")
        and "data:image/png" in page
        and "shift" in page
    )


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("broken = nowhere_to_be_found.method:METHOD", "cannot be loaded"),
        ("broken = json:dumps", "not a Method"),
        ("zonnscan2 = robgui.analyses.zonnscan.method:METHOD", "already"),
    ],
)
def test_a_broken_method_is_one_sentence_and_the_others_work(tmp_path, monkeypatch, entry, words):
    install(tmp_path / "site", "robgui_broken", entry)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    method.refresh()
    try:
        (problem,) = method.problems()
        assert words in problem and problem.endswith(".") and "\n" not in problem
        assert len(method.methods()) == len(OUR_METHODS) and "zonnscan" in analyses()
    finally:
        monkeypatch.undo()
        method.refresh()


def test_the_record_of_a_method_imports_neither_torch_nor_qt():
    code = (
        "import sys; from robgui.core.execution.method import methods;"
        f" assert len(methods()) == {len(OUR_METHODS)};"
        " print([name for name in ('torch', 'onnxruntime', 'cv2', 'matplotlib', 'PySide6') if name"
        " in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"
