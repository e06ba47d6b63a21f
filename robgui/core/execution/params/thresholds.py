"""Thresholds: the settings that decide between Holds, At risk and Failure found.

A threshold is a field of an analysis' Params with ``json_schema_extra={"judges": unit}``. It is a
setting like any other: the form shows it, the command line and Python take it, and every stored run
records the value it was judged by. A user may change its usual value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from robgui.core.errors import ParamsError
from robgui.core.execution.params.problems import title_of

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from robgui.core.execution.analysis import Analysis


@dataclass(frozen=True, slots=True)
class Threshold:
    """A setting that decides a status.

    Attributes:
        analysis: Name of the analysis it judges.
        field: Its name among the settings.
        title: What it is called.
        unit: What the number counts.
        default: The program's own value.
        low: The smallest it may be.
        high: The largest; inf if unbounded.
        zero: What 0 means; empty if nothing special.
        description: What it decides.
    """

    analysis: str
    field: str
    title: str
    unit: str
    default: float
    low: float
    high: float
    zero: str
    description: str

    @property
    def key(self) -> str:
        """The key that stores the user's own value."""
        return f"{self.analysis}.{self.field}"


def thresholds(known: Analysis) -> list[Threshold]:
    """The thresholds of an analysis, in the order of its form."""
    return [
        _threshold(known, name, field)
        for name, field in known.params.model_fields.items()
        if _extra(field).get("judges")
    ]


def usual(known: Analysis, chosen: Mapping[str, float]) -> dict[str, float]:
    """The thresholds the user chose for an analysis, by field; invalid values are left out."""
    wanted = {
        each.field: chosen[each.key]
        for each in thresholds(known)
        # Preferences may be of another version, or edited by hand.
        if each.key in chosen and each.low <= chosen[each.key] <= each.high
    }
    return {name: value for name, value in wanted.items() if _allowed(known, name, value)}


def every(known: Iterable[Analysis]) -> list[Threshold]:
    """The thresholds of all these analyses."""
    return [each for one in known for each in thresholds(one)]


def _threshold(known: Analysis, name: str, field: FieldInfo) -> Threshold:
    extra = _extra(field)
    low, high = 0.0, float("inf")
    for bound in field.metadata:
        low = float(getattr(bound, "ge", getattr(bound, "gt", low)))
        high = float(getattr(bound, "le", getattr(bound, "lt", high)))
    return Threshold(
        known.name,
        name,
        title_of(name, known.params.model_fields),
        str(extra["judges"]),
        float(field.get_default(call_default_factory=True)),
        low,
        high,
        str(extra.get("zero", "")),
        field.description or "",
    )


def _allowed(known: Analysis, name: str, value: float) -> bool:
    try:
        known.params.parse({name: value})
    except ParamsError:
        return False
    return True


def _extra(field: FieldInfo) -> Mapping[str, Any]:
    if isinstance(field.json_schema_extra, dict):
        return field.json_schema_extra
    return {}
