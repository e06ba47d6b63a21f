"""TorchScript files.

Torch's C++ unpickler reads their weights and creates no Python objects, but their code is a
program, and some of it may run during loading. So the text is checked before torch sees it
(``code``), every tensor against its part of the file (``storages``), every graph before one is run
(``graphs``), and the arguments of careless kernels at run time (``guard``).
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
from robgui.core.loading.pickles import is_sound, words_in
from robgui.core.loading.raw import TRUST, Raw, first_layer, reading
from robgui.core.loading.script.code import ForeignCodeError, check_code
from robgui.core.loading.script.graphs import (
    guard_kernels,
    unknown_operations,
    unsafe_operations,
    wrong_numbers,
)
from robgui.core.loading.script.guard import guarded
from robgui.core.loading.script.values import wrong_value
from robgui.core.loading.storages import WrongStorageError, check_storages
from robgui.core.model.backend import Capabilities, Reduce, TorchBackend, as_output, channels_second

#: The parts torch needs. Its reader ignores case in their names, so another part could impersonate
#: one.
PARTS = re.compile(
    r"data\.pkl|constants\.pkl|(\.data/)?version|byteorder|(data|constants)/[\w.-]+|code/(\w+/)*\w+\.py",
    re.ASCII,
)
_PICKLES = ("data.pkl", "constants.pkl")
_LINEAR = frozenset({"aten::linear", "aten::addmm"})
_LAYERS = _LINEAR | {
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::_convolution",
    "aten::convolution",
}


class ScriptBackend(TorchBackend):
    """A TorchScript module; a second graph returns its layers too, for the activations."""

    def __init__(self, module: Any) -> None:
        super().__init__(module, layers=())
        try:
            self._watched, self._linear = _watch(module)
        except RuntimeError:  # A graph that cannot be rewritten still runs as a whole.
            self._watched, self._linear = None, {}
        if self._linear:
            reason = ""
        else:
            reason = "no convolution or linear layer can be seen in its code"
        self.capabilities = Capabilities(
            gradients=True, activations=bool(self._linear), reason=reason
        )

    def __call__(self, x: Tensor) -> Tensor:
        with guarded():
            return super().__call__(x)

    def outputs(self, x: Tensor) -> tuple[str, ...]:
        with guarded():
            return super().outputs(x)

    def activations(self, x: Tensor, reduce: Reduce) -> tuple[Tensor, dict[str, Tensor]]:
        with guarded():
            answer, *layers = self._watched(self.module, x)
        named = zip(self._linear.items(), layers, strict=True)
        return as_output(answer, scores=self.scores), {
            name: reduce(channels_second(layer) if linear else layer)
            for (name, linear), layer in named
        }


def load_script(path: Path, trust: bool) -> Raw:
    """Reads a TorchScript file."""
    with Archive(path) as archive:
        archive.verify()
        for name in _PICKLES:
            if not is_sound(archive.read(name)):
                raise ModelError(f"{path} is damaged: its part {name!r} cannot be read.")
        # Torch gets a copy of these parts alone, and never sees what else the archive holds.
        parts = [name for name in archive.names if PARTS.fullmatch(name)]
        if not trust:
            _refuse_programs(path, archive, parts)
            _refuse_wrong_sizes(path, archive)
        with reading(path, "TorchScript"):
            # Not torch.jit.load: its graphs are checked and guarded before a module is made.
            unit = torch._C.CompilationUnit()
            content = archive.copy(parts).getvalue()
            read: Any = torch._C.import_ir_module_from_buffer  # Its stub is of an older version.
            inner = read(unit, content, torch.device("cpu"), {}, False)
            if not trust:
                _refuse_operations(path, unknown_operations(unit))
                guard_kernels(unit)
                _refuse_operations(path, unsafe_operations(unit, inner))
                _refuse_numbers(path, wrong_numbers(unit, inner))
                _refuse_confusion(path, inner)
            module = torch.jit._recursive.wrap_cpp_module(inner)  # type: ignore[no-untyped-call]
            return Raw(ScriptBackend(module.float()), first=first_layer(module.state_dict()))


def _refuse_programs(path: Path, archive: Archive, parts: list[str]) -> None:
    """Decides from the text alone, before torch runs any of it."""
    for name in _PICKLES:
        if any("torch.classes" in word.replace(" ", ".") for word in words_in(archive.read(name))):
            raise TrustError(
                f"{path} is not loaded: its part {name!r} holds an object of torch.classes;"
                f" {TRUST}."
            )
    try:
        check_code(
            {name: archive.read(name).decode("ascii") for name in parts if name.endswith(".py")}
        )
    except UnicodeDecodeError:
        raise TrustError(
            f"{path} is not loaded: its code holds characters that torch does not write; {TRUST}."
        ) from None
    except ForeignCodeError as error:
        raise TrustError(f"{path} is not loaded: {error}; {TRUST}.") from error


def _refuse_wrong_sizes(path: Path, archive: Archive) -> None:
    try:
        for name in _PICKLES:
            check_storages(archive, name, name.removesuffix(".pkl"))
    except WrongStorageError as error:
        raise ModelError(f"{path} is damaged or no plain model: {error}.") from error


def _refuse_operations(path: Path, found: list[str]) -> None:
    if found:
        raise TrustError(
            f"{path} is not loaded: its code uses {', '.join(found[:3])}, not known to be harmless;"
            f" {TRUST}."
        )


def _refuse_numbers(path: Path, found: list[str]) -> None:
    if found:
        raise TrustError(
            f"{path} is not loaded: its code gives {', '.join(found[:3])} a number that may be no"
            f" type of values; {TRUST}."
        )


def _refuse_confusion(path: Path, module: Any) -> None:
    if name := wrong_value(module):
        raise TrustError(
            f"{path} is not loaded: its value {name} is not of the type that its code declares;"
            f" {TRUST}."
        )


def _watch(module: Any) -> tuple[Any, dict[str, bool]]:
    """A function that returns the layers' outputs after the module's own.

    Also the layers' names, and which are linear.
    """
    graph = module.forward.graph.copy()
    torch._C._jit_pass_inline(graph)
    linear: dict[str, bool] = {}
    uses: Counter[str] = Counter()
    for node in list(graph.nodes()):
        if node.kind() in _LAYERS:
            owner = _owner(node)
        else:
            owner = ""
        if owner:
            uses[owner] += 1
            linear[owner if uses[owner] == 1 else f"{owner} ({uses[owner]})"] = (
                node.kind() in _LINEAR
            )
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
            # A frozen script has lost the names.
            return str(node.kind()).removeprefix("aten::").strip("_")
    return ""
