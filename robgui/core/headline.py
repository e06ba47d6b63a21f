"""Headline: a result as one number with its meaning, so that models and methods can be laid side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: good: nothing to worry about was found; doubtful: look closer; bad: a failure was found; unknown: the run cannot tell.
Status = Literal["good", "doubtful", "bad", "unknown"]

STATUS_WORDS: dict[Status, str] = {
    "good": "Nothing alarming found",
    "doubtful": "Look closer",
    "bad": "Failure found",
    "unknown": "Cannot tell",
}


@dataclass(frozen=True, slots=True)
class Headline:
    """What a run comes down to.

    Attributes:
        title: What the number is, with its conditions: ``Nearest change of class``.
        value: The number; nan when the run does not tell.
        text: The number as a person reads it, with its unit: ``at radius 0.12``.
        better: Which way is good.
        status: What it means for the user.
    """

    title: str
    value: float
    text: str
    better: Literal["low", "high"]
    status: Status
