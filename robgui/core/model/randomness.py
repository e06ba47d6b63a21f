"""Random numbers that are the same on every device.

A GPU's generator differs from the host's. Whatever must not depend on the device (samples that a
panel draws again, the order of training images, the answers held during fine-tuning) is drawn on
the host and moved.
"""

from __future__ import annotations

import torch
from torch import Tensor

HOST = torch.device("cpu")


def host_generator(seed: int) -> torch.Generator:
    """Random numbers on the host.

    The same seed gives the same numbers on whatever device they are used.
    """
    return torch.Generator(HOST).manual_seed(seed)


def host_integers(below: int, count: int, generator: torch.Generator) -> Tensor:
    """``(count,)`` whole numbers from 0 to ``below - 1``, on the host."""
    return torch.randint(below, (count,), generator=generator, device=HOST)


def host_order(count: int, generator: torch.Generator) -> Tensor:
    """The numbers 0 … count - 1 in a random order ``(count,)``, on the host."""
    return torch.randperm(count, generator=generator, device=HOST)
