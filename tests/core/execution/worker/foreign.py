"""Models that misbehave after a few good answers, and data for them, as real files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from robgui.core.execution.request import Request, build_request

#: Good answers before the mischief; loading and matching a model takes some.
GOOD = 24
#: A model that misbehaves while a run goes on gives this many good answers, each after a while, so
#: that there is a result before.
GOOD_IN_RUNS, REST_SECONDS = 60, 0.02
#: What the models do that this program must bear, by the beginning of their names.
MISCHIEFS = {
    "loops": "loops for ever",
    "aborts": "calls abort()",
    "eats": "allocates until the limit",
    "sleeps": "answers after 60 s",
    "floods": "prints without end",
}
#: Where each is tried in every run of the tests: by the command line, and in the window. The other
#: places go through the same code and are tried with ``dev.py test --all``. Those that are left out
#: here have a test of their own: one that exits instead of aborting, one that sleeps in the gallery,
#: and loops that the runner of the window stops.
COMMAND_LINE = {"loops": "at_loading", "eats": "in_run", "floods": "in_preview"}
WINDOW = {"aborts": "in_preview", "eats": "at_loading", "floods": "in_run"}
#: Those that never answer, so that a person has to stop them.
STUCK = ("loops", "sleeps", "floods")
#: Inputs in the data; some models misbehave when they are all given at once.
ROWS = 5
#: A file that a model opens when its mischief begins, for the test to see from outside.
MARK = "mischief"
#: While there is a file of this name, one of the models is never loaded.
HANG = "hang"


def tried(usual: Mapping[str, str], place: str) -> list[Any]:
    """Every mischief at a place; those that are usually tried elsewhere are slow tests."""
    slow = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(each, marks=slow[usual.get(each) == place]) for each in MISCHIEFS]


ARCHITECTURE = """
import os, sys, time
import torch
from torch import nn


class Foreign(nn.Module):
    def __init__(self, mischief, good={good}, rest=0.0, rows=0):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.mischief, self.good, self.rest, self.rows = mischief, good, rest, rows
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        time.sleep(self.rest)
        due = self.calls > self.good or len(x) == self.rows
        if due and self.mischief is not None:
            self.good = 0  # from now on
            os.write(2, b"MISCHIEF")
            os.open({mark!r}, os.O_RDONLY)
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
        kept.append(torch.empty(4_000_000))  # the limit counts what is not yet written to as well


def talk():
    for _ in range(20):
        print("x" * 1_000_000)
        os.write(2, b"y" * 100_000)


def flood():
    while True:
        print("x" * 100_000)


def start_another():
    try:
        os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
    except PermissionError:  # a confined worker starts nothing
        pass
    loop()


def good(): return Foreign(None)
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
def floods(): return Foreign(flood)


def later(mischief):
    return Foreign(mischief, {later}, {rest})


def loops_later(): return later(loop)
def aborts_later(): return later(os.abort)
def eats_later(): return later(eat)
def sleeps_later(): return later(lambda: time.sleep(60))
def floods_later(): return later(flood)


def hangs_in_warming():
    while os.path.exists({hang!r}):
        pass
    return Foreign(lambda: None)


def on_data(mischief):
    return Foreign(mischief, good=1000, rows={rows})


def loops_on_data(): return on_data(loop)
def aborts_on_data(): return on_data(os.abort)
def eats_on_data(): return on_data(eat)
def sleeps_on_data(): return on_data(lambda: time.sleep(60))
def floods_on_data(): return on_data(flood)


def at_once(mischief):
    model = Foreign(mischief)
    model.calls = 1000
    return model


def loops_at_once(): return at_once(loop)
def aborts_at_once(): return at_once(os.abort)
def eats_at_once(): return at_once(eat)
def sleeps_at_once(): return at_once(lambda: time.sleep(60))
def talks_at_once(): return at_once(talk)
def floods_at_once(): return at_once(flood)
"""


def write_files(folder: Path) -> Path:
    """The architecture, one file of weights, and data."""
    code = ARCHITECTURE.format(
        good=GOOD,
        later=GOOD_IN_RUNS,
        rest=REST_SECONDS,
        rows=ROWS,
        mark=str(folder / MARK),
        hang=str(folder / HANG),
    )
    (folder / "foreign.py").write_text(code)
    (folder / MARK).touch()
    generator = torch.Generator("cpu").manual_seed(0)
    weights = {"layer.weight": torch.randn(4, 3, generator=generator), "layer.bias": torch.zeros(4)}
    save_file(weights, folder / "foreign.safetensors")
    np.savez(
        folder / "data.npz", inputs=np.random.default_rng(0).random((ROWS, 3), dtype=np.float32)
    )
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
            while bool(self.calls[0] > 24):
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
