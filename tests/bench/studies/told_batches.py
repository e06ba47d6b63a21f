"""Imported by the workers of ``bench_window``: each tells when its last batch began and ended.

The clock is the system's, so that the window can lay these moments beside its own.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from typing import Any

from robgui.core.model.backend import TorchBackend


def _timed(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def timed(*given: Any, **named: Any) -> Any:
        began = time.monotonic()
        try:
            return call(*given, **named)
        finally:
            print(f"batch {began:.6f} {time.monotonic():.6f}", file=sys.stderr, flush=True)

    return timed


for _name in ("__call__", "activations"):
    setattr(TorchBackend, _name, _timed(getattr(TorchBackend, _name)))
