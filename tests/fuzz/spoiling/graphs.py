"""Graphs of exported programs: the arguments of a chosen operation, other operations in its
place, and what the file says of its weights.
"""

from __future__ import annotations

import json
import random
from typing import Any

from robgui.core.loading.exported.operations import NAMES
from tests.fuzz.spoiling.documents import bent, json_bytes
from tests.fuzz.spoiling.plain import noise
from tests.security.formats.op_fuzzer import FLOATS, INTS, WORDS

_KINDS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 13)  # what scalar types are numbered in the file


def graph_bytes(content: bytes, dice: random.Random, target: str = "") -> bytes:
    """``models/model.json`` with one to four arguments of ``target`` made hostile, of any
    operation where none is named.
    """
    try:
        document = json.loads(content)
        graph = document["graph_module"]["graph"]
        nodes = [node for node in graph["nodes"] if target in node["target"]] or graph["nodes"]
    except (ValueError, KeyError, TypeError):
        return noise(content, dice)
    if not target and dice.random() < 0.25:
        return json_bytes(content, dice)
    tensors = sorted(graph["tensor_values"])
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        _spoil(dice.choice(nodes), tensors, dice, target)
    return json.dumps(document).encode()


def weights_bytes(content: bytes, dice: random.Random) -> bytes:
    """The record of the weights with the sizes, strides, type or place of one of them changed."""
    try:
        document = json.loads(content)
        entry = dice.choice(list(document["config"].values()))
    except (ValueError, KeyError, TypeError, IndexError):
        return noise(content, dice)
    meta = entry["tensor_meta"]
    match dice.randrange(6):
        case 0 if meta["sizes"]:
            meta["sizes"][dice.randrange(len(meta["sizes"]))] = {"as_int": dice.choice(INTS)}
        case 1 if meta["strides"]:
            meta["strides"][dice.randrange(len(meta["strides"]))] = {"as_int": dice.choice(INTS)}
        case 2:
            meta["dtype"] = dice.choice(_KINDS)
        case 3:
            meta["storage_offset"] = {"as_int": dice.choice(INTS)}
        case 4:
            return json.dumps(bent(document, dice)).encode()
        case _:
            entry["path_name"] = dice.choice(("weight_1", "../weight_0", "", "/etc/hostname"))
    return json.dumps(document).encode()


def _spoil(node: dict[str, Any], tensors: list[str], dice: random.Random, target: str) -> None:
    inputs = node["inputs"]
    chance = dice.random()
    if chance < 0.08 and not target:
        node["target"] = f"torch.ops.aten.{dice.choice(sorted(NAMES))}"
    elif chance < 0.14 and inputs:
        inputs.pop(dice.randrange(len(inputs)))
    elif chance < 0.18 and inputs:
        inputs.append(dice.choice(inputs))
    elif inputs:
        chosen = dice.choice(inputs)
        chosen["arg"] = _argument(chosen["arg"], tensors, dice)


def _argument(old: dict[str, Any], tensors: list[str], dice: random.Random) -> dict[str, Any]:
    kind = next(iter(old), "as_none")
    if dice.random() < 0.12:
        kind = dice.choice(("as_int", "as_ints", "as_float", "as_tensor", "as_none", "as_bool"))
    match kind:
        case "as_tensor":
            return {kind: {"name": dice.choice(tensors)}}
        case "as_tensors":
            return {kind: [{"name": dice.choice(tensors)} for _ in range(dice.randrange(5))]}
        case "as_int":
            return {kind: dice.choice(INTS)}
        case "as_ints":
            values = list(old.get(kind, [1, 1]))
            if values and dice.random() < 0.7:
                values[dice.randrange(len(values))] = dice.choice(INTS)
            else:
                values = [dice.choice(INTS) for _ in range(dice.randrange(6))]
            return {kind: values}
        case "as_float":
            return {kind: dice.choice(FLOATS)}
        case "as_floats":
            return {kind: [dice.choice(FLOATS) for _ in range(dice.randrange(5))]}
        case "as_bool":
            return {kind: dice.random() < 0.5}
        case "as_string":
            return {kind: dice.choice(WORDS)}
        case "as_scalar_type":
            return {kind: dice.choice(_KINDS)}
    return {"as_none": True} if dice.random() < 0.5 else {"as_int": dice.choice(INTS)}
