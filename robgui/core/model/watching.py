"""Watching: sees every operation of torch while it is entered."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode of torch that no compiler has to be kept away from.

    Torch would import its compiler, a second of work and 860 modules, at the first operation that
    is seen, only to tell it to stay away. Nothing is compiled where models are watched.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
