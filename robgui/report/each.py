"""The headline of every model of a run: models that ran together have a number each, where the result holds one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.headline import Headline


def headlines(headline: Callable[[Any], Headline], result: Any, models: int) -> tuple[Headline, ...]:
    """One headline for each of ``models``, in the order of the request; a number that is of all of them says so."""
    first = headline(result)
    if models < 2:
        return (first,)
    if (parts := _parts(result)) is not None and len(parts) == models:
        return tuple(headline(part) for part in parts)
    return (replace(first, text=f"{first.text}, in a run of {models} models"),) * models


def place(request: Request, fingerprint: str) -> int | None:
    """Where a model stands among those of a request; None when it is not among them."""
    return next((at for at, model in enumerate(request.models) if model.fingerprint == fingerprint), None)


def _parts(result: Any) -> list[Any] | None:
    """The result as its headline sees it for each network alone; None when it is of all networks together."""
    from robgui.analyses.semantic import MapResult, SrvrResult

    if isinstance(result, MapResult):
        return [
            replace(result, tops=result.tops[at : at + 1], traps=replace(result.traps, network=result.traps.network - at))
            for at in range(len(result.networks))
        ]
    if isinstance(result, SrvrResult):
        return [replace(result, srvr=result.srvr[at : at + 1]) for at in range(len(result.networks))]
    return None
