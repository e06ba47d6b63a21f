"""Where a model can run."""

from __future__ import annotations

import os

import torch


def default_device() -> torch.device:
    """CUDA when present, else the CPU."""
    return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")


def devices() -> list[tuple[str, str]]:
    """Every device as ``(id, name for people)``, the default first."""
    found = [
        (f"cuda:{index}", f"{torch.cuda.get_device_name(index)} (cuda:{index})")
        for index in range(_cuda_count())
    ]
    return [*found, ("cpu", f"CPU ({os.cpu_count() or 1} cores)")]


def _cuda_count() -> int:
    return torch.cuda.device_count() if torch.cuda.is_available() else 0
