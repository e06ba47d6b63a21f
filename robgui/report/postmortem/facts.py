"""Facts: what is known of the input behind a finding, before anything is said about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.verdict import Status
from robgui.core.view import Axis, Bars, Mark, Series, status_ink

if TYPE_CHECKING:
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.core.verdict import Verdict

_BINS = 20


@dataclass(frozen=True)
class Rank:
    """Where the unchanged input stands among others of the same data.

    A margin is the probability of the right class minus that of the best other one.

    Attributes:
        margin: Of the input.
        others: Margins of the others, ``(n,)``.
        data: What the data are called.
    """

    margin: float
    others: np.ndarray
    data: str

    @property
    def share(self) -> float:
        """The share of the others whose margin is smaller."""
        if len(self.others):
            return float((self.others < self.margin).mean())
        return float("nan")

    @property
    def wrong(self) -> float:
        """The share of the others that get another class than the right one."""
        if len(self.others):
            return float((self.others < 0).mean())
        return float("nan")

    def view(self) -> Bars:
        """The margins as a histogram, with the input in it."""
        # A difference of two probabilities lies in [-1, 1]; an even number of bins puts an edge at
        # zero, where the class changes.
        edges = np.linspace(-1, 1, _BINS + 1)
        counts, _ = np.histogram(self.others, edges)
        return Bars(
            "How narrowly inputs are decided",
            Axis("inputs", kind="count", low=0),
            (),
            (Series(f"inputs of {self.data}", counts.astype(float)),),
            edges=edges,
            x=Axis("margin of the right class", low=-1, high=1, better="high"),
            marks=(Mark(self.margin, "this input", status_ink(Status.FAILS)),),
            note="Below zero another class wins.",
        )


@dataclass(frozen=True)
class ToldRun:
    """A run on the same input and what it says by itself."""

    run: Run
    title: str
    verdict: Verdict


@dataclass(frozen=True)
class Facts:
    """What is known of a finding.

    Attributes:
        finding: The finding.
        model: The model, by name.
        expected: The class that is right.
        given: What the model says of the finding's input.
        by: Who says what is right: ``label`` or ``model``.
        before: The class of the unchanged input; None if there is no such input.
        sure: How sure the model is of that class.
        change: How far each value is changed at most; nan where there is no unchanged input.
        rank: Where the unchanged input stands; None without data.
        runs: What other runs say of the same input.
        alike: Other findings of the same model that name the same confusion.
        open: Why an analysis says nothing, a sentence each.
    """

    finding: StoredFinding
    model: str
    expected: str
    given: str
    by: str
    before: str | None = None
    sure: float = float("nan")
    change: float = float("nan")
    rank: Rank | None = None
    runs: tuple[ToldRun, ...] = ()
    alike: tuple[StoredFinding, ...] = ()
    open: tuple[str, ...] = field(default=())
