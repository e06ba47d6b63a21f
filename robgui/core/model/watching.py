"""Watching: observes every operation of torch while it is entered."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A torch mode that leaves torch's compiler alone.

    At the first observed operation torch would import its compiler, a second of work and 860
    modules, only to disable it. Nothing is compiled where models are watched.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
