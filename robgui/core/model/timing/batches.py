"""CallBatches: how many inputs a model gets at once; fewer after running out of memory."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from robgui.core.devices import hardware_of
from robgui.core.errors import ModelError
from robgui.core.model.foreign import out_of_memory
from robgui.core.model.timing.cost import batch_size


class CallBatches:
    """The largest batch known to fit.

    Args:
        name: Of the model.
        shape: Of one input.
        operations: For one input.
        device: Where the model is.
    """

    def __init__(
        self, name: str, shape: tuple[int, ...], operations: float, device: torch.device
    ) -> None:
        self._name, self._device = name, device
        self._largest = batch_size(shape, operations, device)

    def size(self, wanted: int = 0) -> int:
        """How many inputs go together; ``wanted`` 0 lets the program choose."""
        return min(wanted or self._largest, self._largest)

    def run(
        self,
        call: Callable[[Tensor], Tensor],
        x: Tensor,
        wanted: int,
        notice: Callable[[str], None],
    ) -> list[Tensor]:
        """What ``call`` answers for all inputs, one part per batch.

        A batch that does not fit is halved, and ``notice`` is called.
        """
        parts: list[Tensor] = []
        start = 0
        while start < len(x):
            size = self.size(wanted)
            try:
                part = call(x[start : start + size])
            # RuntimeError: torch's own, raised outside it.
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                notice(self._halve(min(size, len(x) - start)))
                continue
            parts.append(part)
            start += len(part)
        return parts

    def _halve(self, size: int) -> str:
        if size <= 1:
            raise ModelError(
                f"{self._name}: not enough memory for a single input on {self._device}; allow"
                " models more memory or choose another device."
            )
        # Kept for all later calls, which would run into the same wall.
        self._largest = size // 2
        # Torch's cache still holds the blocks of the size that failed.
        hardware_of(self._device).tidy(self._device)
        return (
            f"{self._name}: out of memory at {size:,} inputs a batch; going on with"
            f" {self._largest:,}."
        )
