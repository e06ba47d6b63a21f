"""Asked: a question on its way to a worker process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from robgui.core.codec import take_apart
from robgui.core.errors import ModelError
from robgui.core.execution.worker.frames import Frame


class LostError(ModelError):
    """The process that was asked is gone."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question for a worker; ``done`` is called with the answer or the error."""

    what: str
    values: Mapping[str, Any]
    done: Callable[[Any], None]

    @property
    def number(self) -> int:
        """The number its answer carries."""
        # Unique for as long as it matters: the slot holds the question until it is answered.
        return id(self)

    def frame(self) -> Frame:
        """The frame to send."""
        document, arrays = take_apart(dict(self.values))
        header = {"do": "ask", "number": self.number, "what": self.what, "values": document}
        return Frame(header, arrays)
