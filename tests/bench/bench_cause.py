"""How much the methods that lead from a failure to its cause cost beyond the model itself:
accuracy, corruptions, tolerance, the operating domain, the audit of a pipeline, and a pair.

Run it alone on a quiet machine: ``python -m tests.bench.bench_cause``. It prints figures and
asserts nothing. An attack of the tolerance also goes backwards through the model, which a bare
call does not.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from robgui import resources
from robgui.core.dataset import Dataset, open_dataset
from robgui.core.execution.registry import find
from robgui.core.execution.step import Step
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.core.model.pairing import write_pair, write_twin
from tests.bench.studies.turns import take_turns

MODELS = ("fashion_mlp.pt2", "fashion_cnn.safetensors")
SETTINGS: dict[str, dict[str, Any]] = {
    "accuracy": {},
    "corruptions": {"most": 200},
    "tolerance": {"most": 60, "prove": False},
    "operating_domain": {},
    "pipeline_audit": {"pictures": 1000},
}
#: Rounds of a pair and of its two models, in turn.
ROUNDS = 20


def demo(name: str) -> Classifier:
    """A model of the demo."""
    return load(resources.path("demo", name), trust=True, device="cpu")


def steps(name: str, model: Classifier, data: Dataset) -> Iterator[Step[Any]]:
    """The engine itself, on all inputs or on the first one."""
    known = find(name)
    params = known.params.parse(SETTINGS[name])
    inputs = data.subset([0]) if known.inputs == "one" else data
    engine: Any = known.engine
    given: Any = [model] if known.several_models else model
    return engine(given, inputs, params)


def overhead(name: str, model: Classifier, data: Dataset, limit: float) -> None:
    """Time of an engine over that of the bare model on as many inputs, the two in turn."""
    next(iter(steps(name, model, data)))  # what is imported and measured once is no part of it
    turns = take_turns(model, steps(name, model, data), model.batch(), limit)
    print(f"{name}, {model.name}: {turns.words()}", flush=True)


def pairs(model: Classifier) -> None:
    """Time of a pair over that of its two models one after the other, in turn."""
    path = resources.path("demo", MODELS[0])
    with tempfile.TemporaryDirectory() as folder:
        for file in (path, path.with_name(f"{path.name}.toml")):
            (Path(folder) / file.name).write_bytes(file.read_bytes())
        own, twin = Path(folder) / path.name, Path(folder) / "twin.pair"
        same = Path(folder) / "same.pair"
        write_twin(twin, own, 8)
        write_pair(same, own, own)
        for out in (same, twin):
            _pair(load(out, device="cpu"), model)


def _pair(pair: Classifier, model: Classifier) -> None:
    x = torch.rand((model.batch(), *model.shape))
    spent = {"pair": 0.0, "two": 0.0}
    for number in range(ROUNDS + 1):
        for name, asked in (("pair", (pair,)), ("two", (model, model))):
            began = time.perf_counter()
            for one in asked:
                one.infer(x)
            spent[name] += time.perf_counter() - began
        if not number:  # the first round warms up
            spent = dict.fromkeys(spent, 0.0)
    ratio = spent["pair"] / spent["two"]
    print(f"{pair.name}: {len(x):,} x {ROUNDS} inputs; pair / both models {ratio:.3f}", flush=True)


def main() -> None:
    """Prints every ratio."""
    parser = argparse.ArgumentParser(description="Costs of the methods beyond the model.")
    parser.add_argument("--only", choices=(*SETTINGS, "pair"), help="one of them")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch [1]")
    parser.add_argument("--seconds", type=float, default=20.0, help="at most for each [20]")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{options.threads} threads, load {os.getloadavg()}", flush=True)
    data = open_dataset(resources.path("demo", "fashion.npz"))
    for name in MODELS:
        model = demo(name)
        for analysis in SETTINGS:
            if options.only in (None, analysis):
                overhead(analysis, model, data, options.seconds)
    if options.only in (None, "pair"):
        pairs(demo(MODELS[0]))


if __name__ == "__main__":
    main()
