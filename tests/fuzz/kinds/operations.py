"""Exported programs that call one permitted operation each, with hostile arguments."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from robgui.core.loading.exported.operations import NAMES
from tests.core.loading.makers import save_exported
from tests.fuzz.kinds.kind import Kind, place
from tests.fuzz.kinds.models import import_loaders, inside_exported, load_and_ask
from tests.fuzz.spoiling.archives import Spoil, archive, parts
from tests.fuzz.spoiling.graphs import graph_bytes
from tests.security.formats.op_samples import Call, samples

#: Files of this kind in a thousand.
SHARE = 180


class Calling(nn.Module):
    """A linear layer, and beside it one call whose tensors are stored in the file."""

    def __init__(self, name: str, call: Call) -> None:
        super().__init__()
        base, _, overload = name.partition(".")
        self.operation = getattr(getattr(torch.ops.aten, base), overload or "default")
        self.register_buffer("head", torch.rand(6, 3))
        self.count = 0
        self.args = [self._kept(each) for each in call[0]]
        self.words = {key: self._kept(each) for key, each in call[1].items()}

    def forward(self, x: Tensor) -> Tensor:
        args = [self._given(each) for each in self.args]
        words = {key: self._given(each) for key, each in self.words.items()}
        found = self.operation(*args, **words)
        while isinstance(found, tuple | list):
            found = found[0]
        return x @ self.head + (found.float().mean() if isinstance(found, Tensor) else found)

    def _kept(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            self.count += 1
            self.register_buffer(f"stored{self.count}", value.detach().clone().contiguous())
            return ("tensor", f"stored{self.count}")
        if isinstance(value, list) and any(isinstance(each, Tensor) for each in value):
            return ("list", [self._kept(each) for each in value])
        return ("plain", value)

    def _given(self, kept: Any) -> Any:
        how, value = kept
        if how == "tensor":
            return getattr(self, value)
        return [self._given(each) for each in value] if how == "list" else value


def make_operations(folder: Path, most: int) -> None:
    """One program for each of ``most`` permitted operations; those torch does not export as such
    are left out.
    """
    every = list(samples().items())
    for name, calls in every[:: -(-len(every) // most)]:
        target = place(folder, name, ".pt2")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                save_exported(Calling(name, calls[0]).eval(), target, torch.rand(2, 6), free=False)
        except Exception:  # noqa: BLE001 (the exporter knows more rules than the operation)
            target.parent.rmdir()


def spoil_operation(content: bytes, dice: random.Random, seed: str) -> bytes:
    """The arguments of the operation that the file is called after, or another part of it."""

    def inside(name: str) -> Spoil:
        if name.endswith("models/model.json"):
            return lambda part, dice: graph_bytes(part, dice, f".{seed}")
        return inside_exported(name)

    if dice.random() < 0.1:
        return archive(content, dice, inside)
    return _in_the_graph(content, dice, inside)


def _in_the_graph(content: bytes, dice: random.Random, inside) -> bytes:
    """Spoils the graph, and sometimes what is said of the weights, whatever part was drawn."""
    wanted = "models/model.json" if dice.random() < 0.85 else "model_weights_config.json"
    for _ in range(200):
        spoiled: list[str] = []

        def watched(name: str, found: list[str] = spoiled) -> Spoil:
            found.append(name)
            return inside(name)

        made = parts(content, dice, watched)
        if spoiled and spoiled[0].endswith(wanted):
            return made
    return made


def kinds(files: int) -> list[Kind]:
    """One kind: every permitted operation, in a round of few ``files`` some of them."""

    def make(folder: Path) -> None:
        make_operations(folder, max(1, min(len(NAMES), files)))

    return [Kind("operation", SHARE, make, spoil_operation, load_and_ask, import_loaders)]
