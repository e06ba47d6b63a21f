"""Gate: a condition on results that fails a suite."""

from __future__ import annotations

import dataclasses
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import numpy as np

from robgui.core.errors import ParamsError
from robgui.core.execution.registry import find
from robgui.core.execution.run import RunState
from robgui.core.text.words import number

if TYPE_CHECKING:
    from robgui.batch.batch import BatchEntry
    from robgui.core.workspace import Workspace

_FORM = re.compile(r"\s*([A-Za-z][\w-]*)\.([\w.]+)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*")
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_REDUCTIONS: dict[str, Callable[[np.ndarray], Any]] = {
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
}
_HOW = (
    "write analysis.field<number, or analysis.field.mean<number (mean, min or max) for a field that"
    " is an array"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """``analysis.field[.reduction] sign number``: any request that satisfies it breaks the gate.

    A value that is not a number breaks it too, and so does a request without a result: the unknown
    is not fine.
    """

    text: str
    analysis: str
    field: tuple[str, ...]
    reduction: str
    sign: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> Gate:
        """Parses a condition; raises ParamsError if the analysis, field or number is unknown."""
        form = _FORM.fullmatch(text)
        if form is None:
            raise ParamsError(f"The gate {text!r} is not understood; {_HOW}.")
        name, path, sign, bound = form.groups()
        parts = path.split(".")
        if len(parts) > 1 and parts[-1] in _REDUCTIONS:
            reduction = parts.pop()
        else:
            reduction = ""
        known = find(name)
        _check_field(known.result, parts, bool(reduction), text)
        try:
            return cls(text.strip(), known.name, tuple(parts), reduction, sign, float(bound))
        except ValueError:
            raise ParamsError(f"The gate {text!r}: {bound} is not a number; {_HOW}.") from None

    def value(self, result: Any) -> float:
        """The number the gate examines; nan if there is none."""
        for name in self.field:
            result = getattr(result, name, None)
        if result is None:
            return math.nan
        array = np.asarray(result, dtype=np.float64)
        if not array.size or (array.size > 1 and not self.reduction):
            return math.nan
        # Without a reduction there is one value, of which each reduction gives the same.
        return float(_REDUCTIONS[self.reduction or "max"](array))

    def breaks(self, value: float) -> bool:
        """Whether a result with this value breaks the gate."""
        # Unknown is not passed.
        return math.isnan(value) or _SIGNS[self.sign](value, self.bound)


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """A gate after the suite: a sentence in ``broken`` for each checked request that breaks it."""

    gate: Gate
    checked: int
    broken: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing breaks the gate."""
        return not self.broken


def judge(
    gates: Sequence[Gate], entries: Iterable[BatchEntry], workspace: Workspace
) -> list[GateOutcome]:
    """Checks every gate against the stored results."""
    checked = [0] * len(gates)
    broken: list[list[str]] = [[] for _ in gates]
    for entry in entries:
        mine = [
            place for place, gate in enumerate(gates) if gate.analysis == entry.request.analysis
        ]
        done = entry.state is RunState.DONE and entry.run_id
        if mine and done:
            # Read once for all gates: a result may have megabytes.
            result = workspace.result(entry.run_id)
        else:
            result = None
        for place in mine:
            checked[place] += 1
            if sentence := _verdict(gates[place], entry, result):
                broken[place].append(sentence)
    return [
        GateOutcome(gate, count, tuple(found))
        for gate, count, found in zip(gates, checked, broken, strict=True)
    ]


def _verdict(gate: Gate, entry: BatchEntry, result: Any) -> str:
    if result is None:
        return f"{entry.title}: there is no result ({entry.state})"
    value = gate.value(result)
    if gate.breaks(value):
        return f"{entry.title}: {number(value)}"
    return ""


def _check_field(result: type[Any], parts: Sequence[str], reduced: bool, text: str) -> None:
    """Whether the result has this field and it is a number, or an array to be reduced."""
    hint: Any = result
    for part in parts:
        inner = next(
            (each for each in (hint, *get_args(hint)) if dataclasses.is_dataclass(each)), None
        )
        if inner is not None:
            hints = get_type_hints(inner)
        else:
            hints = {}
        if part not in hints:
            raise ParamsError(
                f"The gate {text!r}: there is no field {part!r}; choose one of:"
                f" {', '.join(hints) or 'none'}."
            )
        hint = hints[part]
    kinds = {hint, *get_args(hint)}
    # Ellipsis: tuple[float, ...] has as many values as it likes.
    if not reduced and (np.ndarray in kinds or Ellipsis in kinds):
        raise ParamsError(
            f"The gate {text!r}: {'.'.join(parts)} is an array; add .mean, .min or .max."
        )
    if kinds & {str} or any(dataclasses.is_dataclass(kind) for kind in kinds):
        raise ParamsError(f"The gate {text!r}: {'.'.join(parts)} is not a number; {_HOW}.")
