"""The proofs as one page of plain text, to be read or copied into a report."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence

import torch

from robgui.core.devices import hardware_of, has_gpu
from robgui.selftest.proof import Proof
from robgui.version import __version__

_HEAD = ("Analysis", "Result", "Difference", "Device", "CPU", "× forward", "Calls", "Memory")
#: What no machine without a GPU can tell.
_OPEN = (
    "Not proven without a GPU: that CUDA's own kernels give these numbers, how fast it is,",
    "how much memory it takes, and what happens when an error of the device arrives late.",
)


def page(proofs: Sequence[Proof], device: torch.device) -> str:
    """Everything on one page: what ran where, a row for each analysis, what it proves."""
    host = hardware_of(torch.device("cpu")).title(torch.device("cpu"))
    rows = [_HEAD, *(_row(proof) for proof in proofs)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    table = ["  ".join(_cell(row[i], widths[i], i) for i in range(len(_HEAD))) for row in rows]
    versions = f"robgui {__version__}, torch {torch.__version__}"
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    lines = [
        "robgui self-test",
        f"{versions}, {system}",
        f"Device: {hardware_of(device).title(device)}, compared with {host}",
        "",
        table[0].rstrip(),
        "-" * (sum(widths) + 2 * len(widths) - 2),
        *(line.rstrip() for line in table[1:]),
        "",
        *(f"{proof.title}: {proof.error}" for proof in proofs if proof.error),
        *_summary(proofs, device),
    ]
    return "\n".join(lines)


def passed(proofs: Sequence[Proof]) -> bool:
    """Whether every analysis ran whole and says the same."""
    return all(proof.outcome in ("same numbers", "same verdict") for proof in proofs)


def _row(proof: Proof) -> tuple[str, ...]:
    if proof.outcome == "FAILED":
        return (proof.title, proof.outcome, *["–"] * (len(_HEAD) - 2))
    if proof.peak is None:
        memory = "–"
    else:
        memory = f"{proof.peak / 1e6:,.0f} MB"
    return (
        proof.title,
        proof.outcome,
        "shape" if math.isinf(proof.difference) else f"{proof.difference:.1e}",
        f"{proof.seconds:.2f} s",
        f"{proof.host_seconds:.2f} s",
        f"{proof.forward:.1f}",
        f"{proof.calls:,}",
        memory,
    )


def _cell(text: str, width: int, column: int) -> str:
    if column < 2:
        return text.ljust(width)
    return text.rjust(width)


def _summary(proofs: Sequence[Proof], device: torch.device) -> list[str]:
    whole = [proof for proof in proofs if proof.outcome != "FAILED"]
    same = sum(proof.outcome == "same numbers" for proof in proofs)
    likewise = sum(proof.outcome == "same verdict" for proof in proofs)
    ran = f"{len(whole)} of {len(proofs)} analyses run whole on"
    if device.type == "cpu":
        twice = f"{same} of them give the same numbers twice."
        if has_gpu():
            why = "The GPU was not asked."
        else:
            why = "There is no GPU here."
        return [f"{why} Proven: {ran} the processor,", twice, *_OPEN]
    own = f"{likewise} its verdict with random numbers of the device's own"
    neither = len(proofs) - same - likewise
    return [f"{ran} {device}: {same} give the processor's numbers,", f"{own}, {neither} neither."]
