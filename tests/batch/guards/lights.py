"""A classifier whose answers are known in closed form: light when the mean is above a threshold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from robgui.core.dataset import open_dataset
from robgui.core.execution.request import build_request
from robgui.core.finding import Finding
from robgui.core.loading import load
from robgui.core.workspace import Workspace

SHAPE = (1, 4, 4)
LABELS = ("dark", "light")


def write_model(path: Path, threshold: float, labels: tuple[str, ...] = LABELS) -> Path:
    """Scores 100 (threshold - mean) for the first class and the opposite for the second."""
    weight = np.full((16, 2), 100 / 16, np.float32)
    weight[:, 0] *= -1
    bias = np.array([100 * threshold, -100 * threshold], np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Flatten", ["x"], ["flat"]),
            helper.make_node("Gemm", ["flat", "w", "b"], ["y"]),
        ],
        "light",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *SHAPE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    if labels:
        names = ", ".join(f'"{name}"' for name in labels)
        path.with_name(f"{path.name}.toml").write_text(f"labels = [{names}]\n")
    return path


def write_data(folder: Path, means: list[int]) -> Path:
    """Uniform 8-bit images of these levels; light from level 128 on."""
    folder.mkdir()
    pixels = np.stack([np.full(SHAPE[1:], level, np.uint8) for level in means])
    labels = np.array([int(level >= 128) for level in means])
    path = folder / "images.npz"
    np.savez(path, images=pixels, labels=labels)
    return path


def uniform(value: float) -> np.ndarray:
    return np.full(SHAPE, value, np.float32)


def workspace(folder: Path, model: Path, data: Path) -> Workspace:
    """A workspace with one run on every input: no findings yet."""
    made = Workspace.open(folder / "w.robgui")
    request = build_request("zonnscan", [load(model)], open_dataset(data), {}, indices=None)
    made.add_run(request)
    return made


def add(
    made: Workspace, place: int, x: np.ndarray, taken: str, given: str, *, star: bool = True
) -> int:
    """A starred finding on the input at ``place``; returns its number."""
    run = made.runs()[0]
    before = {one.id for one in made.findings()}
    detail = {"class": taken, "other_class": given, "place": place}
    made.add_findings(run.id, [Finding("near boundary", f"input {place}", 0.7, detail, None, x)])
    number = next(one.id for one in made.findings() if one.id not in before)
    made.set_finding(number, starred=star)
    return number
