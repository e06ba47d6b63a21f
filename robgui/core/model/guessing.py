"""Guesses what a model does from its shape and its answers to a few random inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from robgui.core.errors import ModelError
from robgui.core.model.backend import CallableBackend, as_output, first_line
from robgui.core.model.randomness import HOST, host_generator
from robgui.core.model.settings import Kind, ModelSettings

#: Autograd's names for operations that leave every number as it is.
_REARRANGING = (
    *("View", "Reshape", "UnsafeView", "Squeeze", "Unsqueeze", "Flatten", "Alias", "Clone"),
    *("Slice", "Select", "ToCopy", "Permute", "Transpose", "AsStrided"),
)


def kind_of(shape: Sequence[int]) -> Kind:
    """The kind of input a shape suggests."""
    kinds: dict[int, Kind] = {1: "table", 2: "sequence", 3: "image"}
    try:
        return kinds[len(shape)]
    except KeyError:
        raise ModelError(
            f"an input has 1 (table), 2 (sequence) or 3 (image) dimensions, not {len(shape)}:"
            f" {tuple(shape)}."
        ) from None


def settings_for(shape: Sequence[int], labels: Sequence[str], **settings: Any) -> ModelSettings:
    """Settings for a model with inputs of this shape, which determines the kind."""
    known = ModelSettings(shape=tuple(shape), kind=kind_of(shape), labels=tuple(labels))
    return known.change(**settings)


def output_kind(raw: Tensor, multi_label: bool = False) -> str:
    """``probabilities`` if every row is a distribution, else ``logits``.

    A single column, or the outputs of a multi-label model, need only lie in [0, 1].
    """
    if not within_one(raw):
        return "logits"
    apart = multi_label or raw.shape[1] == 1
    # 1e-3 is about the rounding of half precision.
    if apart or bool(((raw.sum(1) - 1).abs() < 1e-3).all()):
        return "probabilities"
    return "logits"


def within_one(raw: Tensor) -> bool:
    """Whether all outputs lie in [0, 1], as probabilities do and logits of many inputs do not."""
    return bool(((raw >= 0) & (raw <= 1)).all())


def ends_in_sigmoid(raw: Tensor) -> bool:
    """Whether the last operation behind these differentiable outputs is a sigmoid.

    Operations that only rearrange them may follow.
    """
    step: Any = raw.grad_fn
    while step is not None:
        name = step.name().removeprefix("torch::autograd::")
        if name.startswith("Sigmoid"):
            return True
        if not name.startswith(_REARRANGING) or not step.next_functions:
            return False
        step = step.next_functions[0][0]
    return False


def random_inputs(shape: Sequence[int], count: int = 8) -> Tensor:
    """The same few inputs ``(count, *shape)`` in [0, 1] every time, on the CPU.

    For inspecting a new model.
    """
    return torch.rand((count, *shape), generator=host_generator(0), device=HOST)


def try_function(
    function: Callable[[Any], Any], shape: tuple[int, ...], name: str, scores: str
) -> tuple[CallableBackend, Tensor]:
    """Whether ``function`` takes tensors (and gives gradients) or arrays, with its answers."""
    x = random_inputs(shape).requires_grad_()
    try:
        gradients = as_output(function(x), HOST, scores).requires_grad
        backend = CallableBackend(
            function, HOST, wants_numpy=False, gradients=gradients, scores=scores
        )
        return backend, backend(x).detach()
    except Exception:  # noqa: BLE001 - it may want a numpy array: the second try tells, and its error is the one to show
        backend = CallableBackend(function, HOST, wants_numpy=True, gradients=False, scores=scores)
    try:
        return backend, backend(x)
    except Exception as error:
        raise ModelError(
            f"{name}: the function raised {type(error).__name__} on an array of shape"
            f" {tuple(x.shape)}: {first_line(error)}."
        ) from error
