"""Builds what people install: wheel, source archive, application and Debian package.

The application brings its own Python.

The application is made in an environment of its own, build/venv, from the wheel: what is not in the
wheel is not in the application either.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from environment import CONSTRAINTS, PYTHON, ROOT, Problem, hashes_for
from processes import must, output

DIST = ROOT / "dist"
BUILD = ROOT / "build"
BUILDER = BUILD / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
APP = DIST / "app" / "robgui"
PROGRAM = APP / ("robgui.exe" if os.name == "nt" else "robgui")
HERE = ROOT / "packaging"
#: The list of what it is made of: in the application and beside it, in the source archive, and in
#: the wheel (PEP 770).
LIST = "cdx.json"
#: Formats that the application opens without anything further.
EXTRAS = "onnx,sklearn,imagenet,package"


def version() -> str:
    """The version that robgui/__init__.py states."""
    found = re.search(
        r'^__version__ = "([^"]+)"',
        (ROOT / "robgui" / "version.py").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    if found is None:
        raise Problem("robgui/version.py states no __version__; add it.")
    return found[1]


# ---------------------------------------------------------------- wheel and source archive


def make_wheel() -> list[Path]:
    """Builds the source archive and the wheel from it, each with the list of tested versions."""
    parts = make_list(PYTHON, HERE / LIST)
    try:
        must(
            [PYTHON, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT],
            "The wheel could not be built",
        )
    finally:
        parts.unlink()
    return [wheel(), DIST / f"robgui-{version()}.tar.gz"]


def wheel() -> Path:
    """Where the wheel lies."""
    return DIST / f"robgui-{version()}-py3-none-any.whl"


# ---------------------------------------------------------------- the application


def make_app() -> list[Path]:
    """Freezes the wheel into dist/app/robgui and tries it."""
    prepare_builder()
    spec = HERE / "pyinstaller" / "robgui.spec"
    places: list[str | Path] = ["--distpath", APP.parent, "--workpath", BUILD / "pyinstaller"]
    # not the checkout: its robgui must not hide the wheel's
    with tempfile.TemporaryDirectory() as folder:
        command: list[str | Path] = [
            BUILDER,
            "-P",
            "-m",
            "PyInstaller",
            "--noconfirm",
            *places,
            spec,
        ]
        must(
            command,
            "The application could not be made",
            folder=folder,
            extra={"PYI_LOG_LEVEL": "WARN"},
        )
    if sys.platform.startswith("linux"):
        strip_symbols(APP / "_internal")
    make_list(BUILDER, APP / LIST)
    smoke(PROGRAM)
    beside = DIST / f"robgui-{version()}.{LIST}"
    shutil.copy(APP / LIST, beside)
    return [APP, beside]


def make_list(python: Path, target: Path) -> Path:
    """Writes what robgui is made of, as ``python`` finds it, in CycloneDX JSON."""
    must([python, "-P", HERE / "sbom.py", target], "The list of packages could not be made")
    return target


def prepare_builder() -> None:
    """Makes build/venv with the pinned versions, torch first and alone, and the new wheel."""
    if not BUILDER.exists():
        must([sys.executable, "-m", "venv", BUILD / "venv"], "build/venv could not be made")
    torch = next(
        line
        for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines()
        if line.startswith("torch==")
    )
    pip: list[str | Path] = [
        BUILDER,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--constraint",
        CONSTRAINTS,
    ]
    known = hashes_for("app")
    if known.is_file():  # without their dependencies, so that none of them replaces torch
        exactly = [*pip[:-2], "--require-hashes", "--no-deps", "--requirement", known]
        must(exactly, "pip could not install the packages that packaging/hashes names")
    must([*pip, torch], f"pip could not install {torch}")
    if cuda := output([str(BUILDER), "-c", "import torch; print(torch.version.cuda or '')"]):
        raise Problem(
            f"pip has chosen torch's build for CUDA {cuda}, which would make an application of"
            f" several GB; install the CPU build of {torch} into build/venv and start again."
        )
    must([*pip, f"{wheel()}[{EXTRAS}]"], "pip could not install the wheel")
    must([*pip, "--force-reinstall", "--no-deps", wheel()], "pip could not install the wheel")


def strip_symbols(folder: Path) -> None:
    """Takes what only linkers and debuggers read out of the libraries, an eighth of the whole.

    Not out of what the wheels brought along in ``*.libs``: these files were rearranged after
    linking, and strip breaks such files.
    """
    paths = [
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and not path.parent.name.endswith(".libs")
    ]
    for path in paths:
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        must(["strip", "--strip-unneeded", path], f"{path} could not be stripped")


SUITE = """
[[models]]
path = "demo:fashion_mlp.pt2"

[[models]]
path = "demo:fashion_cnn.safetensors"

[[datasets]]
path = "demo:fashion.npz"
index = "0:2"

[[analyses]]
name = "zonnscan"
params = { samples = 64, radii = "0:0.4:3" }
"""

#: Model, data and settings of one short run per format that the demo has; a result differs when a
#: file is missing.
RUNS = {
    "zonnscan": ("zonnscan", "fashion_mlp.pt2", "fashion.npz", "--samples", "64"),
    "onnx": ("zonnscan", "table_mlp.onnx", "table.csv", "--samples", "64"),
    "sklearn": ("zonnscan", "table_forest.skops", "table.csv", "--samples", "64"),
}


def smoke(program: Path) -> None:
    """Tries the application the way a user would.

    The window opens and closes, runs give the wheel's results, batches have workers, reports are
    written, and the doctor is content.
    """
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "suite.toml").write_text(SUITE, encoding="utf-8")
        batch = ["batch", "suite.toml", "--workers", "2", "--workspace", "batch.robgui"]
        report = ["report", "batch.robgui", "--html", "report.html", "--pdf", "report.pdf"]
        for arguments in (["gui"], batch, report, ["doctor"]):
            attempt([program], arguments, home)
        for name, run in RUNS.items():
            module: list[str | Path] = [BUILDER, "-P", "-m", "robgui"]
            frozen, plain = outcome([program], run, home), outcome(module, run, home)
            if frozen != plain:
                raise Problem(
                    f"The application's result of the run {name} is not that of the wheel;"
                    " something is missing in it."
                )


def outcome(start: Sequence[str | Path], run: Sequence[str], home: str) -> dict[str, Any]:
    """The result of a short run on the demo's files."""
    analysis, model, data, *settings = run
    demo = ROOT / "resources" / "demo"
    chosen = ["--model", str(demo / model), "--data", str(demo / data), "--index", "0"]
    attempt(start, ["run", analysis, *chosen, *settings, "--out", "result.json"], home)
    result: dict[str, Any] = json.loads((Path(home) / "result.json").read_text(encoding="utf-8"))[
        "result"
    ]
    return result


def attempt(start: Sequence[str | Path], arguments: Sequence[str], home: str) -> None:
    """Runs robgui with these arguments, away from the user's folders."""
    print(
        f"Trying the {'application' if start[0] == PROGRAM else 'wheel'}: robgui"
        f" {' '.join(arguments)}",
        flush=True,
    )
    must(
        [*start, *arguments],
        f"robgui {arguments[0]} does not work in {start[0]}",
        folder=home,
        extra=_alone(home),
    )


def _alone(home: str) -> dict[str, str]:
    """No screen, and user folders of its own."""
    folders = dict.fromkeys(
        ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "APPDATA"),
        home,
    )
    return {**folders, "QT_QPA_PLATFORM": "offscreen", "ROBGUI_QUIT_AFTER": "2"}


# ---------------------------------------------------------------- packages around the application


def make_deb() -> list[Path]:
    """Packs the application as a Debian package with desktop entry, icons and MIME type."""
    if not shutil.which("dpkg-deb"):
        raise Problem("dpkg-deb is missing; make the Debian package on Debian or Ubuntu.")
    architecture = output(["dpkg", "--print-architecture"])
    tree = BUILD / "deb"
    shutil.rmtree(tree, ignore_errors=True)
    lay_out(tree)
    write_control(tree, architecture)
    target = DIST / f"robgui_{version()}_{architecture}.deb"
    must(
        ["dpkg-deb", "--root-owner-group", "-Zzstd", "-z10", "--build", tree, target],
        "The Debian package could not be made",
    )
    shutil.rmtree(tree)
    return [target]


def lay_out(tree: Path) -> None:
    """Every file of the Debian package where it will lie."""
    shutil.copytree(APP, tree / "usr" / "lib" / "robgui", symlinks=True)
    share(tree / "usr" / "share")
    (tree / "usr" / "bin").mkdir()
    (tree / "usr" / "bin" / "robgui").symlink_to("../lib/robgui/robgui")
    papers = tree / "usr" / "share" / "doc" / "robgui"
    papers.mkdir(parents=True)
    shutil.copy(HERE / "deb" / "copyright", papers)
    for path in tree.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def share(target: Path) -> None:
    """Desktop entry, metainfo, MIME type and icons, as any Linux package puts them under share/."""
    shutil.copytree(HERE / "linux" / "share", target)
    icons = target / "icons" / "hicolor" / "scalable"
    for folder, name in (("apps", "robgui.svg"), ("mimetypes", "application-x-robgui.svg")):
        (icons / folder).mkdir(parents=True)
        shutil.copy(ROOT / "resources" / "icons" / "app.svg", icons / folder / name)


def write_control(tree: Path, architecture: str) -> None:
    """What dpkg must know of the package."""
    kilobytes = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_dir()) // 1024
    text = (HERE / "deb" / "control").read_text(encoding="utf-8")
    control = tree / "DEBIAN" / "control"
    control.parent.mkdir()
    libc = platform.libc_ver()[1]  # the system libraries in the application were built for it
    control.write_text(
        text.format(version=version(), architecture=architecture, kilobytes=kilobytes, libc=libc),
        encoding="utf-8",
    )


def make_installer() -> list[Path]:
    """The installer of Windows or the disk image of macOS, around the application.

    Both recipes are untested.
    """
    if sys.platform == "win32":
        compiler = shutil.which("iscc") or r"C:\Program Files (x86)\Inno Setup 6\ISCC.exe"
        must(
            [compiler, f"/DVersion={version()}", HERE / "windows" / "robgui.iss"],
            "Inno Setup could not make the installer",
        )
        return [DIST / f"robgui-{version()}-setup.exe"]
    if sys.platform == "darwin":
        must([HERE / "macos" / "make_dmg.sh", version()], "The disk image could not be made")
        return [DIST / f"robgui-{version()}.dmg"]
    return make_deb()


MAKERS = {"wheel": make_wheel, "app": make_app, "installer": make_installer}


def make(wanted: Sequence[str]) -> None:
    """Makes what is wanted and what it is made of, or everything, and tells the sizes."""
    if unknown := set(wanted) - set(MAKERS):
        raise Problem(
            f"package makes {', '.join(MAKERS)} or, without a word, all of them, not:"
            f" {' '.join(sorted(unknown))}."
        )
    names = list(MAKERS)  # each is made of the one before it
    last = max((names.index(name) for name in wanted), default=len(names) - 1)
    made = [path for name in names[: last + 1] for path in MAKERS[name]()]
    for path in made:
        print(f"{path.relative_to(ROOT)}: {size(path) / 1e6:,.1f} MB")


def size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return (
        sum(one.lstat().st_size for one in path.rglob("*") if not one.is_dir())
        if path.is_dir()
        else path.stat().st_size
    )
