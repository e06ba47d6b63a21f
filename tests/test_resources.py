"""Resources are found in a checkout, a wheel and a frozen app."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import robgui
from robgui import resources
from robgui.core.errors import RobguiError
from robgui.core.execution.method import methods


def _folder(root: Path, name: str) -> Path:
    folder = root / name / "icons"
    folder.mkdir(parents=True)
    return folder


def _install(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """Pretends that the package lies in ``root``."""
    (root / "robgui").mkdir(exist_ok=True)
    monkeypatch.setattr(resources, "__file__", str(root / "robgui" / "resources.py"))


def test_a_checkout_has_resources_next_to_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _install(monkeypatch, tmp_path)
    folder = _folder(tmp_path, "resources")
    assert resources.path("icons") == folder


def test_a_wheel_has_resources_inside_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _install(monkeypatch, tmp_path)
    _folder(tmp_path, "resources")
    folder = _folder(tmp_path, "robgui/_resources")
    assert resources.path("icons") == folder


def test_a_frozen_app_has_resources_where_it_is_unpacked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    folder = _folder(tmp_path, "resources")
    assert resources.path("icons") == folder


def test_a_missing_folder_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _install(monkeypatch, tmp_path)
    with pytest.raises(RobguiError, match="install robgui again"):
        resources.path("icons")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(RobguiError, match=r"icons/unicorn\.svg"):
        resources.path("icons", "unicorn.svg")


def test_every_demo_entry_has_a_dataset_models_and_a_description() -> None:
    entries = resources.demo()
    assert len(entries) == 3
    for entry in entries:
        assert entry.title and entry.description.endswith(".")
        assert entry.dataset.exists()
        assert entry.models and all(model.is_file() for model in entry.models)


def test_finding_resources_imports_neither_torch_nor_qt() -> None:
    code = (
        "import sys, robgui.resources as r; r.demo(); sys.exit('torch' in sys.modules or 'PySide6'"
        " in sys.modules)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], cwd=Path(resources.__file__).parents[1], check=False
        ).returncode
        == 0
    )


def test_every_icon_has_the_same_grid_and_stroke_and_takes_its_colour_from_outside() -> None:
    ours = [
        method.icon_path
        for method in methods()
        if method.folder.is_relative_to(Path(robgui.__file__).parent)
    ]
    icons = [icon for icon in resources.path("icons").glob("*.svg") if icon.stem != "app"] + ours
    assert len(icons) >= 48
    for icon in icons:
        root = ET.parse(icon).getroot()
        wanted = {
            "viewBox": "0 0 24 24",
            "stroke": "currentColor",
            "stroke-width": "1.75",
            "stroke-linecap": "round",
            "fill": "none",
        }
        assert {name: root.get(name) for name in wanted} == wanted, icon.name


def test_the_licence_of_wordnet_stands_beside_its_words_as_princeton_wrote_it() -> None:
    """Compared with the file LICENSE that WordNet 3.0 comes with, without its line breaks."""
    text = resources.path("names", "LICENSES.md").read_text(encoding="utf-8")
    licence = text[text.index("WordNet Release 3.0") : text.index("## tables.json")]
    digest = hashlib.sha256(" ".join(licence.split()).encode()).hexdigest()
    assert digest == "ff13e597db216c66448558ad6381e0b18a814260b56e0d6d7b5f370a7d5b107d"
