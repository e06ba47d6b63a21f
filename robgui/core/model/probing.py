"""The first call of a model: a wrong shape is found at loading, not in the middle of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from robgui.core.errors import ModelError
from robgui.core.model.timing.cost import Counter
from robgui.core.text.words import count

if TYPE_CHECKING:
    from robgui.core.model.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class Probe:
    """What the first call revealed.

    Attributes:
        classes: How many there are.
        operations: For one input.
        recurrent: Whether a layer is recurrent.
    """

    classes: int
    operations: float
    recurrent: bool


def probe(
    call: Callable[[Tensor], Tensor], name: str, settings: ModelSettings, device: torch.device
) -> Probe:
    """Calls a model once on two grey inputs, and refuses answers that no classifier gives."""
    # Two inputs, to see whether it really answers row by row.
    x = torch.full((2, *settings.shape), 0.5, device=device)
    counter = Counter()
    try:
        with torch.inference_mode(), counter:
            raw = call(x)
    except MemoryError as error:
        raise ModelError(
            f"{name}: not enough memory for two inputs of shape {settings.shape} on {device}."
        ) from error
    if len(raw) != 2:
        raise ModelError(
            f"{name} returns {len(raw)} rows for 2 inputs; it must return one row of scores per"
            " input."
        )
    outputs = int(raw.shape[1])
    if outputs == 1 and settings.multi_label:
        raise ModelError(
            f"{name} gives a single score, which is two classes; it cannot be multi-label."
        )
    # One score is a log-odds, which the convention turns into two classes.
    classes = 2 if outputs == 1 else outputs
    # Counted for both inputs.
    return Probe(classes, counter.total / 2, counter.recurrent)


def labels_for(labels: tuple[str, ...], classes: int, name: str) -> tuple[str, ...]:
    """One name for each class: those given, or numbers."""
    if classes < 2:
        raise ModelError(
            f"{name} gives {count(classes, 'class')}; a classifier needs at least two."
        )
    if labels and len(labels) != classes:
        raise ModelError(
            f"{name} gives {classes} classes but has {count(len(labels), 'label')}; correct"
            " the labels, or leave them out."
        )
    return labels or tuple(str(c) for c in range(classes))


def learned_numbers(module: nn.Module) -> int:
    """Number of learned parameters; a quantised network has only buffers."""
    return sum(tensor.numel() for tensor in [*module.parameters()] or module.buffers())


def weights_digest(module: nn.Module) -> str:
    """A digest of the weights."""
    total = hashlib.sha256()
    for tensor in module.state_dict().values():
        total.update(
            # As bytes, since NumPy has no bfloat16.
            tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
        )
    return total.hexdigest()


def last_weights(module: nn.Module, classes: int) -> Tensor | None:
    """Weights ``(classes, features)`` of the last layer; None if no matrix has that shape."""
    matrices = [
        tensor.squeeze()
        for tensor in (*module.parameters(), *module.buffers())
        if tensor.ndim >= 2 and len(tensor) > 1
    ]
    tables = [matrix.detach().float() for matrix in matrices if matrix.ndim == 2]
    rows = [table for table in tables if len(table) == classes]
    # Some formats store a linear layer transposed.
    columns = [table.T for table in tables if table.shape[1] == classes]
    return next(iter([*rows[::-1], *columns[::-1]]), None)
