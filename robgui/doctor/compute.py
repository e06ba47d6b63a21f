"""What computes: torch, its CUDA build and the driver."""

from __future__ import annotations

import re

from robgui.doctor.check import Check, numbers, output, probe


def check_torch() -> Check:
    """Checks that torch imports and its CUDA build fits the driver."""
    found, error = probe("torch")
    if found is None:
        return Check("torch", "FAIL", f"torch cannot be imported: {error}")
    name = f"torch {found['version']}"
    driver, newest = driver_versions()
    if found["broken"]:
        return Check(
            "torch",
            "FAIL",
            f"{name} with CUDA {found['cuda']} does not compute on {'; '.join(found['broken'])}",
        )
    if found["devices"]:
        return Check(
            "torch",
            "OK",
            f"{name} with CUDA {found['cuda']} and driver {driver or 'unknown'}:"
            f" {', '.join(found['devices'])}. “robgui selftest” proves every analysis there.",
        )
    if not driver:
        threads = f"{found['threads']} thread{'s' * (found['threads'] != 1)}"
        return Check(
            "torch", "OK", f"{name} computes on the CPU with {threads}; there is no NVIDIA driver."
        )
    if not found["cuda"]:
        return Check(
            "torch",
            "WARN",
            f"{name} is a build for the CPU, but an NVIDIA driver {driver} is here; a CUDA build"
            " would be faster.",
        )
    # "CUDA Version" of nvidia-smi is the newest that the driver can run, not what is installed.
    if newest and numbers(newest) < numbers(found["cuda"]):
        limit = f", which goes up to CUDA {newest}"
    else:
        limit = ""
    remedy = "update the driver or install a torch for it"
    return Check(
        "torch",
        "WARN",
        f"{name} with CUDA {found['cuda']} cannot use driver {driver}{limit}; {remedy}.",
    )


def driver_versions() -> tuple[str, str]:
    """The NVIDIA driver and the newest CUDA it can run; empty if there is none."""
    # Not torch, which says nothing of a driver that it cannot use.
    told = output(["nvidia-smi"])
    driver, newest = (
        re.search(rf"{what} Version:\s*([\d.]+)", told) for what in ("Driver", "CUDA")
    )
    return driver[1] if driver else "", newest[1] if newest else ""
