"""Makes, checks and repairs .venv and the system around it, with the standard library only.

A stamp inside .venv says what was installed. It is written last, so an interrupted installation is
found and completed at the next start.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "robgui-setup.json"
TRIED = VENV / "robgui-system-packages.json"
LOCK = ROOT / ".venv.lock"
CONSTRAINTS = ROOT / "packaging" / "constraints.txt"
HASHES = ROOT / "packaging" / "hashes"
OS_RELEASE = Path("/etc/os-release")
OLDEST = (3, 11)
#: What .venv takes with the CPU build of torch; the CUDA build needs several times as much.
SPACE_NEEDED = 3 * 10**9


class Problem(Exception):  # noqa: N818 - it is shown as a sentence, not as an error class
    """Something that a person has to do; the message is one sentence that says what."""


def prepare(*, again: bool = False) -> None:
    """Makes .venv what it should be; costs next to nothing when the stamp says that it is."""
    if not again and is_current():
        return
    with only_one() as lock:
        if again or not is_current():
            install(lock)


def is_current() -> bool:
    """True if the stamp fits the project's files, its place, the interpreter and .venv."""
    try:
        return PYTHON.exists() and json.loads(STAMP.read_text(encoding="utf-8")) == stamp()
    except (OSError, ValueError):
        return False


def stamp() -> dict[str, Any]:
    """What an installation depends on.

    The folder's time changes with every package added or removed.
    """
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [
        document["project"],
        document["build-system"],
        document["tool"]["hatch"],
        CONSTRAINTS.read_text(encoding="utf-8"),
        hashes_for("dev").read_text(encoding="utf-8") if hashes_for("dev").is_file() else "",
    ]
    return {
        "place": str(ROOT),
        "wanted": hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest(),
        "interpreter": (VENV / "pyvenv.cfg").read_text(encoding="utf-8"),
        "changed": site_packages().stat().st_mtime_ns,
    }


def install(lock: IO[str]) -> None:
    """Makes or repairs .venv step by step, and writes the stamp last."""
    moved = was_moved()
    STAMP.unlink(missing_ok=True)
    start = time.monotonic()
    if moved or not is_usable():
        progress(1, "Making .venv")
        make_environment()
    forget_broken_packages()
    torch = next(
        line
        for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines()
        if line.startswith("torch==")
    )
    progress(2, f"Installing {torch} (the largest part; minutes the first time)")
    known = hashes_for("dev")
    if known.is_file():  # without their dependencies, so that none of them replaces torch
        pip(lock, "--require-hashes", "--no-deps", "--requirement", str(known))
    pip(lock, torch)
    progress(3, "Installing the other packages")
    pip(lock, "hatchling")
    pip(lock, "--no-build-isolation", "--editable", f"{ROOT}[dev]")
    progress(4, "Checking that they can be imported")
    # Not Qt: it needs system libraries, which check_window sees to.
    if call([PYTHON, "-c", "import torch, numpy, scipy, cv2, pydantic"]):
        raise Problem(
            f"The installed packages cannot be imported (the reason is above); delete {VENV} and"
            " start again."
        )
    write_stamp()
    print(f"Installed in {time.monotonic() - start:.0f} s.", flush=True)


def progress(number: int, what: str) -> None:
    """Prints one step of the installation."""
    print(f"[{number}/4] {what}", flush=True)


def write_stamp() -> None:
    """Writes the stamp in one move, so that half a stamp never counts."""
    half = STAMP.with_suffix(".part")
    half.write_text(json.dumps(stamp(), indent=1), encoding="utf-8")
    half.replace(STAMP)


def was_moved() -> bool:
    """True if .venv was made in another folder; its scripts point there."""
    try:
        return bool(json.loads(STAMP.read_text(encoding="utf-8"))["place"] != str(ROOT))
    except (OSError, ValueError, KeyError):
        return False


def is_usable() -> bool:
    """True if .venv holds a Python that is new enough and has pip."""
    if not PYTHON.exists():
        return False
    question = (
        f"import sys, pip; sys.exit(sys.version_info < {OLDEST} or sys.prefix == sys.base_prefix)"
    )
    return call([PYTHON, "-c", question], quiet=True) == 0


def make_environment() -> None:
    """Makes .venv anew with the running Python."""
    if VENV.is_symlink():  # what it points to belongs to another folder, and would be emptied
        raise Problem(f"{VENV} is a link; remove it, and it is made here.")
    free = shutil.disk_usage(ROOT).free
    if free < SPACE_NEEDED:
        print(
            f"Warning: only {free / 1e9:.1f} GB are free under {ROOT}; about"
            f" {SPACE_NEEDED / 1e9:.0f} GB are needed.",
            file=sys.stderr,
        )
    if not (importlib.util.find_spec("ensurepip") and importlib.util.find_spec("venv")):
        package = "python%d.%d-venv" % sys.version_info[:2]  # noqa: UP031 - shorter than the f-string
        if install_system_packages([package], "Python's venv module is missing."):
            raise Problem(
                f"Python's venv module is missing; install it with: apt-get install {package}"
            )
    if call([sys.executable, "-m", "venv", "--clear", VENV]):
        raise Problem(
            f"{VENV} cannot be made (the reason is above); check that the folder may be written and"
            " start again."
        )


def site_packages() -> Path:
    """Where .venv keeps its packages."""
    found = (
        [VENV / "Lib" / "site-packages"]
        if os.name == "nt"
        else sorted(VENV.glob("lib/python3.*/site-packages"))
    )
    if not found:
        raise FileNotFoundError(2, "there are no packages", str(VENV))
    return found[-1]


def forget_broken_packages() -> None:
    """Removes the records of half-installed packages, so that pip installs them again."""
    site = site_packages()
    for leftover in site.glob("~*"):
        shutil.rmtree(leftover, ignore_errors=True)
    for record in site.glob("*.dist-info"):
        if not is_complete(record):
            print(
                f"    {record.name.removesuffix('.dist-info')} is incomplete and will be installed"
                " again.",
                flush=True,
            )
            shutil.rmtree(record)


def is_complete(record: Path) -> bool:
    """True if every file that a package's RECORD names is there with its size.

    Compiled files are Python's to remake.
    """
    files = importlib.metadata.Distribution.at(record).files
    if not files:
        return False
    for file in files:
        if file.suffix == ".pyc":
            continue
        try:
            size = os.stat(file.locate()).st_size  # noqa: PTH116 - thirty thousand files: a second faster
        except OSError:
            return False
        if file.size not in (None, size):
            return False
    return True


def hashes_for(purpose: str) -> Path:
    """The file of hashes for this system and this Python; there need not be one."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return HASHES / f"{sys.platform}-{platform.machine().lower()}-{python}.{purpose}.txt"


def pip(lock: IO[str], *what: str) -> None:
    """Installs with the pinned versions; pip holds the lock too, in case this process is killed."""
    versions: list[str | Path] = ["--constraint", CONSTRAINTS]
    if "--require-hashes" in what:
        versions = []
    shown = [] if sys.stdout.isatty() else ["--quiet"]
    command: list[str | Path] = [
        PYTHON,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        *shown,
        *versions,
        *what,
    ]
    if call(command, held=lock):
        raise Problem(
            f"pip could not install {what[-1]} (its reason is above); check the network and start"
            " again: what is done is kept. Where it says that hashes do not match, the index"
            " offers other files than packaging/hashes names: find out why before you go on."
        )


@contextlib.contextmanager
def only_one() -> Iterator[IO[str]]:
    """Waits until no other dev.py installs; the lock ends with the process, however it ends."""
    with LOCK.open("a", encoding="utf-8") as file:
        if not try_lock(file):
            print("Another start is setting up .venv; waiting for it.", flush=True)
            while not try_lock(file):
                time.sleep(0.2)
        yield file


def try_lock(file: IO[str]) -> bool:
    """Takes the lock on ``file`` if nobody has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


# ---------------------------------------------------------------- the system around it


def check_window() -> str:
    """Sees to the system libraries; returns why there can be no window, or nothing."""
    checks = {check["name"]: check for check in window_checks()}
    always, x11, display = checks["qt libraries"], checks["x11 libraries"], checks["display"]
    wanted = [*always["packages"]]
    if display["state"] == "OK" or is_root():
        wanted += x11["packages"]
    missing = set(install_system_packages(wanted, "Qt needs them."))
    if missing & set(always["packages"]):
        raise Problem("Qt cannot start without these packages; install them and start again.")
    if display["state"] != "OK":
        return str(display["sentence"])
    return (
        "Qt cannot open a window without these packages."
        if x11["state"] == "FAIL" and missing & set(x11["packages"])
        else ""
    )


def has_display() -> bool:
    """True if a window could be shown."""
    return all(check["state"] == "OK" for check in window_checks())


def missing_libraries() -> list[str]:
    """Debian packages that Qt lacks for an X11 window."""
    return [str(package) for check in window_checks() for package in check["packages"]]


def window_checks() -> list[dict[str, Any]]:
    """What robgui.doctor says about display and system libraries."""
    answer = subprocess.run(
        [PYTHON, "-P", "-m", "robgui.doctor", "--only", "window", "--json"],
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode not in (0, 1):
        raise Problem(
            "The self-check does not run; start again after: python3 packaging/dev.py"
            f" setup\n{answer.stderr}"
        )
    return list(json.loads(answer.stdout)["checks"])


def install_system_packages(packages: Sequence[str], why: str) -> list[str]:
    """Installs Debian packages when that is possible, else names them.

    Returns those still missing.
    """
    if not packages:
        return []
    hint = f"apt-get install {' '.join(packages)}"
    if not is_debian():
        print(
            f"System packages are missing. {why} Their Debian names are: {' '.join(packages)}",
            file=sys.stderr,
            flush=True,
        )
        return list(packages)
    if not is_root() or set(packages) <= already_tried():
        print(
            f"System packages are missing. {why} Install them with: sudo {hint}",
            file=sys.stderr,
            flush=True,
        )
        return list(packages)
    print(f"Installing system packages: {' '.join(packages)}", flush=True)
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    options = ["-qq", "-o", "DPkg::Lock::Timeout=120"]
    call(["apt-get", *options, "update"], quiet)
    if (
        call(
            ["apt-get", *options, "install", "--yes", "--no-install-recommends", *packages],
            quiet,
            silent=True,
        )
        == 0
    ):
        return []
    remember_tried(packages)
    print(
        f"Warning: system packages could not be installed. {why} Try by hand: {hint}",
        file=sys.stderr,
        flush=True,
    )
    return list(packages)


def is_debian() -> bool:
    """True on Debian, Ubuntu and what descends from them."""
    if (
        not sys.platform.startswith("linux")
        or not shutil.which("apt-get")
        or not OS_RELEASE.is_file()
    ):
        return False
    fields = dict(
        line.partition("=")[::2] for line in OS_RELEASE.read_text(encoding="utf-8").splitlines()
    )
    family = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', " ").split()
    return "debian" in family or "ubuntu" in family


def is_root() -> bool:
    """True if this process may install system packages."""
    return sys.platform != "win32" and os.geteuid() == 0


def already_tried() -> set[str]:
    """Packages that could not be installed earlier; ``setup`` tries them again."""
    try:
        return set(json.loads(TRIED.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return set()


def remember_tried(packages: Sequence[str]) -> None:
    """Notes a failed installation, so that the next start does not lose time with it."""
    if VENV.is_dir():
        TRIED.write_text(json.dumps(sorted(already_tried() | set(packages))), encoding="utf-8")


# ---------------------------------------------------------------- processes


def clean_environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """The environment without what would lead Python and pip out of .venv."""
    misleading = (
        "PYTHONHOME",
        "PYTHONPATH",
        "PIP_USER",
        "PIP_TARGET",
        "PIP_PREFIX",
        "PIP_CONSTRAINT",
    )
    kept = {name: value for name, value in os.environ.items() if name not in misleading}
    return {**kept, "VIRTUAL_ENV": str(VENV), "PYTHONUTF8": "1", **(extra or {})}


def call(
    command: Sequence[str | Path],
    extra: dict[str, str] | None = None,
    *,
    held: IO[str] | None = None,
    quiet: bool = False,
    silent: bool = False,
) -> int:
    """Runs a command to its end and returns its exit code; an interruption waits for it.

    Args:
        command: Program and arguments.
        extra: Additional environment variables.
        held: An open lock file that the command holds too.
        quiet: Shows neither its output nor its errors.
        silent: Shows its errors only.
    """
    nowhere = subprocess.DEVNULL
    descriptors = (held.fileno(),) if held and os.name == "posix" else ()
    process = subprocess.Popen(
        [str(part) for part in command],
        env=clean_environment(extra),
        pass_fds=descriptors,
        stdout=nowhere if quiet or silent else None,
        stderr=nowhere if quiet else None,
    )
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.wait()
        raise


def become(command: Sequence[str | Path], extra: dict[str, str] | None = None) -> int:
    """Replaces this process by ``command``, so that signals and the exit code are its own."""
    if os.name == "nt":
        return call(command, extra)
    sys.stdout.flush()
    return os.execve(str(command[0]), [str(part) for part in command], clean_environment(extra))
