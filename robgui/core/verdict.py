"""Verdict: what a result says, for the window, the command line, the report and the scoreboard.

A status is a claim, so each has a rule: FAILS and AT_RISK rest on an observed failure, HOLDS needs
evidence for it, and no evidence means UNKNOWN.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from robgui.core.text.words import duration, number


class Status(StrEnum):
    """What a result means for its user, from what matters most to what matters least."""

    FAILS = "fails"
    AT_RISK = "at risk"
    UNKNOWN = "unknown"
    HOLDS = "holds"

    @property
    def words(self) -> str:
        """The status as it stands beside its sign."""
        return _WORDS[self]

    @property
    def sign(self) -> str:
        """One character; the words always stand beside it."""
        return _SIGNS[self]


_WORDS = {
    Status.FAILS: "Failure found",
    Status.AT_RISK: "At risk",
    Status.UNKNOWN: "Cannot tell",
    Status.HOLDS: "Holds",
}
_SIGNS = {Status.FAILS: "✗", Status.AT_RISK: "!", Status.UNKNOWN: "?", Status.HOLDS: "✓"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """The number a result comes down to.

    Attributes:
        name: What it is, with its conditions: ``Nearest change of class``.
        value: The number; nan if the result does not tell it.
        unit: Its unit, empty for a plain number.
        low: Lower end of its 95 % interval; nan without one.
        high: Upper end.
        better: Which way is good; ``neither`` for a number that says nothing about quality.
        text: The number as a person reads it, if value and unit are not enough: ``none up to radius
            1``.
    """

    name: str
    value: float
    unit: str = ""
    low: float = math.nan
    high: float = math.nan
    better: Literal["low", "high", "neither"] = "neither"
    text: str = ""

    @property
    def words(self) -> str:
        """The number as a person reads it, with its unit and interval."""
        if self.text:
            return self.text
        unit = f" {self.unit}" if self.unit else ""
        if math.isfinite(self.low) and math.isfinite(self.high):
            return f"{number(self.value)}{unit} ({number(self.low)} to {number(self.high)})"
        return f"{number(self.value)}{unit}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a result says.

    Attributes:
        status: What it means.
        sentence: One sentence a manager understands, true on its own.
        number: The number it comes down to; None if there is none.
        scope: What it covers: which inputs under which filter, which ranges, how much of them is
            computed.
        because: What the status rests on, evidence against it first; one sentence each.
        models: For an analysis of several models, what it says of each, in the order of the
            request; else empty.
        reach: Of what size or over what range it would hold, to stand after “Holds”: ``against a
            change of each value by at most 0.1 of its range``.
        inputs: How many inputs it rests on, where an analysis of many inputs looked at fewer than
            were offered; else None.
        about: Which of ``models`` the sentence is about, whose own sentence leaves its name out;
            None if it is about all of them.
        is_cut: Whether its run ran out of time.
    """

    status: Status
    sentence: str
    number: Quantity | None = None
    scope: str = ""
    because: tuple[str, ...] = ()
    models: tuple[Verdict, ...] = ()
    reach: str = ""
    inputs: int | None = None
    about: int | None = None
    is_cut: bool = False

    @property
    def line(self) -> str:
        """Its sign and its sentence, for one-line places."""
        return f"{self.status.sign} {self.sentence}"

    @property
    def text(self) -> str:
        """The whole verdict as running text."""
        return " ".join(part for part in (self.sentence, self.scope, *self.because) if part)

    def stopped(self) -> Verdict:
        """A copy for a stopped run that says so before anything else."""
        models = tuple(one.stopped() for one in self.models)
        return replace(self, sentence=f"Stopped early. {self.sentence}", models=models)

    def failed(self) -> Verdict:
        """A copy for a run that failed on its way and says so before anything else.

        What was seen stays seen; what such a run did not see is not known.
        """
        models = tuple(one.failed() for one in self.models)
        status = Status.UNKNOWN if self.status is Status.HOLDS else self.status
        sentence = f"The run failed before its end. {self.sentence}"
        return replace(self, status=status, sentence=sentence, models=models)

    def cut(self, seconds: float) -> Verdict:
        """A copy for a run that ran out of time and says so before anything else.

        Args:
            seconds: The limit.
        """
        models = tuple(one.cut(seconds) for one in self.models)
        limit = f"Cut at its time limit of {duration(seconds)}."
        return replace(self, sentence=f"{limit} {self.sentence}", models=models, is_cut=True)

    def among(self, chosen: str) -> Verdict:
        """A copy for a run on a subset of the inputs that says which.

        Args:
            chosen: How many of how many, and how they were chosen; empty for all.
        """
        if not chosen or not self.sentence:
            return self
        models = tuple(one.among(chosen) for one in self.models)
        return replace(self, sentence=f"Only {chosen}: {self.sentence}", models=models)

    def of(self, place: int) -> Verdict:
        """The verdict on the model at ``place`` of the request.

        The whole verdict if it does not tell the models apart.
        """
        if place < len(self.models):
            return self.models[place]
        return self


def worst_of(verdicts: Sequence[Verdict]) -> int:
    """The place of the gravest verdict; between equals, the one with the worst number."""
    # Status is declared gravest first, so its order is the ranking.
    order = list(Status)

    def grave(place: int) -> tuple[int, float]:
        number = verdicts[place].number
        if number is None:
            value = math.nan
        else:
            value = number.value
        # A verdict without a number cannot be worse than one that has it, so it loses between
        # equals.
        if not math.isfinite(value):
            return order.index(verdicts[place].status), math.inf
        if number is not None and number.better == "low":
            worse = -value
        else:
            worse = value
        return order.index(verdicts[place].status), worse

    return min(range(len(verdicts)), key=grave)


def of_several(names: Sequence[str], each: Sequence[Verdict], order: str, scope: str) -> Verdict:
    """The gravest verdict of several models, with its model's name and each model's own.

    Args:
        names: What the models are called.
        each: Their verdicts.
        order: Which of them is better, in a sentence; empty if that is not known.
        scope: What the verdicts speak of.
    """
    place = worst_of(each)
    worst, name = each[place], names[place]
    number = worst.number
    if number:
        number = replace(number, name=f"{number.name}, {name}")
    because = tuple(f"{one}: {said.sentence}" for one, said in zip(names, each, strict=True))
    sentence = f"{name}: {worst.sentence} {order}"
    return Verdict(
        worst.status, sentence, number, scope, because, tuple(each), worst.reach, about=place
    )


def to_json(verdict: Verdict) -> str:
    """A verdict as a workspace keeps it: strict JSON, null for nan."""
    return json.dumps(_finite(asdict(verdict)), allow_nan=False)


def from_json(text: str) -> Verdict | None:
    """The verdict in a workspace; None for none.

    The first edition kept the words alone: their status is unknown.

    Raises:
        ValueError: The text is not a verdict.
    """
    if not text:
        return None
    # Words alone carry no claim that could be checked, so they keep no colour either.
    if not text.startswith("{"):
        return Verdict(Status.UNKNOWN, text)
    return _verdict(json.loads(text))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _verdict(fields: Any) -> Verdict:
    if not isinstance(fields, dict):
        raise ValueError("a verdict is a JSON object")  # noqa: TRY004 - it is a value of a file
    quantity = fields.get("number")
    because, models = fields.get("because", []), fields.get("models", [])
    texts = [fields.get("sentence"), fields.get("scope", ""), fields.get("reach", ""), *because]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a verdict's sentences are text")
    if not isinstance(fields.get("is_cut", False), bool):
        raise ValueError("a verdict is cut or not")  # noqa: TRY004 - it is a value of a file
    fields = _with_facts_of_words(fields)
    return Verdict(
        status=Status(str(fields.get("status"))),
        sentence=fields["sentence"],
        number=None if quantity is None else _quantity(quantity),
        scope=fields.get("scope", ""),
        because=tuple(because),
        models=tuple(_verdict(one) for one in models),
        reach=fields.get("reach", ""),
        inputs=_count(fields.get("inputs")),
        about=_count(fields.get("about")),
        is_cut=fields["is_cut"],
    )


def _with_facts_of_words(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a stored verdict with what earlier versions kept in its sentences alone."""
    if "is_cut" in fields:
        return fields
    sentence, because = fields["sentence"], fields.get("because", [])
    about = None
    # Where it was about one of several models, there was one reason per model, its name before
    # its own sentence, and the sentence repeated that of the gravest.
    if because and len(because) == len(fields.get("models", [])):
        about = next((place for place, one in enumerate(because) if one in sentence), None)
    return {**fields, "about": about, "is_cut": sentence.startswith("Cut at its time limit")}


def _count(value: Any) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise ValueError("the number of inputs of a verdict is a whole number")
    return value


def _quantity(fields: Any) -> Quantity:
    if not isinstance(fields, dict) or fields.get("better") not in ("low", "high", "neither"):
        raise ValueError("a verdict's number is malformed")
    texts = {key: fields.get(key, "") for key in ("name", "unit", "text")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("the words of a verdict's number are text")
    numbers = {
        key: math.nan if fields.get(key) is None else float(fields[key])
        for key in ("value", "low", "high")
    }
    return Quantity(
        texts["name"],
        numbers["value"],
        texts["unit"],
        numbers["low"],
        numbers["high"],
        fields["better"],
        texts["text"],
    )
