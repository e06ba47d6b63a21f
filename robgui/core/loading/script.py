"""TorchScript files.

Their weights are read by torch's C++ unpickler, which creates no Python objects, but their code is a program:
it could write a file. Its text is searched for such operations before torch sees it.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from robgui.core.errors import ModelError, TrustError
from robgui.core.loading.archive import Archive
from robgui.core.loading.pickles import is_sound
from robgui.core.loading.raw import TRUST, Raw, first_layer, reading
from robgui.core.model.backend import Capabilities, Reduce, TorchBackend, as_output, channels_second

#: The operations of torch that read or write files, and every operator library but those that only compute.
_FILES = re.compile(r"\b(save|from_file|load_tensor)\b(?!\s*:)")
_LIBRARIES = re.compile(r"\bops\s*\.\s*(?!(?:aten|prim|quantized|torchvision)\b)(\w+)")
_LINEAR = frozenset({"aten::linear", "aten::addmm"})
_LAYERS = _LINEAR | {"aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::_convolution", "aten::convolution"}


class ScriptBackend(TorchBackend):
    """A TorchScript module; a second graph that also returns its layers gives the activations."""

    def __init__(self, module: Any) -> None:
        super().__init__(module, layers=())
        try:
            self._watched, self._linear = _watch(module)
        except RuntimeError:  # a graph that cannot be rewritten still runs as a whole
            self._watched, self._linear = None, {}
        reason = "" if self._linear else "no convolution or linear layer can be seen in its code"
        self.capabilities = Capabilities(gradients=True, activations=bool(self._linear), reason=reason)

    def activations(self, x: Tensor, reduce: Reduce) -> tuple[Tensor, dict[str, Tensor]]:
        answer, *layers = self._watched(self.module, x)
        named = zip(self._linear.items(), layers, strict=True)
        return as_output(answer, scores=self.scores), {
            name: reduce(channels_second(layer) if linear else layer) for (name, linear), layer in named
        }


def load_script(path: Path, trust: bool) -> Raw:
    """Reads a TorchScript file."""
    with Archive(path) as archive:
        archive.verify()
        for name in ("data.pkl", "constants.pkl"):
            if not is_sound(archive.read(name)):
                raise ModelError(f"{path} is damaged: its part {name!r} cannot be read.")
        if not trust:
            _refuse_programs(path, archive)
        with reading(path, "TorchScript"):
            module = torch.jit.load(archive.copy(without=".debug_pkl"), map_location="cpu")  # type: ignore[no-untyped-call]
            return Raw(ScriptBackend(module.float()), first=first_layer(module.state_dict()))


def _refuse_programs(path: Path, archive: Archive) -> None:
    for name in archive.names:
        if name.endswith(".py"):
            text = archive.read(name).decode("utf-8", errors="replace")
            match = _FILES.search(text) or _LIBRARIES.search(text)
            if match:
                raise TrustError(f"{path} is not loaded: its code ({name}) uses {match[0]!r}, which may touch files; {TRUST}.")


def _watch(module: Any) -> tuple[Any, dict[str, bool]]:
    """A function that returns the outputs of the layers after the module's own output; the layers' names, and which are linear."""
    graph = module.forward.graph.copy()
    torch._C._jit_pass_inline(graph)
    linear: dict[str, bool] = {}
    uses: Counter[str] = Counter()
    for node in list(graph.nodes()):
        owner = _owner(node) if node.kind() in _LAYERS else ""
        if owner:
            uses[owner] += 1
            linear[owner if uses[owner] == 1 else f"{owner} ({uses[owner]})"] = node.kind() in _LINEAR
            graph.registerOutput(node.output())
    if not linear:
        return None, {}
    graph.makeMultiOutputIntoTuple()
    return torch._C._create_function_from_graph("forward", graph), linear


def _owner(node: Any) -> str:
    """Dotted name of the module whose weight ``node`` uses; empty if it uses none."""
    for value in node.inputs():
        path: list[str] = []
        source = value.node()
        while source.kind() == "prim::GetAttr":
            path.insert(0, source.s("name"))
            source = next(iter(source.inputs())).node()
        if path and path[-1] == "weight" and source.kind() == "prim::Param":
            return ".".join(path[:-1]) or "layer"
        if value.type().kind() == "TensorType" and source.kind() == "prim::Constant":
            return str(node.kind()).removeprefix("aten::").strip("_")  # a frozen script has lost the names
    return ""
