"""Checks the values in a TorchScript file against the types that its classes declare.

Torch reads an attribute by its offset in the object without checking the object's class: a small
object where the code expects a large one would make it read out of bounds.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_PLAIN = {
    "IntType": int,
    "FloatType": float,
    "BoolType": bool,
    "StringType": str,
    "NoneType": type(None),
    "TensorType": Tensor,
}


def wrong_value(module: Any, name: str = "") -> str:
    """The dotted name of the first value in a module with the wrong type; empty if all fit."""
    # The stubs of torch know few methods of this type.
    declared: Any = torch._C.ConcreteModuleType.from_jit_type(module._type())
    for attribute, (kind, _) in declared.get_attributes().items():
        if not _fits(module.getattr(attribute), kind):
            return f"{name}{attribute}"
    for attribute, inner in declared.get_modules():
        value = module.getattr(attribute)
        if not isinstance(value, torch._C.ScriptModule) or not _same(value._type(), inner.jit_type):
            return f"{name}{attribute}"
        if found := wrong_value(value, f"{name}{attribute}."):
            return found
    return ""


def _same(one: Any, other: Any) -> bool:
    return bool(
        one.kind() == other.kind() == "ClassType" and one.qualified_name() == other.qualified_name()
    )


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value fits a type made of numbers, texts, tensors, lists, dicts and tuples.

    Nothing fits any other type.
    """
    name, inside = kind.kind(), kind.containedTypes()
    if name in _PLAIN:
        # A bool is an int to Python, but another type to torch.
        return isinstance(value, _PLAIN[name]) and (
            name != "IntType" or not isinstance(value, bool)
        )
    match name:
        case "DeviceObjType":
            return isinstance(value, torch.device)
        case "OptionalType":
            return value is None or _fits(value, kind.getElementType())
        case "ListType":
            return isinstance(value, list) and all(_fits(each, inside[0]) for each in value)
        case "DictType":
            return isinstance(value, dict) and all(
                _fits(key, inside[0]) and _fits(each, inside[1]) for key, each in value.items()
            )
        case "TupleType":
            right = isinstance(value, tuple) and len(value) == len(inside)
            return right and all(
                _fits(each, part) for each, part in zip(value, inside, strict=True)
            )
    return False
