"""How full graphics cards are: a worker tells it along with what it sends, where there are any.

The window does not import torch, so it cannot look itself. What a worker reads is of a whole card,
whoever uses it.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

from robgui.core.execution.worker.frames import FrameError

#: Seconds between two looks.
_LOOK_SECONDS = 1.0
#: More cards than any machine has.
_MOST = 64


@dataclass(frozen=True, slots=True)
class Graphics:
    """The memory of the cards at one moment.

    Attributes:
        when: The moment, by ``time.monotonic``.
        cards: Of each device the bytes in use and in all, by its name.
    """

    when: float = 0.0
    cards: dict[str, tuple[int, int]] | None = None

    def of(self, device: str) -> tuple[int, int] | None:
        """Bytes in use and in all of a device; None where that is not known."""
        return (self.cards or {}).get(device)


class GraphicsLook:
    """Looks now and then, once torch uses a card; asking for more would take memory there."""

    def __init__(self) -> None:
        self._next = 0.0

    def header(self) -> dict[str, Any]:
        """What to send along; empty when there is nothing new."""
        devices = sys.modules.get("robgui.core.devices")  # it would import torch
        if devices is None or time.monotonic() < self._next or not (cards := devices.cards()):
            return {}
        self._next = time.monotonic() + _LOOK_SECONDS
        return {"graphics": [[name, *memory] for name, memory in cards.items()]}


def read_graphics(value: Any) -> Graphics:
    """What a worker has told; FrameError when anything in it is not as it must be."""
    if not isinstance(value, list) or len(value) > _MOST:
        raise FrameError("the memory of graphics cards is malformed")
    cards = {}
    for card in value:
        if not isinstance(card, list) or [type(one) for one in card] != [str, int, int]:
            raise FrameError("the memory of graphics cards is malformed")
        cards[card[0][:20]] = (card[1], card[2])
    return Graphics(time.monotonic(), cards)
