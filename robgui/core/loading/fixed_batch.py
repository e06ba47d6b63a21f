"""Lets models that take exactly n inputs at a time take any number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from robgui.core.model.backend import Backend, Capabilities, Reduce


class FixedBatch:
    """Feeds a model ``size`` inputs at a time.

    The last portion is filled up by repeating its last input.
    """

    def __init__(self, backend: Backend, size: int) -> None:
        self._backend = backend
        self._size = size

    @property
    def device(self) -> torch.device:
        """Where the model lives."""
        return self._backend.device

    @property
    def module(self) -> Any:
        """The network inside, if there is one to count."""
        return getattr(self._backend, "module", None)

    @property
    def capabilities(self) -> Capabilities:
        """Those of the model inside."""
        return self._backend.capabilities

    def __call__(self, x: Tensor) -> Tensor:
        return torch.cat([self._backend(full)[:count] for full, count in self._portions(x)])

    def activations(self, x: Tensor, reduce: Reduce) -> tuple[Tensor, dict[str, Tensor]]:
        """As the model inside gives them, with the portions joined."""
        parts = []
        for full, count in self._portions(x):

            def first(output: Tensor, count: int = count) -> Tensor:
                # The whole output as it is: a slice of it would have no gradient path to the
                # answer.
                return reduce(output if len(output) == count else output[:count])

            parts.append(self._backend.activations(full, first))
        raw = torch.cat([part[0] for part in parts])[: len(x)]
        if len(parts) == 1:
            return raw, parts[0][1]
        return raw, {name: torch.cat([part[1][name] for part in parts]) for name in parts[0][1]}

    def to(self, device: torch.device) -> FixedBatch:
        """Moves the model inside."""
        self._backend = self._backend.to(device)
        return self

    def channels_last(self, on: bool) -> None:
        """Passes the choice on."""
        self._backend.channels_last(on)

    def _portions(self, x: Tensor) -> Iterator[tuple[Tensor, int]]:
        for start in range(0, len(x), self._size):
            part = x[start : start + self._size]
            missing = self._size - len(part)
            if missing:
                filled = torch.cat([part, part[-1:].expand(missing, *part.shape[1:])])
            else:
                filled = part
            yield filled, len(part)
