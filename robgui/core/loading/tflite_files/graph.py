"""Checks the graph of a TensorFlow Lite file before LiteRT trusts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robgui.core.errors import ModelError


def refuse_confusion(path: Path, content: bytes) -> None:
    """Refuses a graph unless every tensor is written once, and before it is read.

    LiteRT gives tensors that share a writer, or have none, the memory of others.
    """
    from ai_edge_litert import schema_py_generated as schema

    model = schema.Model.GetRootAs(content, 0)
    for number in range(model.SubgraphsLength()):
        graph = model.Subgraphs(number)
        # -1 stands for an optional input that is left out.
        known = {-1, *_numbers(graph, "Inputs"), *_stored(model, graph)}
        for place in range(graph.OperatorsLength()):
            operation = graph.Operators(place)
            written = _numbers(operation, "Outputs")
            again = known & set(written) - {-1} or len(set(written)) < len(written)
            if again or not set(_numbers(operation, "Inputs")) <= known:
                raise ModelError(
                    f"{path} is refused: its operation {place} reads a tensor before it is written,"
                    " or writes one again."
                )
            known |= set(written)


def _numbers(table: Any, name: str) -> list[int]:
    """The numbers of tensors in a field of a table."""
    return [int(getattr(table, name)(place)) for place in range(getattr(table, f"{name}Length")())]


def _stored(model: Any, graph: Any) -> list[int]:
    """The tensors that hold numbers from the start, and those that hold none at all."""
    found = []
    for place in range(graph.TensorsLength()):
        tensor = graph.Tensors(place)
        buffer = model.Buffers(tensor.Buffer())
        empty = 0 in _numbers(tensor, "Shape")
        # An offset is "only valid if > 1" (schema.fbs): data behind the flatbuffer of a model
        # beyond 2 GB.
        if tensor.IsVariable() or empty or buffer.DataLength() or buffer.Offset() > 1:
            found.append(place)
    return found
