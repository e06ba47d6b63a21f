"""Memory use of graphics cards, which a worker reports along with what it sends.

The window does not import torch and cannot check itself. The figures are for the whole card, all
its users included.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

from robgui.core.execution.worker.frames import FrameError

#: Seconds between two checks.
_LOOK_SECONDS = 1.0
#: More cards than any machine has.
_MOST = 64


@dataclass(frozen=True, slots=True)
class Graphics:
    """The memory of the cards at one moment.

    Attributes:
        when: The moment, by ``time.monotonic``.
        cards: Bytes in use and in total, by device.
    """

    when: float = 0.0
    cards: dict[str, tuple[int, int]] | None = None

    def of(self, device: str) -> tuple[int, int] | None:
        """Bytes in use and in total on a device; None if unknown."""
        return (self.cards or {}).get(device)


class GraphicsLook:
    """Checks now and then, once torch uses a card; asking earlier would allocate memory on it."""

    def __init__(self) -> None:
        self._next = 0.0

    def header(self) -> dict[str, Any]:
        """What to send along; empty if there is nothing new."""
        devices = sys.modules.get("robgui.core.devices")  # Asking would import torch.
        if devices is None or time.monotonic() < self._next or not (cards := devices.cards()):
            return {}
        # Asking the driver takes longer than a small frame, so not with every frame.
        self._next = time.monotonic() + _LOOK_SECONDS
        return {"graphics": [[name, *memory] for name, memory in cards.items()]}


def read_graphics(value: Any) -> Graphics:
    """What a worker reported; FrameError if any of it is malformed."""
    if not isinstance(value, list) or len(value) > _MOST:
        raise FrameError("the memory of graphics cards is malformed")
    cards = {}
    for card in value:
        if not isinstance(card, list) or [type(one) for one in card] != [str, int, int]:
            raise FrameError("the memory of graphics cards is malformed")
        cards[card[0][:20]] = (card[1], card[2])
    return Graphics(time.monotonic(), cards)
