"""Weights without a network: what torch reads as weights only is still looked at."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from robgui import resources
from tests.security.attacks import loaded_in_child, refused, repack

SETTINGS = {
    "architecture": f"{resources.path('demo', 'architectures.py')}:cnn",
    "shape": (1, 28, 28),
}


def sparse(shape: torch.Size) -> torch.Tensor:
    far = torch.full((len(shape), 1), 10**7)
    return torch.sparse_coo_tensor(far, torch.ones(1), shape, check_invariants=False)


def compressed(shape: torch.Size) -> torch.Tensor:
    rows = torch.arange(shape[0] + 1).clamp_max(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.sparse_csr_tensor(
            rows, torch.tensor([10**7]), torch.ones(1), shape, check_invariants=False
        )


def quantised(shape: torch.Size) -> torch.Tensor:
    return torch.quantize_per_tensor(torch.zeros(shape), 1.0, 0, torch.quint8)


@pytest.mark.parametrize("kind", [sparse, compressed, quantised])
def test_weights_that_are_no_plain_tensors_are_refused(tmp_path: Path, kind):
    state = load_file(resources.path("demo", "fashion_cnn.safetensors"))
    name = next(name for name, value in state.items() if value.ndim == 2)
    path = tmp_path / "m.pth"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.save({**state, name: kind(state[name].shape)}, path)
    assert "cannot be read" in (words := refused(path, **SETTINGS)) or "plain tensors" in words


@pytest.mark.parametrize("size", [2**33, 2**62])
def test_an_old_file_that_claims_gigabytes_takes_none(tmp_path: Path, size):
    path = tmp_path / "m.pth"
    torch.save({"a.weight": torch.zeros(5)}, path, _use_new_zipfile_serialization=False)
    content = path.read_bytes()
    honest = b"X\x03\x00\x00\x00cpuq\x06K\x05N"
    if honest not in content:  # the place of the number of values in the pickle
        honest = next(
            content[i : i + 16]
            for i in range(len(content))
            if content[i : i + 9] == b"X\x03\0\0\0cpuq"
        )
    changed = honest.replace(b"K\x05", b"\x8a\x09" + size.to_bytes(9, "little"), 1)
    path.write_bytes(content.replace(honest, changed, 1))
    (answer,) = loaded_in_child(path, settings=SETTINGS, extra=2**30)
    assert answer.startswith("refused:") and "more than the file has bytes" in answer


def test_the_demo_loads_from_an_old_file_too(tmp_path: Path):
    path = tmp_path / "m.pth"
    state = load_file(resources.path("demo", "fashion_cnn.safetensors"))
    torch.save(state, path, _use_new_zipfile_serialization=False)
    assert loaded_in_child(path, settings=SETTINGS) == ["loaded"]


def test_a_part_that_is_shorter_than_its_tensor_is_refused(tmp_path: Path):
    whole, path = tmp_path / "whole.pth", tmp_path / "m.pth"
    torch.save(load_file(resources.path("demo", "fashion_cnn.safetensors")), whole)
    repack(whole, path, lambda name, part: (name, part[:8] if "/data/0" in name else part))
    assert "8 bytes, but a tensor claims" in refused(path, **SETTINGS)
