"""Tries what may crash or hang (Qt, OpenGL, torch, OpenCV), each in its own process.

``robgui doctor --probe NAME`` runs one and prints what it found as JSON.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Symbols that the window shows; a font without them shows boxes.
SIGNS = "×≤≥²⁻→·…–±°Δε√∞"
#: The variable that names a folder a worker must not write to.
OUTSIDE = "ROBGUI_DOCTOR_OUTSIDE"


def qt() -> dict[str, Any]:
    """Starts a Qt application; tells its platform."""
    from PySide6.QtCore import qVersion
    from PySide6.QtWidgets import QApplication

    app = QApplication(["robgui"])
    return {"version": qVersion(), "platform": app.platformName()}


def fonts() -> dict[str, Any]:
    """Lists the fonts that Qt finds, and the signs that they lack."""
    from PySide6.QtGui import QFontDatabase, QFontMetrics, QGuiApplication

    app = QGuiApplication(["robgui"])
    metrics = QFontMetrics(app.font())
    return {
        "families": len(QFontDatabase.families()),
        "family": app.font().family(),
        "fixed": QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family(),
        "missing": "".join(sign for sign in SIGNS if not metrics.inFontUcs4(ord(sign))),
    }


def gl() -> dict[str, str]:
    """Makes an OpenGL context; tells who draws, or nothing when there is none."""
    from PySide6.QtGui import QGuiApplication, QOffscreenSurface, QOpenGLContext

    app = QGuiApplication(["robgui"])
    surface, context = QOffscreenSurface(), QOpenGLContext()
    surface.create()
    if not (context.create() and context.makeCurrent(surface)):
        return {"platform": app.platformName(), "renderer": ""}
    # GL_RENDERER, GL_VERSION
    renderer, version = (context.functions().glGetString(name) for name in (0x1F01, 0x1F02))
    context.doneCurrent()
    return {
        "platform": app.platformName(),
        "renderer": str(renderer or "unnamed"),
        "version": str(version or ""),
    }


def torch() -> dict[str, Any]:
    """Imports torch, and computes on each graphics card."""
    # torch warns at length of an old driver, which is reported in a sentence.
    warnings.simplefilter("ignore")
    import torch as library

    names, broken = [], []
    for number in range(library.cuda.device_count()) if library.cuda.is_available() else ():
        names.append(library.cuda.get_device_name(number))
        try:
            # Listed is not usable: a build may lack kernels for this card. ``item`` waits for them.
            library.ones(2, device=f"cuda:{number}").sum().item()
        except RuntimeError as error:
            broken.append(f"{names[-1]}: {str(error).partition(chr(10))[0]}")
    return {
        "version": library.__version__,
        "cuda": library.version.cuda or "",
        "devices": names,
        "broken": broken,
        "threads": library.get_num_threads(),
    }


def opencv() -> dict[str, str]:
    """Imports OpenCV; tells its version and the window system it was built with."""
    import cv2

    lines = [
        line.partition(":")[2].strip()
        for line in cv2.getBuildInformation().splitlines()
        if line.strip().startswith("GUI:")
    ]
    return {"version": cv2.__version__, "gui": lines[0] if lines else ""}


def onnx() -> dict[str, Any]:
    """Imports onnxruntime; tells what it can compute on."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    return {"version": onnxruntime.__version__, "providers": onnxruntime.get_available_providers()}


def sklearn() -> list[str]:
    """Imports scikit-learn and skops; tells their versions."""
    import sklearn as library
    import skops
    import skops.io

    return [library.__version__, skops.__version__]


def methods() -> dict[str, list[str]]:
    """Loads every method; tells their titles, and a sentence for each that cannot be loaded."""
    from robgui.core.execution.method import methods as found
    from robgui.core.execution.method import problems

    return {"titles": [method.title for method in found()], "problems": list(problems())}


def confinement() -> dict[str, Any]:
    """Confines itself as a worker does, and reports what it could still do.

    Its own folder is the temporary one; the doctor names the folder that must be refused.
    """
    from robgui.core.execution.worker.confinement import attempts, confine

    held = confine(Path(os.environ["TMPDIR"]))
    target = attempts.Target(Path(os.environ[OUTSIDE]), os.getppid())
    found = attempts.possible(target)
    return {"landlock": held.landlock, "calls": held.calls, "possible": found}


PROBES: dict[str, Callable[[], Any]] = {
    "qt": qt,
    "fonts": fonts,
    "gl": gl,
    "torch": torch,
    "opencv": opencv,
    "onnx": onnx,
    "sklearn": sklearn,
    "methods": methods,
    "confinement": confinement,
}
