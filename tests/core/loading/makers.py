"""Small networks and the functions that write them in every format."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn


class Evil:
    """Unpickling it creates the file ``marker``."""

    def __init__(self, marker: Path) -> None:
        self.marker = str(marker)

    def __reduce__(self):
        return (open, (self.marker, "w"))


def image_net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(),
        nn.Linear(4 * 14 * 14, 10),
    ).eval()


def table_net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)).eval()


ARCHITECTURES = """
from torch import nn

def image_net():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(), nn.Linear(4 * 14 * 14, 10)
    )

def table_net(hidden=5):
    return nn.Sequential(nn.Linear(6, hidden), nn.ReLU(), nn.Linear(hidden, 3))

def nothing():
    return 3

def broken():
    raise ValueError("no such network")
"""


def onnx_model(nodes, inputs, outputs, constants, opset: int = 17) -> onnx.ModelProto:
    """An ONNX model from nodes, ``name -> shape`` of inputs and outputs, and ``name -> array``
    of constants.
    """
    graph = helper.make_graph(
        nodes,
        "graph",
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in inputs.items()
        ],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in outputs.items()
        ],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def onnx_table_net(batch: object = "n") -> onnx.ModelProto:
    weights = {
        name.replace(".", "_"): value.numpy() for name, value in table_net().state_dict().items()
    }
    nodes = [
        helper.make_node("Gemm", ["x", "0_weight", "0_bias"], ["h"], transB=1, name="first"),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "2_weight", "2_bias"], ["y"], transB=1, name="second"),
    ]
    return onnx_model(nodes, {"x": [batch, 6]}, {"y": [batch, 3]}, weights)


def save_script(module: nn.Module, path: Path, example: torch.Tensor | None = None) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = torch.jit.script(module) if example is None else torch.jit.trace(module, example)
        script.save(str(path))
    return path


def save_exported(
    module: nn.Module,
    path: Path,
    example: torch.Tensor,
    *,
    free: bool = True,
    decompose: bool = False,
) -> Path:
    shapes = ({0: torch.export.Dim("n", min=1, max=4096)},) if free else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(module, (example,), dynamic_shapes=shapes)
        torch.export.save(program.run_decompositions() if decompose else program, path)
    return path


def save_forest(path: Path) -> Path:
    import skops.io
    from sklearn.ensemble import RandomForestClassifier

    generator = np.random.default_rng(0)
    x = generator.random((60, 6), dtype=np.float32)
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(
        x, np.array(["a", "b", "c"])[(x[:, 0] * 3).astype(int)]
    )
    skops.io.dump(forest, path)
    return path
