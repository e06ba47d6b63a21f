"""A small ONNX file takes no gigabytes, however it comes to the size that it asks for."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.core.loading.makers import onnx_model
from tests.security.attacks import child

Nodes = list[onnx.NodeProto]
node = helper.make_node
#: Numbers each way: 3.6 GB of fractions where they meet.
WIDE = 30_000


def _whole(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def _sized(maker: Callable[[str], Nodes]) -> tuple[Nodes, dict[str, np.ndarray]]:
    """A size that stands nowhere in the file: 30,000 · 30,000, multiplied when it runs."""
    nodes = [node("Mul", ["big", "big"], ["many"]), *maker("many")]
    return nodes, {"big": _whole(WIDE), "one": np.ones(1, np.float32)}


def _depth(size: str) -> Nodes:
    return [
        node("Constant", [], ["index"], value_ints=[0, 1]),
        node("Constant", [], ["which"], value_floats=[0.0, 1.0]),
        node("Squeeze", [size], ["depth"]),
        node("OneHot", ["index", "depth", "which"], ["v"]),
    ]


def _range(size: str) -> Nodes:
    return [
        node("Constant", [], ["from"], value_int=0),
        node("Constant", [], ["by"], value_int=1),
        node("Squeeze", [size], ["to"]),
        node("Range", ["from", "to", "by"], ["numbers"]),
        node("Cast", ["numbers"], ["v"], to=TensorProto.FLOAT),
    ]


def _padded(size: str) -> Nodes:
    return [
        node("Constant", [], ["zero"], value_ints=[0]),
        node("Concat", ["zero", size], ["pads"], axis=0),
        node("Pad", ["one", "pads"], ["v"]),
    ]


def _branch(size: str, *, taken: bool = False) -> Nodes:
    """In a branch; an optimiser computes beforehand also what is in one that is never taken."""
    value = [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)]
    large = helper.make_graph([node("ConstantOfShape", [size], ["b"])], "large", [], value)
    small = helper.make_graph([node("Identity", ["one"], ["b"])], "small", [], value)
    return [
        node("Constant", [], ["c"], value=numpy_helper.from_array(np.array(taken), "c")),
        node("If", ["c"], ["v"], then_branch=large, else_branch=small),
    ]


def _met(*last: onnx.NodeProto) -> tuple[Nodes, dict[str, np.ndarray]]:
    """A column and a row that are small each."""
    constants = {"column": np.ones((WIDE, 1), np.float32), "row": np.ones((1, WIDE), np.float32)}
    return list(last), constants


def _gathered() -> tuple[Nodes, dict[str, np.ndarray]]:
    where = np.zeros(WIDE, np.int64)
    nodes = [node("Gather", ["row", "where"], ["v"], axis=0)]
    return nodes, {"row": np.ones((1, WIDE), np.float32), "where": where}


def _chain(operation: str, given: np.ndarray) -> tuple[Nodes, dict[str, np.ndarray]]:
    """Step by step, each of them modest."""
    nodes = [node("Unsqueeze", ["one", "axes"], ["s0"])]
    for step in range(4):
        inputs = {
            "Tile": [f"s{step}", "by"],
            "Resize": [f"s{step}", "", "by"],
            "Pad": [f"s{step}", "by"],
        }[operation]
        nodes.append(node(operation, inputs, [f"s{step + 1}"]))
    nodes.append(node("Identity", ["s4"], ["v"]))
    return nodes, {"one": np.ones(1, np.float32), "axes": _whole(0), "by": given}


def _attribute(kind: str, **given: object) -> tuple[Nodes, dict[str, np.ndarray]]:
    return [node(kind, [], ["v"], **given)], {}


def _transposed() -> tuple[Nodes, dict[str, np.ndarray]]:
    given = {"strides": [15_000, 15_000], "kernel_shape": [1, 1]}
    nodes = [node("ConvTranspose", ["picture", "kernel"], ["v"], **given)]
    picture = np.ones((1, 1, 3, 3), np.float32)
    return nodes, {"picture": picture, "kernel": picture[:, :, :1, :1]}


def _convolved() -> tuple[Nodes, dict[str, np.ndarray]]:
    nodes = [node("Conv", ["picture", "kernel"], ["v"], pads=[15_000] * 4)]
    picture = np.ones((1, 1, 3, 3), np.float32)
    return nodes, {"picture": picture, "kernel": picture[:, :, :1, :1]}


ATTACKS = {
    "ConstantOfShape": _sized(lambda size: [node("ConstantOfShape", [size], ["v"])]),
    "Expand": _sized(lambda size: [node("Expand", ["one", size], ["v"])]),
    "Tile": _sized(lambda size: [node("Tile", ["one", size], ["v"])]),
    "OneHot": _sized(_depth),
    "Range": _sized(_range),
    "Pad": _sized(_padded),
    "a branch": _sized(_branch),
    "a branch that is taken": _sized(functools.partial(_branch, taken=True)),
    "Tile and Tile": _chain("Tile", _whole(1, 180)),
    "Resize and Resize": _chain("Resize", np.array([1, 180], np.float32)),
    "Add": _met(node("Add", ["column", "row"], ["v"])),
    "MatMul": _met(node("MatMul", ["column", "row"], ["v"])),
    "Einsum": _met(node("Einsum", ["column", "row"], ["v"], equation="ab,bc->ac")),
    "Gather": _gathered(),
    "RandomNormal": _attribute("RandomNormal", shape=[WIDE, WIDE]),
    "ConvTranspose": _transposed(),
    "Conv": _convolved(),
}


def attack(path: Path, nodes: Nodes, constants: dict[str, np.ndarray]) -> Path:
    """A table classifier to which the mean of the large tensor ``v`` is added."""
    head = [
        *nodes,
        node("ReduceMean", ["v"], ["m"], keepdims=0),
        node("MatMul", ["x", "w"], ["scores"]),
        node("Add", ["scores", "m"], ["y"]),
    ]
    weights = {**constants, "w": np.ones((6, 3), np.float32)}
    path.write_bytes(
        onnx_model(head, {"x": ["n", 6]}, {"y": ["n", 3]}, weights).SerializeToString()
    )
    return path


#: A line for each file: how it ended, and the megabytes that were in use at most.
_MEASURED = """
import random, sys
from pathlib import Path
from tests.fuzz import child
from tests.fuzz.kinds import every_kind

kind = every_kind(1)["onnx"]
kind.prepare()
for path in map(Path, sys.argv[1:]):
    before = child.resident(now=True)
    with child._Limits():
        outcome = child._open(kind, path, 0, 0)
    print(outcome.end, (child.resident() - before) // 2**20, outcome.words, sep="|", flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits are of Linux")
def test_no_file_takes_gigabytes_however_it_comes_to_its_size(tmp_path):
    paths = [
        attack(tmp_path / f"{place}.onnx", nodes, constants)
        for place, (nodes, constants) in enumerate(ATTACKS.values())
    ]
    answers = [line.split("|", 2) for line in child(_MEASURED, *paths).splitlines()]
    assert len(answers) == len(ATTACKS)
    ended = dict(zip(ATTACKS, answers, strict=True))
    bad = {name: answer for name, answer in ended.items() if answer[0] not in ("refused", "loaded")}
    assert not bad
    assert [name for name, answer in ended.items() if answer[0] == "loaded"] == ["a branch"]
    assert max(int(answer[1]) for answer in answers) < 2_000, ended
    assert all("memory" in answer[2] for answer in answers if answer[0] == "refused"), ended
