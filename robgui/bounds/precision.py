"""Single precision that deserves the name, while something is proven about it.

Torch may compute products of single-precision matrices with 10 bits (TF32 on recent GPUs, on by default for
convolutions) or with 7 (bfloat16 on some processors). The bounds allow for the rounding of 24 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch

_FULL = "ieee"


@contextmanager
def full_precision() -> Iterator[None]:
    """Inside, no product of single-precision numbers is computed with fewer bits; afterwards all is as it was."""
    kept: list[tuple[Callable[[Any], None], Any]] = []
    for read, write, _ in _switches():
        with suppress(RuntimeError):  # of two ways to say the same, torch may refuse to tell the older
            kept.append((write, read()))
    try:
        for _, write, off in _switches():
            write(off)
        yield
    finally:
        for write, value in kept:
            write(value)


def _switches() -> Iterator[tuple[Callable[[], Any], Callable[[Any], None], Any]]:
    """How to read, how to set and how to switch off each of torch's short cuts, older ones first."""
    backends = torch.backends
    yield torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"
    yield *_attribute(backends.cudnn, "allow_tf32"), False
    for backend in (backends.cuda, backends.cudnn, backends.mkldnn):
        for part in ("matmul", "conv", "rnn"):
            place = getattr(backend, part, None)
            if hasattr(place, "fp32_precision"):
                yield *_attribute(place, "fp32_precision"), _FULL


def _attribute(place: Any, name: str) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    return lambda: getattr(place, name), lambda value: setattr(place, name, value)
