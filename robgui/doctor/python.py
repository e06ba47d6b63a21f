"""Python itself, the packages robgui needs, and versions known to be broken."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from typing import Any

from robgui.doctor.check import Check, frozen, version

#: Package, version, affected Python versions (below this), and what happens.
BROKEN = (
    # 99 stands for every Python.
    ("PySide6-Essentials", "6.11.0", (99, 0), "it breaks the docks"),
    ("PySide6-Essentials", "6.11.1", (99, 0), "it breaks the docks"),
    (
        "PySide6-Essentials",
        "6.12.0",
        (3, 12),
        "it loses references on this Python and aborts a live plot",
    ),
)
#: What to install instead.
WORKING = {"PySide6-Essentials": "PySide6-Essentials==6.11.3"}
#: Parts of Qt for Python that must have the same version.
ONE_VERSION = ("PySide6-Essentials", "shiboken6", "PySide6-Addons", "PySide6")


def check_python() -> Check:
    """Reports Python's version and location."""
    if frozen():
        kind = "the application's own Python"
    else:
        kind = "Python"
    here = (
        f"{kind} {platform.python_version()} on {platform.platform(terse=True)} ({sys.executable})"
    )
    return Check("python", "OK", f"{here[0].upper()}{here[1:]}.")


def check_requirements() -> Check:
    """Checks that every runtime dependency is there in a version that robgui accepts."""
    try:
        stated = importlib.metadata.requires("robgui") or []
        from packaging.requirements import Requirement
    except ImportError:  # PackageNotFoundError is one too.
        return Check(
            "packages",
            "WARN",
            "robgui itself is not installed, so its packages are not checked; install it with: pip"
            " install .",
        )
    required = [Requirement(line) for line in stated]
    problems = [
        text
        for one in required
        # An empty extra leaves out what only the extras need.
        if one.marker is None or one.marker.evaluate({"extra": ""})
        if (text := _unmet(one))
    ]
    if problems:
        return Check(
            "packages",
            "FAIL",
            f"{'; '.join(problems)}. Install what robgui needs with: pip install robgui",
        )
    return Check("packages", "OK", f"robgui {version('robgui')} has all the packages it needs.")


def _unmet(requirement: Any) -> str:
    found = version(requirement.name)
    if found is None:
        return f"{requirement.name} is missing"
    # Whoever has installed a prerelease has chosen it.
    if not requirement.specifier.contains(found, prereleases=True):
        return f"{requirement.name} {found} does not fit {requirement.specifier}"
    return ""


def check_versions() -> Check:
    """Checks that no package misbehaves by its version, and that Qt's parts belong together."""
    for package, bad, below, harm in BROKEN:
        if version(package) == bad and sys.version_info < below:
            remedy = f"install another: pip install {WORKING[package]}"
            return Check(
                "versions", "FAIL", f"{package} {bad} is known to be broken ({harm}); {remedy}"
            )
    parts = {name: found for name in ONE_VERSION if (found := version(name))}
    if len(set(parts.values())) > 1:
        told = ", ".join(f"{name} {found}" for name, found in parts.items())
        # The part that the window imports decides.
        wanted = parts.get("PySide6-Essentials", max(parts.values()))
        return Check(
            "versions",
            "FAIL",
            f"Qt's parts do not fit together ({told}); install one version: pip install"
            f" {_all(parts, wanted)}",
        )
    return Check("versions", "OK", "No package has a version that is known to be broken.")


def _all(parts: dict[str, str], wanted: str) -> str:
    return " ".join(f"{name}=={wanted}" for name in parts)
