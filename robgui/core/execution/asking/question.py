"""Question: something only the process with the models can answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """A question that can be asked in another process.

    Attributes:
        name: Its name on the wire.
        function: Answers it; called in the process with the models, with its Shelf and the values.
            Values are plain: JSON and arrays. See ``deferred``.
        answer: The type of the answer; a worker's reply is checked against it.
    """

    name: str
    function: Callable[..., Any]
    answer: Any
