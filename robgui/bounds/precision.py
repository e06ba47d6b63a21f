"""Single precision that deserves the name, while something is proven about it.

Torch may compute products of single-precision matrices with 10 bits (TF32 on recent GPUs, by
default for convolutions) or with 7 (bfloat16 on some processors). The bounds allow for the rounding
of 24.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import torch


class _FullPrecision:
    """A context in which no product of single-precision numbers is computed with fewer bits.

    The settings are torch's own, for all threads: the first to enter switches, the last to leave
    restores.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._kept: list[tuple[Callable[[Any], None], Any]] = []

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside > 1:
                return
            for read, write, _ in _switches():
                # of two ways to say the same, torch may refuse to tell the older
                with suppress(RuntimeError):
                    self._kept.append((write, read()))
            for _, write, off in _switches():
                write(off)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside:
                return
            for write, value in self._kept:
                write(value)
            self._kept.clear()


#: For ``with``, in any thread, also inside itself.
FULL_PRECISION = _FullPrecision()


def _switches() -> Iterator[tuple[Callable[[], Any], Callable[[Any], None], Any]]:
    """How to read, to set and to switch off each of torch's short cuts, older ones first."""
    backends = torch.backends
    yield torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"
    yield *_attribute(backends.cudnn, "allow_tf32"), False
    for backend in (backends.cuda, backends.cudnn, backends.mkldnn):
        for part in ("matmul", "conv", "rnn"):
            place = getattr(backend, part, None)
            if hasattr(place, "fp32_precision"):
                yield *_attribute(place, "fp32_precision"), "ieee"


def _attribute(place: Any, name: str) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    return lambda: getattr(place, name), lambda value: setattr(place, name, value)
