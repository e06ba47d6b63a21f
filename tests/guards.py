"""Guards for engines and models: what must not happen on a GPU, proven without one.

``no_deviceless_factories()`` fails on a tensor made without saying where; ``count_host_syncs()``
counts the operations that would make the CPU wait for the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

FACTORIES = frozenset(
    getattr(torch, name)
    for name in (
        *(
            "tensor",
            "as_tensor",
            "zeros",
            "ones",
            "full",
            "empty",
            "arange",
            "linspace",
            "logspace",
            "eye",
        ),
        *("rand", "randn", "randint", "randperm", "tril_indices", "triu_indices", "scalar_tensor"),
    )
)
#: Reading one number, deciding on the content of a tensor, and lists whose length depends on the
#: content.
_SYNCS = frozenset(
    {
        "aten::_local_scalar_dense",
        "aten::equal",
        "aten::nonzero",
        "aten::masked_select",
        "aten::is_nonzero",
    }
)


class _FactoryGuard(TorchFunctionMode):
    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        # as_tensor of a tensor stays where it is
        stays = func is torch.as_tensor and args and isinstance(args[0], torch.Tensor)
        if func in FACTORIES and kwargs.get("device") is None and not stays:
            raise AssertionError(
                f"torch.{func.__name__} was called without a device; on a GPU its result would be"
                " in the wrong place"
            )
        return func(*args, **kwargs)


@dataclass
class HostSyncs:
    """How often the CPU would have waited for the device."""

    scalars: int = 0
    copies: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.scalars + self.copies


class _SyncCounter(TorchDispatchMode):
    def __init__(self, counted: HostSyncs) -> None:
        super().__init__()
        self._counted = counted

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name
        if name in _SYNCS:
            self._counted.scalars += 1
        if name == "aten::_to_copy" and str(kwargs.get("device", "")).startswith("cpu"):
            self._counted.copies += 1
        return func(*args, **kwargs)


@contextmanager
def no_deviceless_factories() -> Iterator[None]:
    """Fails when a tensor is made without ``device=``."""
    with _FactoryGuard():
        yield


@contextmanager
def count_host_syncs() -> Iterator[HostSyncs]:
    """Counts waits for the device while the block runs; read the result afterwards."""
    counted = HostSyncs()
    with _SyncCounter(counted):
        yield counted
