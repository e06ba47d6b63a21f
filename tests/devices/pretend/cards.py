"""What the pretended devices count: reads, copies, and bytes up to a cap."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

import torch

from tests.devices.pretend.cells import fail

NAME = "pretend"


@dataclass
class Card:
    """What one pretended device counts.

    Attributes:
        reads: How often the host waited for it.
        sends: Copies from the host to it.
        live: Bytes in use.
        peak: The most bytes that were in use.
        cap: Bytes it has; None for no end.
        sites: Which line asked for a read, and how often.
        own_numbers: Draw other random numbers than the CPU does, as a GPU would.
    """

    reads: int = 0
    sends: int = 0
    live: int = 0
    peak: int = 0
    cap: int | None = None
    sites: Counter[str] = field(default_factory=Counter)
    own_numbers: bool = False
    storages: Counter[int] = field(default_factory=Counter)

    def forget_counts(self) -> None:
        """Starts counting from nothing; what is in use stays in use."""
        self.reads = self.sends = 0
        self.peak, self.cap, self.own_numbers = self.live, None, False
        self.sites.clear()


CARDS = (Card(), Card())
LOCK = threading.RLock()


class Hold:
    """Counts the bytes of a storage as long as a tensor lies in it."""

    def __init__(self, values: torch.Tensor, index: int) -> None:
        storage = values.untyped_storage()
        self._card, self._key, self._bytes = CARDS[index], storage._cdata, storage.nbytes()
        with LOCK:
            card = self._card
            if not card.storages[self._key]:
                if card.cap is not None and card.live + self._bytes > card.cap:
                    fail(
                        torch.OutOfMemoryError(
                            f"{NAME}:{index} out of memory. Tried to allocate {self._bytes} bytes;"
                            f" {card.live} of {card.cap} are in use."
                        )
                    )
                card.live += self._bytes
                card.peak = max(card.peak, card.live)
            card.storages[self._key] += 1
            self._counted = True

    def __del__(self) -> None:
        if not getattr(self, "_counted", False):
            return
        with LOCK:
            self._card.storages[self._key] -= 1
            if not self._card.storages[self._key]:
                del self._card.storages[self._key]
                self._card.live -= self._bytes
