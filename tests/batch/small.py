"""Three small networks, a few images and suites about them; and how results are compared."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from robgui.batch import Batch, Plan, Progress, expand, read_suite
from robgui.core.codec import encode
from robgui.core.execution.executor import Executor
from robgui.core.execution.run import RunState
from robgui.core.npz import unzip
from robgui.core.workspace import Workspace

NETS = """
from torch import nn

def net():
    return nn.Sequential(nn.Flatten(), nn.Linear(36, 32), nn.Tanh(), nn.Linear(32, 5))
"""

HEAD = """
[[models]]
path = "net_*.safetensors"

[[datasets]]
path = "images.npz"
"""

#: 3 models × 10 inputs × 2 seeds, and 3 comparisons in two parts each.
MANY = """
[[analyses]]
name = "zonnscan"
index = "0:10"
params = { samples = 64, radii = [0.0, 0.1, 0.3] }
grid = { seed = [0, 1] }

[[analyses]]
name = "zonnscan_populations"
params = { samples = 64 }
shards = 2
"""

#: One request of some seconds, which tells how far it is from the start.
LONG = """
[[analyses]]
name = "zonnscan"
models = ["net_0*"]
index = 0
params = {{ samples = {samples}, radii = [0.0, 0.2], sampler = "plain", target_half_width = 0.0 }}
grid = {{ seed = {seeds} }}
"""


def write_files(folder: Path) -> Path:
    """Models, their architecture and images."""
    (folder / "nets.py").write_text(NETS)
    for seed in range(3):
        generator = torch.Generator("cpu").manual_seed(seed)
        net = nn.Sequential(nn.Flatten(), nn.Linear(36, 32), nn.Tanh(), nn.Linear(32, 5))
        save_file(
            {
                name: torch.randn(value.shape, generator=generator)
                for name, value in net.state_dict().items()
            },
            folder / f"net_{seed}.safetensors",
        )
        (folder / f"net_{seed}.safetensors.toml").write_text(
            'shape = [1, 6, 6]\narchitecture = "nets.py:net"\n'
        )
    pixels = np.random.default_rng(0).integers(0, 256, (20, 6, 6), dtype=np.uint8)
    np.savez(folder / "images.npz", images=pixels, labels=np.arange(20) % 5)
    return folder


def write_suite(folder: Path, text: str, name: str = "suite.toml") -> Path:
    path = folder / name
    path.write_text(text if "[[models]]" in text else HEAD + text)
    return path


def plan(folder: Path, text: str, *, trust: bool = True) -> Plan:
    return expand(read_suite(write_suite(folder, text)), "cpu", trust=trust)


def run(plan: Plan, workspace: Workspace, executor: Executor) -> Progress:
    for progress in Batch(plan, workspace, executor):
        last = progress
    return last


def results(workspace: Workspace) -> dict[str, tuple[Any, dict[str, np.ndarray]]]:
    """Every DONE run by the fingerprint of its request; fails when one is there twice."""
    found: dict[str, Any] = {}
    for each in workspace.runs():
        if each.state is RunState.DONE:
            assert each.request.fingerprint not in found, "a request was done twice"
            document, blob = encode(workspace.result(each.id))
            found[each.request.fingerprint] = (document, unzip(blob))
    return found


def assert_same(one: dict[str, Any], two: dict[str, Any]) -> None:
    """Bit for bit the same results of the same requests."""
    assert one.keys() == two.keys()
    for fingerprint, (document, arrays) in one.items():
        other, others = two[fingerprint]
        assert document == other
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, others[name])


def states(progress: Progress) -> Iterable[str]:
    return [entry.state.value for entry in progress.entries]
