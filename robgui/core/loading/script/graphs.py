"""Checks every graph torch made of a TorchScript file before it runs; guards its kernels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import torch

from robgui.core.loading.script.guard import exchange, needs_guard
from robgui.core.loading.script.operations import UNSAFE, is_known

#: What torch means by the numbers of dtypes (without quantised ones), layouts and formats.
_NUMBERS = {
    "ScalarType": frozenset({*range(12), 15}),
    "Layout": frozenset({0}),
    "MemoryFormat": frozenset(range(4)),
}


def unknown_operations(unit: Any) -> list[str]:
    """Nodes in any function or method of a compilation unit that may do more than compute."""
    return sorted(
        {
            _words(node)
            for node in _all_nodes(unit)
            if not is_known(node.kind(), _schema(node)) or _is_blind_cast(node)
        }
    )


def unsafe_operations(unit: Any, module: Any) -> list[str]:
    """Nodes reachable from ``module`` that are unsafe with some arguments and not guarded.

    Torch caches what it finds out on the way, so kernels are guarded before.
    """
    return sorted(
        {
            words
            for node in _reached(unit, module)
            if (words := _words(node)) in UNSAFE or needs_guard(node)
        }
    )


def wrong_numbers(unit: Any, module: Any) -> list[str]:
    """Nodes reachable from ``module`` with an invalid dtype, layout or memory format.

    In TorchScript these are plain numbers, which torch believes.
    """
    return sorted(
        {
            _words(node)
            for node in _reached(unit, module)
            for place, allowed in _enumerated(_schema(node))
            if not _among(node.inputsAt(place), allowed)
        }
    )


@cache
def _enumerated(schema: str) -> tuple[tuple[int, frozenset[int]], ...]:
    """Positions of arguments that stand for a dtype, layout or format, and the values allowed."""
    if not schema.startswith(("aten::", "robgui::")):
        return ()
    found = []
    for place, argument in enumerate(torch._C.parse_schema(schema).arguments):
        kind = str(argument.real_type)
        numbers = next((each for name, each in _NUMBERS.items() if name in kind), None)
        if numbers is None and argument.name == "dtype" and "int" in kind:
            numbers = _NUMBERS["ScalarType"]
        if numbers is not None:
            found.append((place, numbers))
    return tuple(found)


def _among(value: Any, allowed: frozenset[int]) -> bool:
    """Whether a value can only be one of these numbers or None.

    It is a constant, another tensor's dtype, or a choice between such.
    """
    node = value.node()
    match node.kind():
        case "prim::Constant":
            return value.toIValue() is None or value.toIValue() in allowed
        case "prim::dtype" | "prim::layout" | "aten::get_autocast_dtype":
            return True
        case "prim::unchecked_cast" | "aten::_unwrap_optional":
            return _among(node.inputsAt(0), allowed)
        case "prim::If":
            # The value is one of the outputs of the If: both branches must give an allowed number
            # for it.
            place = [each.debugName() for each in node.outputs()].index(value.debugName())
            return all(_among(list(block.outputs())[place], allowed) for block in node.blocks())
    return False


def guard_kernels(unit: Any) -> None:
    """Makes every graph check what it passes to kernels that trust their arguments."""
    for function in unit.get_functions():
        graph = function.graph
        for node in list(_nodes(graph)):
            if needs_guard(node):
                exchange(graph, node)


def _reached(unit: Any, module: Any) -> Iterator[Any]:
    """The nodes that a call of ``module`` may run.

    Those of ``forward``, or all if that cannot be told.
    """
    # Inlined: calls of submodules are replaced by their bodies.
    if module._has_method("forward"):
        nodes = list(_nodes(module._get_method("forward").inlined_graph))
    else:
        nodes = []
    hooked = module._get_forward_hooks() or module._get_forward_pre_hooks()
    # A call that could not be inlined may lead anywhere, so everything is checked.
    open_calls = any(node.kind() in ("prim::CallMethod", "prim::CallFunction") for node in nodes)
    if hooked or open_calls:
        return _all_nodes(unit)
    return iter(nodes)


def _all_nodes(unit: Any) -> Iterator[Any]:
    for function in unit.get_functions():
        yield from _nodes(function.graph)


def _nodes(block: Any) -> Iterator[Any]:
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from _nodes(inner)


def _is_blind_cast(node: Any) -> bool:
    """Whether a value is reinterpreted unchecked as another type.

    Torch writes such casts after it has checked for None.
    """
    if node.kind() != "prim::unchecked_cast":
        return False
    given, taken = next(iter(node.inputs())).type(), node.output().type()
    # After a check for None, torch casts Optional[T] to T; any other cast reinterprets memory.
    if given.kind() == "OptionalType":
        inner = given.getElementType()
    else:
        inner = given
    return str(inner) != str(taken)


def _schema(node: Any) -> str:
    return str(node.schema())


def _words(node: Any) -> str:
    schema = _schema(node)
    if schema.startswith(node.kind()):
        return schema.partition("(")[0]
    return str(node.kind())
