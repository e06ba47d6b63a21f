"""Random numbers that are the same on every device.

A generator on a GPU gives other numbers than one on the host. What must not depend on the device
(the samples a panel draws again, the order of training images, the answers held during fine-tuning)
is drawn on the host and moved.
"""

from __future__ import annotations

import torch
from torch import Tensor

HOST = torch.device("cpu")


def host_generator(seed: int) -> torch.Generator:
    """Random numbers on the host.

    The same seed gives the same numbers, whatever device computes with them.
    """
    return torch.Generator(HOST).manual_seed(seed)


def host_integers(below: int, count: int, generator: torch.Generator) -> Tensor:
    """``(count,)`` whole numbers from 0 to ``below - 1``, on the host."""
    return torch.randint(below, (count,), generator=generator, device=HOST)


def host_order(count: int, generator: torch.Generator) -> Tensor:
    """The numbers 0 … count - 1 in a random order ``(count,)``, on the host."""
    return torch.randperm(count, generator=generator, device=HOST)
