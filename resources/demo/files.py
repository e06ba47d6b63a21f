"""Writes the demo's models, one function per format; the same weights give the same bytes."""

from __future__ import annotations

import re
import warnings
import zipfile
from pathlib import Path

import numpy as np
import onnx
import skops.io
import torch
from onnx import TensorProto, helper, numpy_helper
from safetensors.torch import save
from sklearn.base import BaseEstimator
from torch import Tensor, nn


def save_export(module: nn.Module, example: Tensor, path: Path) -> None:
    """torch.export with any number of inputs a batch, without the source paths of this machine."""
    program = torch.export.export(
        module.eval(), (example,), dynamic_shapes=({0: torch.export.Dim("n", min=1)},)
    )
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    torch.export.save(program, path)


def save_weights(module: nn.Module, example: Tensor, path: Path) -> None:
    """The state dict alone, as safetensors."""
    path.write_bytes(save(module.state_dict()))


def save_script(module: nn.Module, example: Tensor, path: Path) -> None:
    """Saves TorchScript without debug records, constants in alphabetical order.

    The debug records hold source paths of the machine that made the file.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.save(torch.jit.script(module.eval()), path)
    parts = {
        name: content
        for name, content in _unzip(path).items()
        if not name.endswith((".debug_pkl", "serialization_id"))
    }
    _zip(
        path,
        {
            name: _sort_constants(content) if name.endswith(".py") else content
            for name, content in parts.items()
        },
        zipfile.ZIP_STORED,
    )


def save_onnx(module: nn.Sequential, path: Path) -> None:
    """Saves linear layers and ReLUs as ONNX, from ``x`` ``[n, features]`` to ``logits``."""
    nodes, weights, name = [], [], "x"
    for index, layer in enumerate(module):
        last = "logits" if index == len(module) - 1 else f"h{index}"
        if isinstance(layer, nn.Linear):
            weights += [
                numpy_helper.from_array(p.detach().numpy(), f"{kind}{index}")
                for kind, p in (("w", layer.weight), ("b", layer.bias))
            ]
            nodes.append(
                helper.make_node("Gemm", [name, f"w{index}", f"b{index}"], [last], transB=1)
            )
        else:
            nodes.append(helper.make_node("Relu", [name], [last]))
        name = last
    sizes = [layer for layer in module if isinstance(layer, nn.Linear)]
    inputs = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", sizes[0].in_features])
    outputs = helper.make_tensor_value_info(
        "logits", TensorProto.FLOAT, ["n", sizes[-1].out_features]
    )
    graph = helper.make_graph(nodes, "table_mlp", [inputs], [outputs], weights)
    model = helper.make_model(
        graph, producer_name="robgui", opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def save_forest(forest: BaseEstimator, path: Path) -> None:
    """Saves a forest with skops, its parts numbered in the order of the schema.

    skops names them after memory addresses, which would differ from run to run.
    """
    skops.io.dump(forest, path)
    parts = _unzip(path)
    schema = parts.pop("schema.json").decode()
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return numbers.setdefault(match[0], str(len(numbers)))

    schema = re.sub(r'(?<="__id__": )\d+|(?<=")\d+(?=\.npy")', number, schema)
    arrays = {
        f"{numbers[name.removesuffix('.npy')]}.npy": content for name, content in parts.items()
    }
    _zip(
        path, {"schema.json": schema.encode(), **dict(sorted(arrays.items()))}, zipfile.ZIP_DEFLATED
    )


def outward(values: np.ndarray, *, down: bool) -> tuple[float, ...]:
    """Each value rounded to three digits away from the data, so that every row lies inside."""
    magnitude = np.power(10.0, np.floor(np.log10(np.where(values == 0, 1, np.abs(values)))) - 2)
    rounded = (np.floor if down else np.ceil)(values / magnitude) * magnitude
    return tuple(float(f"{value:.3g}") for value in rounded)


def _sort_constants(code: bytes) -> bytes:
    """Sorts a class's constants, which torch writes in the order of a set."""
    return re.sub(
        rb"(?m)(?:^ +\w+ : Final\[.*\n)+",
        lambda block: b"".join(sorted(block[0].splitlines(keepends=True))),
        code,
    )


def _unzip(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zip(path: Path, parts: dict[str, bytes], compression: int) -> None:
    """Writes without time stamps."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=compression)
