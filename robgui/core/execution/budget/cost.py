"""Estimates what a run will cost: inputs seen by its models, and seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robgui.core.text.words import roughly

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.params.params import Params
    from robgui.core.model.card import ModelCard
    from robgui.core.model.timing.times import CallTimes


#: Up to this many times as long as likely, the longest is not named.
_NARROW = 1.5


@dataclass(frozen=True, slots=True)
class Subject:
    """The facts about a run that its cost depends on.

    Attributes:
        inputs: How many inputs it looks at.
        models: How many models.
        kind: ``image``, ``table`` or ``sequence``.
        shape: Of one input.
        classes: How many classes.
        gradients: Whether the models give gradients.
    """

    inputs: int
    models: int
    kind: str
    shape: tuple[int, ...]
    classes: int
    gradients: bool

    @property
    def values(self) -> int:
        """Numbers of one input."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Calls:
    """How many inputs the models of a run see.

    Attributes:
        fewest: The least; less than ``most`` if the run can end early.
        most: The most.
        slopes: How many of them with gradients.
        at_once: Batch size; 0 for the model's own.
        making: Seconds that it takes to make one of these inputs, besides the model.
        uncounted: What else the run computes that cannot be timed beforehand, in the plural:
            ``proofs``; empty for nothing.
        usual: How many a run mostly takes; 0 if only the two ends are known.
    """

    fewest: int
    most: int
    slopes: int = 0
    at_once: int = 0
    making: float = 0.0
    uncounted: str = ""
    usual: int = 0

    @property
    def likely(self) -> int:
        """The number to name first: the usual one, else the middle of the range by ratio.

        The ends may be a factor of hundreds apart, where a plain mean would be half of the most.
        """
        return self.usual or round(math.sqrt(self.fewest * self.most))

    @classmethod
    def exactly(cls, number: int, slopes: int = 0, at_once: int = 0) -> Calls:
        """A number known beforehand."""
        return cls(number, number, slopes, at_once)

    def seconds(self, number: int, times: CallTimes) -> float:
        """How long ``number`` of them take."""
        slopes, each = min(self.slopes, number), times.each(self.at_once)
        slope = times.slope + each - times.together  # A small batch costs a gradient as much more.
        return (number - slopes) * each + slopes * slope + number * self.making


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will cost.

    Attributes:
        calls: How many inputs its models see.
        likely: Seconds that it mostly takes.
        longest: Most seconds it takes; infinite if the models have not been timed.
        limit: Its time limit in seconds; 0 for none.
    """

    calls: Calls
    likely: float
    longest: float
    limit: float = 0.0

    @property
    def cut(self) -> bool:
        """Whether the time limit may end it."""
        return bool(self.limit) and (self.longest > self.limit or bool(self.calls.uncounted))

    @property
    def words(self) -> str:
        """``about 40 s, 820 calls``; ``about 40 s, at most 3 min; about 700 calls``.

        ``about 40 s and the proofs, 820 calls`` where the time of the proofs is not known, and
        ``cut at 1 min`` where the time limit may end it.
        """
        if not math.isfinite(self.longest):
            return f"{self._end}{self._calls}"
        if self.cut and self.likely >= self.limit:
            return f"{self._end}without a limit about {roughly(self.likely)}, {self._calls}"
        # What cannot be timed is named, not guessed.
        if self.calls.uncounted:
            more = f" and the {self.calls.uncounted}"
        else:
            more = ""
        if self.cut:
            return f"{_about(self.likely)}{more}, cut at {roughly(self.limit)}; {self._calls}"
        if self._narrow:
            return f"{_about(self.longest)}{more}, {self._calls}"
        most = roughly(self.longest)
        return f"{_about(self.likely)}, at most {most}{more}; {self._calls}"

    @property
    def _narrow(self) -> bool:
        """Whether one figure is enough: half as long again changes no plan."""
        return self.longest <= max(1, _NARROW * self.likely)

    @property
    def _end(self) -> str:
        if self.cut:
            return f"cut at {roughly(self.limit)}; "
        return ""

    @property
    def _calls(self) -> str:
        if self.calls.fewest == self.calls.most:
            number = self.calls.most
            about = ""
        else:
            number = self.calls.likely
            about = "about "
        rounded = _rounded(number)
        noun = "call" if rounded == 1 else "calls"
        return f"{about}{rounded:,} {noun}"


def estimate(
    known: Analysis, params: Params, models: Sequence[ModelCard], inputs: int
) -> Estimate | None:
    """What a run of these models will cost; None if unknown."""
    if known.calls is None or not models:
        return None
    first = models[0]
    subject = Subject(
        inputs=inputs,
        models=len(models),
        kind=first.kind,
        shape=tuple(first.shape),
        classes=first.classes,
        gradients=all(model.capabilities.gradients for model in models),
    )
    calls = known.calls(params, subject)
    timed = [model.times for model in models]
    likely, longest = (
        sum(calls.seconds(number, times) for times in timed) / len(timed)
        for number in (calls.likely, calls.most)
    )
    # One model that was never timed makes the sum meaningless: only the calls are shown.
    if not all(times.known for times in timed):
        likely = longest = math.inf
    return Estimate(calls, likely, longest, params.max_seconds)


def _about(seconds: float) -> str:
    if seconds < 1:
        return roughly(seconds)
    return f"about {roughly(seconds)}"


def _rounded(calls: int) -> int:
    """Rounds to two digits, enough for an estimate; small numbers stay exact."""
    if calls < 100:
        return calls
    unit = int(10 ** (len(str(calls)) - 2))
    return round(calls / unit) * unit
