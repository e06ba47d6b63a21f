"""What a paper claims, and whether it holds here: the contract of ``robgui reproduce``.

The claims of a method are a generator ``claims(setting) -> Iterator[Claim]``, named in its record
as ``claims``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from robgui.core.errors import ParamsError, RobguiError
from robgui.core.execution.deferred import deferred
from robgui.core.execution.method import methods as all_methods
from robgui.core.execution.params.params import Params
from robgui.core.execution.step import Step

if TYPE_CHECKING:
    from robgui.core.model.classifier import Classifier

R = TypeVar("R")
Say = Callable[[str], None]
Watch = Callable[[str, Step[Any]], None]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Something to draw: the result of an analysis.

    Attributes:
        name: File name without suffix.
        analysis: Name of the analysis.
        result: Its result.
        title: One line above it.
        params: The settings it came from, which its views need; None for the default ones.
    """

    name: str
    analysis: str
    result: Any
    title: str = ""
    params: Params | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a paper and what came of it.

    Attributes:
        method: Name of the method.
        statement: What is claimed, about which model.
        paper: The paper's figure; empty when it gives none.
        ours: The figure found here.
        holds: None when it could not be run; ``note`` then says why.
        note: On how many inputs and samples, with which settings, and what else should be known.
        detail: The numbers behind ``ours``, for the JSON document.
        figures: What to draw.
    """

    method: str
    statement: str
    paper: str
    ours: str
    holds: bool | None
    note: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    figures: tuple[Drawing, ...] = ()

    @property
    def verdict(self) -> str:
        """``holds``, ``does not hold`` or ``undecided``."""
        return {True: "holds", False: "does not hold", None: "undecided"}[self.holds]


def _silent(*_: object) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Setting:
    """What claims are run on, how thoroughly, and where progress goes.

    Attributes:
        data: Data to run on instead of the bundled ones; None for these.
        models: Models to run on instead of bundled or newly trained ones.
        quick: Small sizes: a minute at most, with less power to show anything.
        seed: Start of all random numbers.
        say: Called with a sentence for the user.
        watch: Called with what is being done and every Step of it.
    """

    data: Path | None = None
    models: tuple[Classifier, ...] = ()
    quick: bool = False
    seed: int = 0
    say: Say = _silent
    watch: Watch = _silent

    def last(self, title: str, steps: Iterable[Step[R]]) -> R:
        """Runs an engine to its end, reporting to ``watch``; returns its last result."""
        result: R | None = None
        for step in steps:
            self.watch(title, step)
            result = step.result
        # An engine always gives a result or raises; a foreign one may not.
        if result is None:
            raise RobguiError(f"{title}: the engine gave no result.")
        return result


Claims = Callable[[Setting], Iterator[Claim]]


def methods() -> tuple[str, ...]:
    """Names of the methods that have claims, in the order of the rail."""
    return tuple(method.name.replace("_", "-") for method in all_methods() if method.claims)


def claims_of(method: str) -> Claims:
    """The claims of a method (``-`` and ``_`` are the same)."""
    known = methods()
    if method.replace("_", "-") not in known:
        raise ParamsError(
            f"There are no claims of {method!r} to reproduce; choose one of:"
            f" {', '.join([*known, 'all'])}."
        )
    # Named as text, so listing the claims imports no engine.
    place = next(one.claims for one in all_methods() if one.name == method.replace("-", "_"))
    return deferred(place)


def attempt(method: str, statement: str, paper: str, check: Callable[[], Claim]) -> Claim:
    """The claim that ``check`` returns, or one that says why it cannot be run."""
    try:
        return check()
    # Only errors with a sentence for the user; a bug should end the run.
    except RobguiError as error:
        return Claim(method, statement, paper, "", None, str(error))
