"""Calls of foreign code: whatever a model raises becomes one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from robgui.core.errors import ModelError, RobguiError
from robgui.core.model.backend import Backend, first_line


@contextmanager
def in_one_sentence(name: str, x: Tensor) -> Iterator[None]:
    """Wraps a call of the model ``name`` on ``x``.

    Raises ModelError, or MemoryError if memory ran out.
    """
    try:
        yield
    except RobguiError as error:
        raise ModelError(f"{name}: {error}") from error
    except Exception as error:  # Foreign code raises whatever it likes.
        if out_of_memory(error):
            raise MemoryError(str(error)) from error
        raise ModelError(
            f"{name}: the model raised {type(error).__name__} on an input of shape"
            f" {tuple(x.shape)}: {first_line(error)}."
        ) from error


def moved(backend: Backend, device: str | torch.device, name: str) -> Backend:
    """The model ``name`` on another device; ModelError if it cannot go there."""
    try:
        return backend.to(torch.device(device))
    except (RuntimeError, AssertionError, ValueError, NotImplementedError) as error:
        raise ModelError(
            f"{name} cannot be put on the device {device}: {first_line(error)}; choose another"
            " device."
        ) from error


def out_of_memory(error: BaseException) -> bool:
    """True for every form that running out of memory takes in torch, onnxruntime and numpy."""
    words = str(error).lower()
    return (
        isinstance(error, MemoryError | torch.OutOfMemoryError)
        or "out of memory" in words
        or "can't allocate memory" in words
        or "failed to allocate memory" in words
    )
