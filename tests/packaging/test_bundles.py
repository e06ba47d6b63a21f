"""What people install: every part is described, complete and well formed. Nothing is built here."""

from __future__ import annotations

import configparser
import importlib
import json
import plistlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

from robgui import __version__
from robgui.core.errors import MissingExtraError
from robgui.core.execution.method import methods
from robgui.core.workspace.database import APPLICATION_ID
from tests.methods import OUR_METHODS

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
SHARE = PACKAGING / "linux" / "share"
MIME = "application/x-robgui"


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """packaging/pyinstaller/contents.py."""
    monkeypatch.syspath_prepend(str(PACKAGING / "pyinstaller"))
    yield importlib.import_module("contents")
    sys.modules.pop("contents", None)


@pytest.fixture
def bundles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """packaging/bundles.py, with a small application in a temporary folder."""
    monkeypatch.syspath_prepend(str(PACKAGING))
    module = importlib.import_module("bundles")
    app = tmp_path / "app" / "robgui"
    (app / "_internal").mkdir(parents=True)
    (app / "_internal" / "data.bin").write_bytes(bytes(4096))
    (app / "robgui").write_text("#!/bin/sh\n")
    (app / "robgui").chmod(0o755)
    for name, place in {"APP": app, "BUILD": tmp_path / "build", "DIST": tmp_path / "dist"}.items():
        monkeypatch.setattr(module, name, place)
    (tmp_path / "dist").mkdir()
    yield module
    for name in ("bundles", "environment"):
        sys.modules.pop(name, None)


class TestApplication:
    def test_robgui_is_taken_whole_so_that_every_analysis_and_panel_is_in(self, contents):
        assert "robgui" in contents.WHOLE
        modules = [
            ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for path in (ROOT / "robgui").rglob("*.py")
        ]
        assert {f"robgui.analyses.{method.name}.method" for method in methods()} <= set(modules)
        assert [name for name in modules if not contents.wanted_module(name)] == []

    def test_the_page_and_the_icon_of_every_method_are_in(self, contents):
        taken = {
            path for pattern in contents.METHOD_FILES for path in (ROOT / "robgui").glob(pattern)
        }
        files = {path for method in methods() for path in (method.help_path, method.icon_path)}
        assert len(files) == 2 * len(OUR_METHODS) and files <= taken
        assert [
            path for path in taken if not contents.wanted_file(path.relative_to(ROOT).as_posix())
        ] == []

    def test_the_entry_points_by_which_methods_and_panels_are_found_are_in(self, contents):
        assert "robgui" in contents.RECORDS
        points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "entry-points"
        ]
        assert tuple(sorted(points["robgui.methods"])) == OUR_METHODS
        for place in (*points["robgui.methods"].values(), *points["robgui.panels"].values()):
            assert (ROOT / f"{place.partition(':')[0].replace('.', '/')}.py").is_file(), place

    def test_every_folder_of_robgui_is_a_package_that_is_found(self):
        folders = {path.parent for path in (ROOT / "robgui").rglob("*.py")}
        assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []

    def test_no_module_of_robgui_is_excluded(self, contents):
        assert not any(name.startswith("robgui") for name in contents.EXCLUDED)

    def test_every_resource_is_kept(self, contents):
        places = [
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / "resources").rglob("*")
            if path.is_file()
        ]
        assert "resources/demo/architectures.py" in places
        assert [place for place in places if not contents.wanted_file(place)] == []

    @pytest.mark.parametrize(
        ("place", "kept"),
        [
            ("torch/lib/libtorch_cpu.so", True),
            ("torch/bin/torch_shm_manager", True),
            ("torch/bin/protoc", False),
            ("torch/include/ATen/ATen.h", False),
            ("torch\\include\\ATen\\ATen.h", False),
            ("torch/lib/libtorchbind_test.so", False),
            ("libstdc++.so.6", False),
            ("libxcb-cursor.so.0", True),
            ("scipy.libs/libgcc_s.so.1", True),
            ("sklearn/tests/data.csv", False),
            ("scipy/stats/_sobol_direction_numbers.npz", True),
            ("scipy/linalg/cython_lapack.pyx", False),
            ("resources/demo/odd.h", True),
            ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
            ("PySide6/Qt/plugins/platforms/libqwayland.so", True),
            ("PySide6/Qt/plugins/platforms/libqoffscreen.so", True),
            ("PySide6/Qt/plugins/platforms/libqeglfs.so", False),
        ],
    )
    def test_only_what_is_read_when_the_program_runs_is_kept(self, contents, place, kept):
        assert contents.wanted_file(place) is kept

    def test_a_library_goes_with_the_last_file_that_asks_for_it(self, contents):
        libraries = {
            "PySide6/Qt/plugins/platforms/libqxcb.so": {"libQt6Gui.so.6", "libxcb-cursor.so.0"},
            "PySide6/Qt/lib/libQt6Gui.so.6": {"libz.so.1"},
            "PySide6/Qt/lib/libQt6Eglfs.so.6": {"libkms.so.1"},
            "libQt6Gui.so.6": set(),
            "libxcb-cursor.so.0": set(),
            "libz.so.1": set(),
            "libkms.so.1": {"libdrm.so.2"},
            "libdrm.so.2": set(),
            "libpython3.11.so.1.0": set(),
            "numpy.libs/libopenblas.so": set(),
        }
        assert contents.unneeded(libraries) == {
            "PySide6/Qt/lib/libQt6Eglfs.so.6",
            "libkms.so.1",
            "libdrm.so.2",
        }

    def test_only_libraries_that_were_not_rearranged_are_stripped(
        self, bundles, tmp_path, monkeypatch
    ):
        for place in ("torch/lib/libtorch.so", "numpy.libs/libopenblas.so"):
            (tmp_path / "in" / place).parent.mkdir(parents=True)
            (tmp_path / "in" / place).write_bytes(b"\x7fELF and more")
        (tmp_path / "in" / "robgui.py").write_text("print()")
        (tmp_path / "in" / "libtorch.so").symlink_to("torch/lib/libtorch.so")
        stripped = []
        monkeypatch.setattr(bundles, "must", lambda command, trouble: stripped.append(command[-1]))
        bundles.strip_symbols(tmp_path / "in")
        assert stripped == [tmp_path / "in" / "torch" / "lib" / "libtorch.so"]

    def test_a_torch_with_cuda_is_refused_in_a_sentence(self, bundles, monkeypatch):
        monkeypatch.setattr(bundles, "must", lambda command, trouble: None)
        monkeypatch.setattr(bundles, "output", lambda command: "12.8")
        with pytest.raises(
            bundles.Problem,
            match=r"build for CUDA 12\.8.*install the CPU build of torch==[\d.]+ into build/venv",
        ):
            bundles.prepare_builder()

    def test_the_workers_of_a_batch_can_start(self):
        start = (PACKAGING / "pyinstaller" / "start.py").read_text(encoding="utf-8")
        assert start.index("multiprocessing.freeze_support()") < start.index("sys.exit(main())")

    def test_it_does_not_send_people_to_pip_for_what_it_lacks(self, monkeypatch):
        assert "install it with: pip install 'robgui[cluster]'" in str(
            MissingExtraError("A cluster", "cluster")
        )
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        assert "this application does not carry" in str(MissingExtraError("A cluster", "cluster"))

    def test_the_spec_is_python(self):
        text = (PACKAGING / "pyinstaller" / "robgui.spec").read_text(encoding="utf-8")
        compile(text, "robgui.spec", "exec")
        assert '(str(ROOT / "resources"), "resources")' in text
        assert 'collect_data_files("robgui", includes=list(METHOD_FILES))' in text


class TestLinux:
    def test_the_desktop_entry_opens_workspaces(self):
        entry = configparser.ConfigParser(interpolation=None)
        entry.read(SHARE / "applications" / "robgui.desktop", encoding="utf-8")
        fields = entry["Desktop Entry"]
        assert (fields["Exec"], fields["Icon"], fields["Terminal"]) == (
            "robgui gui %F",
            "robgui",
            "false",
        )
        assert fields["MimeType"] == f"{MIME};"

    @pytest.mark.skipif(
        not shutil.which("desktop-file-validate"), reason="needs the package desktop-file-utils"
    )
    def test_the_desktop_entry_is_valid(self):
        command = ["desktop-file-validate", SHARE / "applications" / "robgui.desktop"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (answer.returncode, answer.stdout) == (0, "")

    @pytest.mark.skipif(not shutil.which("appstreamcli"), reason="needs the package appstream")
    def test_the_metainfo_is_valid(self):
        command = [
            "appstreamcli",
            "validate",
            "--no-net",
            SHARE / "metainfo" / "org.robgui.robgui.metainfo.xml",
        ]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, answer.stdout

    def test_the_metainfo_names_the_entry_the_type_and_this_version(self):
        root = ET.parse(SHARE / "metainfo" / "org.robgui.robgui.metainfo.xml").getroot()
        assert root.findtext("launchable") == "robgui.desktop"
        assert root.findtext("provides/mediatype") == MIME
        assert root.find("releases/release").get("version") == __version__

    def test_the_mime_type_knows_the_workspace_by_name_and_by_content(self):
        space = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
        kind = (
            ET.parse(SHARE / "mime" / "packages" / "robgui.xml")
            .getroot()
            .find("m:mime-type", space)
        )
        assert kind.get("type") == MIME
        assert kind.find("m:glob", space).get("pattern") == "*.robgui"
        match = kind.find("m:magic/m:match/m:match", space)
        assert (int(match.get("value"), 16), match.get("offset")) == (APPLICATION_ID, "68")


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="needs dpkg")
class TestDebianPackage:
    def test_it_holds_the_program_and_all_that_makes_it_a_desktop_application(self, bundles):
        (deb,) = bundles.make_deb()
        told = subprocess.run(
            ["dpkg-deb", "--contents", deb], capture_output=True, text=True, check=True
        ).stdout
        owners = {line.split()[1] for line in told.splitlines()}
        files = {line.split()[5] for line in told.splitlines()}
        assert owners == {"root/root"}
        assert {
            "./usr/bin/robgui",
            "./usr/lib/robgui/robgui",
            "./usr/share/applications/robgui.desktop",
            "./usr/share/icons/hicolor/scalable/apps/robgui.svg",
            "./usr/share/icons/hicolor/scalable/mimetypes/application-x-robgui.svg",
            "./usr/share/metainfo/org.robgui.robgui.metainfo.xml",
            "./usr/share/mime/packages/robgui.xml",
            "./usr/share/doc/robgui/copyright",
        } <= files

    def test_dpkg_reads_its_control_fields(self, bundles):
        (deb,) = bundles.make_deb()
        fields = subprocess.run(
            ["dpkg-deb", "--field", deb], capture_output=True, text=True, check=True
        ).stdout
        assert f"Version: {__version__}\n" in fields
        assert "libegl1" in fields
        assert "{" not in fields


class TestOtherSystems:
    def test_the_recipes_say_that_they_are_untested(self):
        files = [*(PACKAGING / "windows").iterdir(), *(PACKAGING / "macos").iterdir()]
        assert [
            file.name for file in files if "ntested" not in file.read_text(encoding="utf-8")
        ] == []

    def test_the_installer_of_windows_opens_workspaces_and_takes_the_application(self):
        text = (PACKAGING / "windows" / "robgui.iss").read_text(encoding="utf-8")
        assert r"Software\Classes\.robgui" in text
        assert r"dist\app\robgui\*" in text

    def test_the_entitlements_are_a_property_list(self):
        assert all(
            plistlib.loads((PACKAGING / "macos" / "entitlements.plist").read_bytes()).values()
        )


def test_an_unknown_package_is_refused_in_a_sentence(bundles):
    with pytest.raises(
        Exception,
        match="package makes wheel, app, installer or, without a word, all of them, not: flatpak",
    ):
        bundles.make(["flatpak"])


@pytest.mark.parametrize(
    ("wanted", "made"),
    [
        (["wheel"], ["wheel"]),
        (["app"], ["wheel", "app"]),
        (["installer"], ["wheel", "app", "installer"]),
        ([], ["wheel", "app", "installer"]),
    ],
)
def test_what_is_wanted_is_made_of_what_the_checkout_is_now(bundles, monkeypatch, wanted, made):
    asked: list[str] = []
    makers = {name: lambda name=name: asked.append(name) or [] for name in bundles.MAKERS}
    monkeypatch.setattr(bundles, "MAKERS", makers)
    bundles.make(wanted)
    assert asked == made


def test_the_wheel_takes_the_resources_along():
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"][
        "build"
    ]["targets"]["wheel"]
    assert set(hatch["only-include"]) == {"robgui", "resources"}
    assert hatch["sources"] == {"resources": "robgui/_resources"}


def test_the_wheel_takes_the_pages_and_icons_of_the_methods_along():
    """The hook that builds wheels, asked directly: no environment is made and nothing is
    fetched.
    """
    from hatchling.builders.wheel import WheelBuilder

    builder = WheelBuilder(str(ROOT))
    places = {Path(file.distribution_path).as_posix() for file in builder.recurse_included_files()}
    for method in methods():
        assert {
            path.relative_to(ROOT).as_posix() for path in (method.help_path, method.icon_path)
        } <= places
    assert "robgui/_resources/help/start.md" in places


def test_wheel_and_source_archive_carry_the_list_of_their_parts(bundles, monkeypatch, tmp_path):
    """Built for real, from a tree with nothing but the version in its package."""
    tree = tmp_path / "tree"
    (tree / "robgui").mkdir(parents=True)
    shutil.copytree(PACKAGING, tree / "packaging")
    for name in ("pyproject.toml", "README.md", "LICENSE", "robgui/version.py", ".gitignore"):
        shutil.copy(ROOT / name, tree / name)
    places = {"ROOT": tree, "HERE": tree / "packaging", "PYTHON": Path(sys.executable)}
    for name, place in places.items():
        monkeypatch.setattr(bundles, name, place)
    wheel, source = bundles.make_wheel()
    with zipfile.ZipFile(wheel) as archive:
        (place,) = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
        inside = archive.read(place)
    with tarfile.open(source) as archive:
        member = archive.extractfile(f"robgui-{__version__}/packaging/cdx.json")
        assert member is not None and member.read() == inside
    listed = json.loads(inside)
    assert listed["bomFormat"] == "CycloneDX"
    assert {"torch", "numpy", "pillow"} <= {part["name"].lower() for part in listed["components"]}
    assert not (tree / "packaging" / "cdx.json").exists(), "it is of this build only"


def test_pyinstaller_is_pinned():
    pins = (PACKAGING / "constraints.txt").read_text(encoding="utf-8")
    assert re.search(r"^pyinstaller==[\d.]+$", pins, re.MULTILINE)
