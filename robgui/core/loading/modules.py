"""An ``nn.Module`` from Python -> Classifier; what it does not tell is found by trying."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from robgui.core.dataset import Dataset
from robgui.core.errors import ModelError
from robgui.core.loading.detect import settle
from robgui.core.loading.raw import Raw, first_layer
from robgui.core.model.backend import TorchBackend, first_line
from robgui.core.model.classifier import Classifier
from robgui.core.model.guessing import kind_of


def module_classifier(module: nn.Module, inputs: Any = None) -> Classifier:
    """A Classifier of a copy of ``module``, which itself is left alone.

    Args:
        module: The network; it takes inputs in [0, 1]. For other ranges use
            ``Classifier.from_module``.
        inputs: A Dataset or an array, which gives the shape of one input.
    """
    name = type(module).__name__
    try:
        # TorchBackend freezes the weights and leaves training mode; the caller may still be
        # training.
        own = copy.deepcopy(module)
    except (RuntimeError, TypeError) as error:
        raise ModelError(f"{name} cannot be copied: {first_line(error)}.") from error
    weights = own.state_dict()
    raw = Raw(TorchBackend(own), first=first_layer(weights), guesses=tuple(_guesses(inputs)))
    classifier = settle(raw, {}, name, _digest(name, weights))
    classifier.remarks = ("a torch network from Python", *classifier.remarks[-1:])
    return classifier


def _guesses(inputs: Any) -> Iterator[dict[str, object]]:
    """What one input may be, the likeliest first."""
    if inputs is None:
        return
    if isinstance(inputs, Dataset):
        if inputs.shape is not None:
            yield from _meanings(inputs.shape, inputs.kind)
        return
    try:
        shape = np.shape(inputs)
    except ValueError:  # Not an array; opening the inputs will say so.
        return
    for one in (shape[1:], shape):  # Several inputs, or one.
        yield from _meanings(one)


def _meanings(shape: Sequence[int], kind: str = "") -> Iterator[dict[str, object]]:
    if len(shape) == 2 and kind != "sequence":
        yield {"kind": "image", "shape": (1, *shape), "layout": "chw"}
    if len(shape) == 3 and shape[0] not in (1, 3) and shape[2] in (1, 3):
        yield {"kind": "image", "shape": (shape[2], *shape[:2]), "layout": "chw"}
    if len(shape) in (1, 2, 3):
        yield {"kind": kind_of(shape), "shape": tuple(map(int, shape))}


def _digest(name: str, weights: dict[str, Any]) -> str:
    digest = hashlib.sha256(name.encode())
    for tensor in weights.values():
        digest.update(
            tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
        )
    return digest.hexdigest()
