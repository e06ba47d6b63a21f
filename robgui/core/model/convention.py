"""Translates between raw models and engines: inputs in [0, 1] in, scores of every class out."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from robgui.core.devices import to_device
from robgui.core.errors import ModelError
from robgui.core.model.card import decode, encode
from robgui.core.model.randomness import HOST
from robgui.core.model.settings import ModelSettings


class Convention:
    """Inputs in [0, 1] -> raw inputs, and raw answers -> scores, following a model's settings."""

    def __init__(self, settings: ModelSettings, device: torch.device) -> None:
        self._settings, self._device = settings, device
        self._image = settings.kind == "image"
        self._make_constants(device)

    def tensor(self, values: Any, name: str) -> Tensor:
        """Inputs ``(n, *shape)``, or one input, as a float tensor on the device of ``name``."""
        if isinstance(values, Tensor):
            array = values
        else:
            array = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
        x = to_device(array, self._device).to(torch.float32)
        shape = self._settings.shape
        # One input without a batch axis.
        if tuple(x.shape) == shape:
            x = x[None]
        if tuple(x.shape[1:]) != shape:
            raise ModelError(
                f"{name} takes inputs of shape {shape}; these have shape {tuple(x.shape[1:])}."
            )
        return x

    def encode(self, values: Any) -> np.ndarray:
        """Table or sequence values in their own units -> [0, 1]; images are in [0, 1] already."""
        return encode(self._settings, values)

    def decode(self, x: Any) -> np.ndarray:
        """[0, 1] -> table or sequence values in their own units; the inverse of encode."""
        return decode(self._settings, x)

    def raw_input(self, x: Tensor, *, channels_last: bool = False) -> Tensor:
        """The raw model's input for inputs ``(n, *shape)`` in [0, 1]; differentiable."""
        if self._scale is not None:
            # One kernel and one result, where x * scale + shift would allocate the batch twice.
            x = torch.addcmul(self._shift, x, self._scale)
        if not self._image:
            return x
        if self._settings.channels == "bgr" and x.shape[1] == 3:
            x = x.flip(1)
        match self._settings.layout:
            case "hwc":
                # ``permute`` only changes strides; foreign runtimes take the memory as it lies.
                x = x.permute(0, 2, 3, 1).contiguous()
            case "flat":
                x = x.flatten(1)
            case "column":
                x = x.flatten(1)[:, :, None]
            case _ if channels_last:
                x = x.contiguous(memory_format=torch.channels_last)
        return x

    def scores(self, raw: Tensor) -> Tensor:
        """Logits ``(n, classes)``, larger meaning likelier, from the answer ``(n, outputs)``."""
        raw = raw.float()
        if self._settings.output == "probabilities":
            raw = _logits_of(raw, self._settings.multi_label)
        if self._settings.lowest_wins:
            raw = -raw
        if raw.shape[1] != 1:
            return raw
        # softmax of (0, s) is sigmoid of s: a single score is the log-odds of the second class.
        return torch.cat([torch.zeros_like(raw), raw], 1)

    def _make_constants(self, device: torch.device) -> None:
        """(low + x·(high − low) − mean) / std as shift + x·scale; None if that changes nothing."""
        s = self._settings
        # In double precision: (0 - 0.485) / 0.229 must not depend on the device's rounding.
        low, high, mean, std = (
            torch.tensor(v, dtype=torch.float64, device=HOST)
            for v in (s.low, s.high, s.mean, s.std)
        )
        ones = (1, 1) if self._image else ()
        shift = ((low - mean) / std).float().reshape(-1, *ones)
        scale = ((high - low) / std).float().reshape(-1, *ones)
        # Models that take [0, 1] as it is are spared a copy of every batch.
        identity = bool((shift == 0).all()) and bool((scale == 1).all())
        self._shift = shift.to(device)
        if identity:
            self._scale: Tensor | None = None
        else:
            self._scale = scale.to(device)


def _logits_of(probabilities: Tensor, multi_label: bool) -> Tensor:
    # log(0) is -inf, and its gradient NaN.
    tiny = torch.finfo(probabilities.dtype).tiny
    if multi_label or probabilities.shape[1] == 1:
        # Logit of a probability, finite at 0 and 1.
        return probabilities.clamp_min(tiny).log() - (1 - probabilities).clamp_min(tiny).log()
    # softmax of the logarithms gives the probabilities back, whatever the missing constant was.
    return probabilities.clamp_min(tiny).log()
