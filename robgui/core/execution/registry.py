"""Every analysis by name, whichever method brings it."""

from __future__ import annotations

from robgui.core.errors import ParamsError
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.method import Method, bringing, methods
from robgui.core.execution.params.problems import did_you_mean

#: Analyses that belong to no method: made in a notebook or a test, see ``register``.
_LOOSE: dict[str, Analysis] = {}


def register(analysis: Analysis) -> Analysis:
    """Registers an analysis that belongs to no method.

    Usable as a decorator above ``analysis``.
    """
    _LOOSE[analysis.name] = analysis
    return analysis


def unregister(name: str) -> None:
    """Forgets an analysis registered with ``register``."""
    _LOOSE.pop(name, None)


def analyses() -> dict[str, Analysis]:
    """Every analysis by name, in the order of the rail."""
    known = {one.name: one for method in methods() for one in method.analyses}
    # Loose ones win: a notebook may replace an analysis by its own.
    return known | _LOOSE


def method_of(analysis: str) -> Method | None:
    """The method that brings an analysis; None if it belongs to none."""
    return next(
        (method for method in methods() for one in method.analyses if one.name == analysis), None
    )


def find(name: str) -> Analysis:
    """The analysis called ``name`` (``-`` and ``_`` are the same)."""
    wanted = name.replace("-", "_")
    if wanted not in _LOOSE and (method := bringing(wanted)) is not None:
        return next(one for one in method.analyses if one.name == wanted)
    known = analyses()
    if wanted in known:
        return known[wanted]
    advice = did_you_mean(wanted, known, f"choose one of: {', '.join(known)}.")
    raise ParamsError(f"There is no analysis {name!r}; {advice}")
