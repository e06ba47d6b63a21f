"""What robgui is made of comes from where it should: bounds above known holes, hashes, actions by
commit, and a list of all parts.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
HASHES = sorted((PACKAGING / "hashes").glob("*.txt"))
#: Versions below have holes that a file of somebody else can use.
HOLES = {
    "torch": "2.10",  # weights_only=True could be led to run code (2.6) or to corrupt memory
    "skops": "0.12",  # the list of trusted types could be bypassed
    "pillow": "10.3",  # overflow in a reader of pictures
    "onnx": "1.17",  # external data outside the folder of the model
    "onnxruntime": "1.18",
    "opencv-python-headless": "4.9",  # a libwebp with a heap overflow before 4.8.1
    "scikit-learn": "1.4",
    "numpy": "1.26",
    "pyarrow": "14.0.1",  # reading a table could run code
    "ray": "2.52",  # pages of other sites could submit jobs
}
LINE = re.compile(r"([\w.-]+)==([\w.+]+) --hash=sha256:([0-9a-f]{64})")


def requirements() -> dict[str, Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = [*project["dependencies"]]
    stated += [one for extra in project["optional-dependencies"].values() for one in extra]
    return {Requirement(one).name.lower(): Requirement(one) for one in stated}


@pytest.mark.parametrize("name", HOLES)
def test_no_version_with_a_known_hole_is_admitted(name):
    bounds = requirements()[name].specifier
    lowest = [Version(one.version) for one in bounds if one.operator in (">=", "==")]
    assert lowest and max(lowest) >= Version(HOLES[name])


@pytest.mark.parametrize("path", HASHES, ids=lambda path: path.stem)
def test_every_line_of_hashes_is_a_pin_of_the_constraints(path):
    pins = (PACKAGING / "constraints.txt").read_text(encoding="utf-8")
    versions = {
        (name.lower().replace("_", "-"), version)
        for name, version in re.findall(r"^([\w.-]+)==([\w.+]+)", pins, re.MULTILINE)
    }
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    assert len(lines) > 40
    for line in lines:
        found = LINE.fullmatch(line)
        assert found, line
        assert (found[1].lower().replace("_", "-"), found[2]) in versions, line
        assert found[1] != "torch", "its builds for CPU and CUDA have different hashes"


def test_there_are_hashes_for_setting_up_and_for_the_application():
    assert {path.stem.rpartition(".")[2] for path in HASHES} == {"dev", "app"}


def test_there_are_hashes_for_other_systems(modules):
    """Not for all that ``pin others`` knows: an index need not have files for each of them."""
    systems = {path.name.partition("-cp311")[0] for path in HASHES}
    assert {"linux-x86_64", "win32-amd64", "darwin-arm64"} <= systems
    assert systems <= {"linux-x86_64", *modules["elsewhere"].SYSTEMS}


def test_what_another_system_needs_is_judged_by_its_own_conditions(modules):
    elsewhere = modules["elsewhere"]
    lines = ['a[x]; sys_platform == "win32"', 'b; platform_system != "Windows"', "c"]
    lines.append('d; extra == "more"')
    wanted = [Requirement(line) for line in lines]
    windows, mac = (elsewhere.SYSTEMS[name] for name in ("win32-amd64", "darwin-arm64"))
    assert elsewhere.asked_by(wanted, windows, {""}) == {"a": {"", "x"}, "c": {""}}
    assert set(elsewhere.asked_by(wanted, mac, {"", "more"})) == {"b", "c", "d"}


def test_windows_and_macos_get_files_of_their_own():
    def hash_of(system: str, package: str) -> str:
        text = (PACKAGING / "hashes" / f"{system}-cp311.dev.txt").read_text(encoding="utf-8")
        return next(line for line in text.splitlines() if line.startswith(f"{package}=="))

    for package, same in (("numpy", False), ("platformdirs", True)):
        found = {hash_of(one, package) for one in ("linux-x86_64", "win32-amd64", "darwin-arm64")}
        assert len(found) == (1 if same else 3)


def test_no_file_of_ours_names_a_package_index():
    for path in [*PACKAGING.rglob("*.txt"), *PACKAGING.glob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert "--index-url" not in text and "--find-links" not in text, path
        assert "--trusted-host" not in text, path


def test_actions_of_ci_are_named_by_commit():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        used = re.findall(r"uses:\s*(\S+)", path.read_text(encoding="utf-8"))
        assert used and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one) for one in used), path


# ---------------------------------------------------------------- pip asks for the hashes


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """packaging/environment.py, pins.py, sbom.py and elsewhere.py."""
    monkeypatch.syspath_prepend(str(PACKAGING))
    names = ("environment", "pins", "sbom", "elsewhere")
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)


def installs(environment: ModuleType, monkeypatch, tmp_path: Path, *, known: bool) -> list[str]:
    """The pip calls of a new environment, with or without hashes for this system."""
    venv, calls = tmp_path / ".venv", []
    (venv / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / "bin" / "python").touch()
    (venv / "pyvenv.cfg").touch()
    places = {"VENV": venv, "PYTHON": venv / "bin" / "python", "STAMP": venv / "stamp.json"}
    places |= {"LOCK": tmp_path / "lock", "HASHES": tmp_path / "hashes"}
    for name, place in places.items():
        monkeypatch.setattr(environment, name, place)
    if known:
        environment.hashes_for("dev").parent.mkdir()
        environment.hashes_for("dev").touch()

    def call(command, extra=None, **options) -> int:
        calls.append(" ".join(map(str, command)))
        return 0

    monkeypatch.setattr(environment, "call", call)
    environment.prepare(again=True)
    return [line for line in calls if "pip install" in line]


def test_setting_up_asks_for_hashes_where_they_are_known(modules, monkeypatch, tmp_path):
    calls = installs(modules["environment"], monkeypatch, tmp_path, known=True)
    assert "--require-hashes --no-deps --requirement" in calls[0] and "torch==" in calls[1]


def test_setting_up_works_on_a_system_without_hashes(modules, monkeypatch, tmp_path):
    calls = installs(modules["environment"], monkeypatch, tmp_path, known=False)
    assert not any("--require-hashes" in line for line in calls) and "torch==" in calls[0]


def test_pip_refuses_another_file_than_the_hashes_name(tmp_path):
    good = _wheel(tmp_path / "good")
    line = f"toy==1.0 --hash=sha256:{hashlib.sha256(good.read_bytes()).hexdigest()}\n"
    (tmp_path / "hashes.txt").write_text(line)
    assert _pip(tmp_path, good.parent).returncode == 0
    other = _wheel(tmp_path / "other", "import os\n")
    answer = _pip(tmp_path, other.parent)
    assert answer.returncode != 0 and "DO NOT MATCH THE HASHES" in answer.stderr


def _pip(folder: Path, wheels: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--find-links", str(wheels)]
    command += ["--target", str(folder / f"into-{wheels.name}"), "--require-hashes", "--no-deps"]
    command += ["--no-cache-dir", "--requirement", str(folder / "hashes.txt")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _wheel(folder: Path, code: str = "") -> Path:
    folder.mkdir()
    path = folder / "toy-1.0-py3-none-any.whl"
    files = {
        "toy.py": code,
        "toy-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n",
        "toy-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=")
        rows.append(f"{name},sha256={digest.decode()},{len(content)}")
    files["toy-1.0.dist-info/RECORD"] = "\n".join([*rows, "toy-1.0.dist-info/RECORD,,", ""])
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_the_hashes_come_from_what_pip_reports(modules):
    item = {
        "metadata": {"name": "toy", "version": "1.0"},
        "download_info": {"archive_info": {"hashes": {"sha256": "a" * 64}}},
    }
    torch = {"metadata": {"name": "torch", "version": "2.13.0"}, "download_info": {}}
    assert modules["pins"].hashed({"install": [torch, item]}) == [
        f"toy==1.0 --hash=sha256:{'a' * 64}"
    ]
    without = {**item, "download_info": {}}
    with pytest.raises(modules["environment"].Problem, match="no SHA-256 for toy"):
        modules["pins"].hashed({"install": [without]})


def test_the_extras_of_a_purpose_are_followed(modules):
    wanted = " ".join(modules["pins"].requirements(("dev",)))
    assert "onnx>=" in wanted and "pytest>=" in wanted and "hatchling>=" in wanted
    assert "robgui" not in wanted and "ray" not in wanted


# ---------------------------------------------------------------- the list of parts


@pytest.fixture
def listed(modules) -> dict:
    sbom = modules["sbom"]
    return json.loads(json.dumps(sbom.document(hashes=sbom.known_hashes(PACKAGING / "hashes"))))


def test_the_list_has_what_cyclonedx_requires(listed):
    assert listed["bomFormat"] == "CycloneDX" and listed["specVersion"] == "1.5"
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", listed["serialNumber"])
    assert isinstance(listed["version"], int) and listed["version"] >= 1
    assert listed["metadata"]["component"]["name"] == "robgui"
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", listed["metadata"]["timestamp"])
    for component in listed["components"]:
        assert component["type"] == "library" and component["name"] and component["version"]
        assert re.fullmatch(r"pkg:pypi/[a-z0-9-]+@\S+", component["purl"])
        for each in component.get("hashes", ()):
            assert each["alg"] == "SHA-256" and re.fullmatch(r"[0-9a-f]{64}", each["content"])
        for each in component.get("licenses", ()):
            assert each["license"]["name"]


def test_every_reference_of_the_list_is_defined_once(listed):
    own = listed["metadata"]["component"]["bom-ref"]
    defined = [own, *(component["bom-ref"] for component in listed["components"])]
    assert len(defined) == len(set(defined))
    for entry in listed["dependencies"]:
        assert entry["ref"] in defined and set(entry["dependsOn"]) <= set(defined)
    assert {entry["ref"] for entry in listed["dependencies"]} == set(defined)


def test_the_list_names_what_the_program_imports_and_nothing_of_the_tests(listed):
    names = {component["name"].lower() for component in listed["components"]}
    assert {"torch", "numpy", "pyside6_essentials", "pillow", "onnx", "skops"} <= names
    assert not {"pytest", "mypy", "ruff", "hypothesis"} & names
