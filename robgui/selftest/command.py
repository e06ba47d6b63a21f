"""``robgui selftest``: the page goes to stdout, progress to stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from robgui.selftest.jobs import JOBS


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="robgui selftest",
        description=(
            "Runs every analysis on a device and on the processor, on the demo, and compares; one"
            " page to copy."
        ),
    )
    made.add_argument("--device", default="", help="such as cuda:0; the best one by default")
    made.add_argument(
        "--only",
        action="append",
        choices=[job.analysis for job in JOBS],
        default=[],
        help="this analysis only (may be repeated)",
    )
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the page; returns 1 if an analysis fails on the device or says something else."""
    given = parser().parse_args(argv)
    import torch

    from robgui.core.devices import default_device, devices
    from robgui.core.errors import ParamsError
    from robgui.selftest.page import page, passed
    from robgui.selftest.proof import prove

    known = [name for name, _ in devices()]
    if given.device and given.device not in (*known, *(name.partition(":")[0] for name in known)):
        raise ParamsError(
            f"There is no device {given.device!r} here; choose one of: {', '.join(known)}."
        )
    if given.device:
        device = torch.device(given.device)
    else:
        device = default_device()
    jobs = [job for job in JOBS if not given.only or job.analysis in given.only]
    proofs = []
    for proof in prove(device, jobs):
        proofs.append(proof)
        print(f"{len(proofs)}/{len(jobs)} {proof.title}: {proof.outcome}", file=sys.stderr)
    print(page(proofs, device))
    return int(not passed(proofs))
