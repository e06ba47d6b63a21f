"""check: how a model does on a guard suite, finding by finding: fixed, still or new."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.batch.guards.suite import Case, GuardSuite
from robgui.core.errors import ParamsError
from robgui.core.regular import read_regular

if TYPE_CHECKING:
    from robgui.core.model.card import ModelCard

#: Bytes: a baseline may come from anyone.
_LARGEST_BASELINE = 50_000_000
#: A probability margin below this may flip with the batch size.
HAIR = 1e-4


class State(StrEnum):
    """What became of a case.

    ``fixed``: a finding that the model now gets right. ``still``: one it gets wrong. ``kept``: a
    guarded input it gets right. ``new``: one it gets wrong, or a finding that the baseline had
    right.
    """

    FIXED = "fixed"
    STILL = "still"
    NEW = "new"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One case after the model was asked.

    Attributes:
        case: The case.
        state: What became of it.
        answer: The class that the model gives.
        probability: Of the class that is right.
        margin: Probability of the class that is right minus that of the best other one.
        known: The baseline has it wrong too, so it does not count as a failure.
    """

    case: Case
    state: State
    answer: str
    probability: float
    margin: float
    known: bool = False

    @property
    def failing(self) -> bool:
        """Whether this result counts against the model."""
        return self.state in (State.STILL, State.NEW) and not self.known

    @property
    def barely(self) -> bool:
        """Whether rounding alone could flip it."""
        return abs(self.margin) < HAIR


@dataclass(frozen=True, slots=True)
class Checked:
    """All cases of a suite after the model was asked."""

    suite: GuardSuite
    model: str
    fingerprint: str
    outcomes: tuple[CaseOutcome, ...]
    baseline: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing counts against the model."""
        return not any(outcome.failing for outcome in self.outcomes)

    def count(self, state: State, *, known: bool | None = None) -> int:
        """How many cases ended in this state; only those of the baseline, or only the others."""
        return sum(one.state is state and known in (None, one.known) for one in self.outcomes)


def check(
    suite: GuardSuite,
    card: ModelCard,
    ask: Callable[..., Any],
    baseline: Mapping[str, bool] | None = None,
    called: str = "",
) -> Checked:
    """Asks a model about every case of a suite, always in the same batches.

    Args:
        suite: The suite.
        card: The model.
        ask: Asks whoever holds it, as ``Models.ask``.
        baseline: Of an earlier check, which cases were right, by name.
        called: What the baseline is called.
    """
    fitted = suite.fitted(card)
    probabilities = [
        ask("scores", model=fitted, topic="guards", x=part).probabilities
        for part in _parts(suite, fitted)
    ]
    rows = np.concatenate(probabilities).astype(np.float64)
    outcomes = tuple(
        _outcome(suite, case, fitted, row, baseline)
        for case, row in zip(suite.cases, rows, strict=True)
    )
    return Checked(suite, card.name, card.fingerprint, outcomes, called)


def read_baseline(path: Path) -> dict[str, bool]:
    """Which cases an earlier ``robgui check --json`` had right, by name.

    Raises:
        ParamsError: It is not such a file.
    """
    how = "name the file that 'robgui check --json' wrote"
    try:
        # Windows editors and PowerShell put a byte order mark in front of UTF-8; json refuses one.
        document = json.loads(read_regular(path, _LARGEST_BASELINE).decode("utf-8-sig"))
        return {str(one["name"]): _right(one["state"]) for one in document["cases"]}
    except OSError as error:
        raise ParamsError(
            f"--baseline {path}: it cannot be read ({error.strerror}); {how}."
        ) from error
    # RecursionError: json descends once per bracket, and a damaged file may be brackets alone.
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ParamsError(f"--baseline {path}: this is no earlier check; {how}.") from error


def _right(state: object) -> bool:
    return State(str(state)) in (State.FIXED, State.KEPT)


def _parts(suite: GuardSuite, card: ModelCard) -> Iterable[np.ndarray]:
    """The inputs in batches that depend only on the suite and the model."""
    # The last digits of a score depend on the batch it is computed in.
    size = max(1, card.batch())
    for start in range(0, len(suite.cases), size):
        part = suite.cases[start : start + size]
        yield np.concatenate([suite.input_for(case, card) for case in part])


def _outcome(
    suite: GuardSuite,
    case: Case,
    card: ModelCard,
    row: np.ndarray,
    baseline: Mapping[str, bool] | None,
) -> CaseOutcome:
    place, best = suite.place_of(case.expected, card), int(row.argmax())
    # Below 0 where the answer is wrong, and near 0 where rounding may turn it.
    margin = float(row[place] - np.delete(row, place).max())
    if baseline is None:
        before = None
    else:
        before = baseline.get(case.name)
    state = _state(case, best == place, before)
    known = before is False and best != place
    return CaseOutcome(case, state, card.labels[best], float(row[place]), margin, known)


def _state(case: Case, right: bool, before: bool | None) -> State:
    finding = case.role == "finding"
    if right:
        if finding:
            return State.FIXED
        return State.KEPT
    # Without an earlier check, the suite itself is the past: its findings were wrong when it was
    # written, its originals and controls were right.
    if before is None:
        if finding:
            return State.STILL
        return State.NEW
    if before:
        return State.NEW
    return State.STILL
