"""What is installed, what is broken, in sentences a person can act on.

Imports nothing beyond the standard library, so that it runs where everything else fails; whatever may crash
(Qt, torch, OpenCV) is tried in a process of its own.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

State = Literal["OK", "WARN", "FAIL"]

#: Versions of PySide6 that are known to misbehave: version, Python versions below this only, what happens.
BROKEN_QT = (
    ("6.11.0", (99, 0), "it breaks the docks"),
    ("6.11.1", (99, 0), "it breaks the docks"),
    ("6.12.0", (3, 12), "it loses references on this Python and aborts a live plot"),
)

#: Debian package of each system library that Qt may lack.
DEBIAN_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}

SPACE_WANTED = 10**9


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: its name, whether it is well, a sentence, and Debian packages that would help."""

    name: str
    state: State
    sentence: str
    packages: tuple[str, ...] = ()


def check_python() -> Check:
    """Python's version and whether it lives in an environment of its own."""
    here = f"Python {platform.python_version()} on {platform.platform(terse=True)} ({sys.executable})"
    if sys.version_info < (3, 11):  # noqa: UP036 - the doctor is for machines where this may be wrong
        return Check("python", "FAIL", f"{here} is too old; install Python 3.11 or newer.")
    return Check("python", "OK", f"{here}.")


def check_requirements() -> Check:
    """Every runtime dependency of robgui is there in a version that robgui accepts."""
    try:
        stated = importlib.metadata.requires("robgui") or []
        from packaging.requirements import Requirement
    except ImportError:  # PackageNotFoundError is one too
        return Check("packages", "WARN", "robgui itself is not installed, so its packages are not checked; install it with: pip install .")
    required = [Requirement(line) for line in stated]
    problems = [text for one in required if one.marker is None or one.marker.evaluate({"extra": ""}) if (text := _unmet(one))]
    if problems:
        return Check("packages", "FAIL", f"{'; '.join(problems)}. Install what robgui needs with: pip install --upgrade robgui")
    return Check("packages", "OK", f"robgui {importlib.metadata.version('robgui')} has all the packages it needs.")


def _unmet(requirement: Any) -> str:
    found = _version(requirement.name)
    if found is None:
        return f"{requirement.name} is missing"
    if not requirement.specifier.contains(found, prereleases=True):
        return f"{requirement.name} {found} does not fit {requirement.specifier}"
    return ""


def check_qt_version() -> Check:
    """PySide6 is installed and not one of the versions known to be broken."""
    found = _version("PySide6-Essentials")
    if found is None:
        return Check("qt version", "FAIL", "PySide6 is not installed; install it with: pip install PySide6-Essentials")
    for version, below, harm in BROKEN_QT:
        if found == version and sys.version_info < below:
            return Check(
                "qt version",
                "FAIL",
                f"PySide6 {found} is known to be broken ({harm}); install another: pip install PySide6-Essentials==6.11.3",
            )
    if _numbers(found) < (6, 8):
        return Check("qt version", "FAIL", f"PySide6 {found} is too old; upgrade it with: pip install --upgrade PySide6-Essentials")
    return Check("qt version", "OK", f"PySide6 {found}.")


def check_display() -> Check:
    """There is a screen to show a window on."""
    problem = display_problem(os.environ)
    if problem:
        return Check("display", "WARN", problem)
    return Check("display", "OK", "There is a display for the window.")


def display_problem(environment: Mapping[str, str]) -> str:
    """Why no window can be shown with these environment variables; empty when one can.

    Only Linux and other X11 systems can lack a display. The display named is asked for an answer, since a
    stale DISPLAY makes Qt abort.
    """
    if sys.platform in ("win32", "darwin"):
        return ""
    wayland, x11 = environment.get("WAYLAND_DISPLAY", ""), environment.get("DISPLAY", "")
    if wayland and _answers(socket.AF_UNIX, str(Path(environment.get("XDG_RUNTIME_DIR", "/")) / wayland)):
        return ""
    if x11 and _x11_answers(x11):
        return ""
    if x11 or wayland:
        return f"The display {x11 or wayland} does not answer; log in at the screen, use ssh -X, or start Xvfb."
    return "There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)."


def window_problem(environment: Mapping[str, str]) -> str:
    """Why Qt would abort instead of opening a window, in a sentence; empty when it would not."""
    checks = [check_qt_libraries()]
    if not environment.get("QT_QPA_PLATFORM"):
        if problem := display_problem(environment):
            return problem
        checks.append(check_x11_libraries())
    return next((f"{check.sentence}." for check in checks if check.state == "FAIL"), "")


def _x11_answers(display: str) -> bool:
    match = re.fullmatch(r"(?:unix/?)?([^:]*):(\d+)(?:\.\d+)?", display)
    if match is None:
        return Path(display.partition(":")[0]).exists()  # a socket's own path, as on macOS
    host, number = match[1], int(match[2])
    if host:
        return _answers(socket.AF_INET, (host, 6000 + number))
    path = f"/tmp/.X11-unix/X{number}"
    return _answers(socket.AF_UNIX, path) or _answers(socket.AF_UNIX, "\0" + path)


def _answers(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(2)
        try:
            connection.connect(address)
        except OSError:
            return False
    return True


def check_qt_libraries() -> Check:
    """Qt finds the system libraries that it needs even without a window."""
    missing, problem = _missing_libraries("libqoffscreen.so")
    if problem:
        return Check("qt libraries", "FAIL", problem)
    if missing:
        return _advise("qt libraries", "FAIL", "Qt cannot start", missing)
    return Check("qt libraries", "OK", "Qt has all its system libraries.")


def check_x11_libraries() -> Check:
    """Qt's X11 plugin finds its further system libraries; they matter only where it would be used."""
    missing = [name for name in _missing_libraries("libqxcb.so")[0] if name not in _missing_libraries("libqoffscreen.so")[0]]
    if not missing:
        return Check("x11 libraries", "OK", "Qt's X11 plugin has all its system libraries.")
    used = bool(os.environ.get("DISPLAY")) and not os.environ.get("WAYLAND_DISPLAY")
    return _advise("x11 libraries", "FAIL" if used else "WARN", "Qt cannot open an X11 window", missing)


def _missing_libraries(plugin: str) -> tuple[list[str], str]:
    """Libraries that a platform plugin lacks, found without importing Qt, and a sentence if the system is too old."""
    path = _platform_plugin(plugin)
    if path is None or shutil.which("ldd") is None:
        return [], ""
    lines = _output(["ldd", str(path)]).splitlines()
    missing = sorted({match[1] for line in lines if (match := re.match(r"\s*(\S+) => not found", line))})
    wanted = [match[1] for line in lines if (match := re.search(r"version [`']([^']+)' not found", line))]
    return (
        missing,
        f"This system's C library is too old for this PySide6, which wants {wanted[0]}; install an older PySide6." if wanted else "",
    )


def _platform_plugin(name: str) -> Path | None:
    try:
        files = importlib.metadata.distribution("PySide6-Essentials")
    except importlib.metadata.PackageNotFoundError:
        return None
    path = Path(str(files.locate_file(f"PySide6/Qt/plugins/platforms/{name}")))
    return path if path.is_file() else None


def _advise(name: str, state: State, trouble: str, libraries: Sequence[str]) -> Check:
    packages = tuple(sorted({DEBIAN_PACKAGES[library] for library in libraries if library in DEBIAN_PACKAGES}))
    unknown = [library for library in libraries if library not in DEBIAN_PACKAGES]
    advice = f"on Debian and Ubuntu: apt-get install {' '.join(packages)}" if packages else "install the packages that hold them"
    also = f", and the packages with {', '.join(unknown)}" if packages and unknown else ""
    return Check(name, state, f"{trouble} without {', '.join(libraries)}; {advice}{also}", packages)


def check_qt_starts() -> Check:
    """A Qt application starts, on the screen if there is one."""
    chosen = os.environ.get("QT_QPA_PLATFORM") or ("offscreen" if display_problem(os.environ) else "")
    found, error = _try(_QT_PROBE, {"QT_QPA_PLATFORM": chosen} if chosen else {})
    if found is None:
        return Check("qt", "FAIL", f"Qt does not start: {error}")
    if not found["fonts"]:
        return Check(
            "qt",
            "WARN",
            "Qt finds no fonts, so text stays invisible; install some: apt-get install fonts-dejavu-core",
            ("fonts-dejavu-core",),
        )
    return Check("qt", "OK", f"Qt {found['version']} starts on the platform {found['platform']} and finds {found['fonts']} font families.")


_QT_PROBE = """
import json
from PySide6.QtCore import qVersion
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication
app = QApplication(["robgui"])
print(json.dumps({"version": qVersion(), "platform": app.platformName(), "fonts": len(QFontDatabase.families())}))
"""


def check_torch() -> Check:
    """Torch can be imported, and its CUDA build fits the driver."""
    found, error = _try(_TORCH_PROBE)
    if found is None:
        return Check("torch", "FAIL", f"torch cannot be imported: {error}")
    name = f"torch {found['version']}"
    driver = _output(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]).strip().partition("\n")[0]
    if found["devices"]:
        return Check("torch", "OK", f"{name} with CUDA {found['cuda']} and driver {driver or 'unknown'}: {', '.join(found['devices'])}.")
    if driver and not found["cuda"]:
        return Check(
            "torch", "WARN", f"{name} is a build for the CPU, but an NVIDIA driver {driver} is here; a CUDA build would be faster."
        )
    if driver:
        return Check(
            "torch", "WARN", f"{name} with CUDA {found['cuda']} cannot use driver {driver}; update the driver or install a torch for it."
        )
    return Check("torch", "OK", f"{name} computes on the CPU with {found['threads']} threads; there is no NVIDIA driver.")


_TORCH_PROBE = """
import json, warnings
warnings.simplefilter("ignore")
import torch
names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
print(json.dumps({"version": torch.__version__, "cuda": torch.version.cuda or "", "devices": names, "threads": torch.get_num_threads()}))
"""


def check_opencv() -> Check:
    """OpenCV is the flavour without a window system of its own."""
    rivals = [name for name in ("opencv-python", "opencv-contrib-python") if _version(name)]
    if rivals:
        return Check(
            "opencv",
            "FAIL",
            f"{' and '.join(rivals)} brings a Qt of its own that disturbs PySide6; replace it: pip uninstall -y {' '.join(rivals)} && "
            "pip install --force-reinstall --no-deps opencv-python-headless",
        )
    found, error = _try("import json, cv2; print(json.dumps(cv2.__version__))")
    if found is None:
        return Check("opencv", "FAIL", f"OpenCV cannot be imported: {error}")
    return Check("opencv", "OK", f"OpenCV {found} without windows of its own.")


def check_onnx() -> Check:
    """ONNX files can be read."""
    if not importlib.util.find_spec("onnxruntime"):
        return Check("onnx", "WARN", "ONNX files cannot be opened until you run: pip install 'robgui[onnx]'")
    found, error = _try("import json, onnxruntime as o; print(json.dumps([o.__version__, o.get_available_providers()]))")
    if found is None:
        return Check("onnx", "FAIL", f"onnxruntime cannot be imported: {error}")
    return Check("onnx", "OK", f"onnxruntime {found[0]} with {', '.join(name.removesuffix('ExecutionProvider') for name in found[1])}.")


def check_sklearn() -> Check:
    """Scikit-learn files can be read."""
    if not (importlib.util.find_spec("skops") and importlib.util.find_spec("sklearn")):
        return Check("scikit-learn", "WARN", "Scikit-learn models (.skops) cannot be opened until you run: pip install 'robgui[sklearn]'")
    found, error = _try("import json, sklearn, skops.io, skops; print(json.dumps([sklearn.__version__, skops.__version__]))")
    if found is None:
        return Check("scikit-learn", "FAIL", f"skops cannot be imported: {error}")
    return Check("scikit-learn", "OK", f"scikit-learn {found[0]} and skops {found[1]}.")


def check_data_folder() -> Check:
    """The folder of the default workspace can be written and has room."""
    try:
        import platformdirs
    except ImportError:
        return Check("data folder", "FAIL", "platformdirs is missing; install it with: pip install platformdirs")
    folder = Path(platformdirs.user_data_path("robgui", appauthor=False))
    existing = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        return Check(
            "data folder", "FAIL", f"{folder} cannot be written ({error.strerror}); make it writable or give a workspace elsewhere."
        )
    free = shutil.disk_usage(existing).free
    if free < SPACE_WANTED:
        return Check("data folder", "WARN", f"{folder} has only {free / 1e9:.1f} GB left; make room before long runs.")
    return Check("data folder", "OK", f"{folder} can be written and has {free / 1e9:.0f} GB left.")


SECTIONS: dict[str, tuple[Callable[[], Check], ...]] = {
    "python": (check_python, check_requirements),
    "window": (check_qt_libraries, check_x11_libraries, check_display),
    "qt": (check_qt_version, check_qt_starts),
    "compute": (check_torch,),
    "formats": (check_opencv, check_onnx, check_sklearn),
    "files": (check_data_folder,),
}


def examine(only: Sequence[str] = ()) -> list[Check]:
    """Runs the checks of the sections named, or all, a few at a time."""
    chosen = [check for name, checks in SECTIONS.items() if not only or name in only for check in checks]
    with ThreadPoolExecutor(max_workers=4) as pool:
        return list(pool.map(lambda check: check(), chosen))


def as_text(checks: Sequence[Check]) -> str:
    """One line per check and a closing sentence, to be read or copied into a report."""
    lines = [f"{check.state:<4}  {check.name}: {check.sentence}" for check in checks]
    counts = {state: sum(check.state == state for check in checks) for state in ("FAIL", "WARN")}
    if not any(counts.values()):
        closing = "Everything is well."
    else:
        closing = f"{counts['FAIL']} to repair, {counts['WARN']} to know about."
    return "\n".join([*lines, closing])


def report() -> str:
    """Everything that was looked at, as text to copy."""
    return as_text(examine())


def main(argv: Sequence[str] | None = None) -> int:
    """Prints what was found; returns 1 if something is broken."""
    parser = argparse.ArgumentParser(prog="robgui doctor", description="Says what is installed and what is broken.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument("--only", action="append", choices=list(SECTIONS), default=[], help="look at this section only (may be repeated)")
    arguments = parser.parse_args(argv)
    checks = examine(arguments.only)
    broken = any(check.state == "FAIL" for check in checks)
    print(json.dumps({"ok": not broken, "checks": [asdict(check) for check in checks]}, indent=1) if arguments.json else as_text(checks))
    return int(broken)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _output(command: Sequence[str]) -> str:
    """What a program prints, both streams; empty when it is not there or hangs."""
    try:
        answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout + answer.stderr if answer.returncode == 0 else ""


def _try(code: str, environment: Mapping[str, str] | None = None) -> tuple[Any, str]:
    """Runs Python code in a process of its own; returns the JSON it prints, or None and the reason."""
    command = [sys.executable, "-P", "-c", code]
    variables = {**os.environ, **(environment or {})}
    try:
        answer = subprocess.run(
            command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    if answer.returncode == 0:
        return json.loads(answer.stdout.splitlines()[-1]), ""
    lines = [line for line in answer.stderr.strip().splitlines() if line.strip()]
    told = 0 if answer.returncode < 0 else -1  # an abort tells its reason first, a Python error last
    return None, lines[told] if lines else f"the process ended with code {answer.returncode}"


if __name__ == "__main__":
    sys.exit(main())
