"""The methods that are installed, ours and those of other packages."""

from __future__ import annotations

from robgui.doctor.check import Check, probe


def check_methods() -> Check:
    """Checks that every method loads.

    A foreign one may do anything, so it is tried in its own process.
    """
    found, error = probe("methods")
    if found is None:
        return Check("methods", "FAIL", f"The methods cannot be read: {error}")
    again = "install it again: pip install --force-reinstall --no-deps robgui"
    if not found["titles"]:
        return Check("methods", "FAIL", f"robgui finds no method, not even its own; {again}")
    # Ours broken is a broken installation; another package's is not for us to repair.
    if own := [problem for problem in found["problems"] if "(robgui." in problem]:
        return Check("methods", "FAIL", f"A method of robgui itself is broken; {again} ({own[0]})")
    if found["problems"]:
        return Check("methods", "WARN", " ".join(found["problems"]))
    return Check("methods", "OK", f"{len(found['titles'])} methods: {', '.join(found['titles'])}.")
