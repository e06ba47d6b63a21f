"""Models that misbehave after a few good answers, and data for them, as real files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from robgui.core.execution.request import Request, build_request

#: Good answers before the mischief; loading and matching a model takes some.
GOOD = 12

ARCHITECTURE = """
import os, sys, time
import torch
from torch import nn


class Foreign(nn.Module):
    def __init__(self, mischief):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.mischief = mischief
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls > {good}:
            os.write(2, b"MISCHIEF")
            self.mischief()
        return self.layer(x)


def loop():
    while True:
        pass


def native_loop():
    while True:
        torch.rand(100, 100) @ torch.rand(100, 100)


def eat():
    kept = []
    while True:
        kept.append(torch.ones(4_000_000))


def talk():
    for _ in range(20):
        print("x" * 1_000_000)
        os.write(2, b"y" * 100_000)


def start_another():
    try:
        os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
    except PermissionError:  # a confined worker starts nothing
        pass
    loop()


def good(): return Foreign(lambda: None)
def loops(): return Foreign(loop)
def loops_in_torch(): return Foreign(native_loop)
def aborts(): return Foreign(os.abort)
def exits(): return Foreign(lambda: os._exit(7))
def says_goodbye(): return Foreign(sys.exit)
def eats(): return Foreign(eat)
def sleeps(): return Foreign(lambda: time.sleep(60))
def talks(): return Foreign(talk)
def starts_another(): return Foreign(start_another)
def tells_threads(): return Foreign(lambda: os.write(2, b"THREADS %d " % torch.get_num_threads()))
def raises(): return Foreign(lambda: 1 / 0)


def at_once(mischief):
    model = Foreign(mischief)
    model.calls = 1000
    return model


def hangs_at_once(): return at_once(loop)
def aborts_at_once(): return at_once(os.abort)
def eats_at_once(): return at_once(eat)
def sleeps_at_once(): return at_once(lambda: time.sleep(60))
def talks_at_once(): return at_once(talk)
"""


def write_files(folder: Path) -> Path:
    """The architecture, one file of weights, and data."""
    (folder / "foreign.py").write_text(ARCHITECTURE.format(good=GOOD))
    generator = torch.Generator("cpu").manual_seed(0)
    weights = {"layer.weight": torch.randn(4, 3, generator=generator), "layer.bias": torch.zeros(4)}
    save_file(weights, folder / "foreign.safetensors")
    np.savez(folder / "data.npz", inputs=np.random.default_rng(0).random((5, 3), dtype=np.float32))
    return folder


def endless_script(folder: Path) -> Path:
    """A TorchScript file whose model never answers after some calls."""

    class Endless(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 4)
            self.register_buffer("calls", torch.zeros(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            while bool(self.calls[0] > 12):
                x = x * 1.0
            return self.layer(x)

    torch.manual_seed(0)
    path = folder / "endless.pt"
    torch.jit.save(torch.jit.script(Endless()), path)
    return path


def trusted(folder: Path, build: str) -> frozenset[str]:
    """The code of the network that ``build`` makes, as the user allows it to run."""
    from robgui.core.trust.opening import code_of

    return frozenset({code_of(folder / "foreign.safetensors", architecture=f"foreign.py:{build}")})


def ask(folder: Path, build: str, **params: object) -> Request:
    """A zoNNscan sweep with the network that ``build`` makes; long enough for any mischief."""
    from robgui.core.dataset import open_dataset
    from robgui.core.execution.request import reference
    from robgui.core.loading import load

    good = load(
        folder / "foreign.safetensors",
        trust=True,
        device="cpu",
        architecture="foreign.py:good",
        shape=(3,),
    )
    options = good.settings.change(architecture=f"foreign.py:{build}")
    known = reference(good.with_settings(options))
    settings = {
        "samples": 4096,
        "radii": tuple(np.linspace(0, 0.5, 8)),
        "target_half_width": 0.0,
        "batch": 256,
        **params,
    }
    data = open_dataset(folder / "data.npz")
    return build_request("zonnscan", [known], data, settings, indices=[0], device="cpu")
