"""Question: something that only whoever holds the models can answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """A question that can be asked in another process.

    Attributes:
        name: What it is called on the way there.
        function: Answers it; called with a Shelf and the values, where the models are. Values are
            plain: JSON and arrays. See ``deferred``.
        answer: The type of the answer, by which what a worker sends is checked.
    """

    name: str
    function: Callable[..., Any]
    answer: Any
