"""Last particle: is the failure probability under noise below 1e-10, and how surely?

Tit, Furon, Rousset, Traonouez.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.analyses.last_particle.estimates import InputEstimates, estimate
    from robgui.analyses.last_particle.exact import Law, monte_carlo_bound, power, threshold
    from robgui.analyses.last_particle.params import LastParticleParams, LastParticleTableParams
    from robgui.analyses.last_particle.result import LastParticleResult, LastParticleTableResult
    from robgui.analyses.last_particle.single_input import last_particle
    from robgui.analyses.last_particle.table.many_inputs import last_particle_table

#: Public name -> module of this package; imported on first use, so the window reads the record
#: without torch.
_HOMES = {
    **dict.fromkeys(("InputEstimates", "estimate"), "estimates"),
    **dict.fromkeys(("Law", "monte_carlo_bound", "power", "threshold"), "exact"),
    "last_particle": "single_input",
    **dict.fromkeys(("LastParticleParams", "LastParticleTableParams"), "params"),
    **dict.fromkeys(("LastParticleResult", "LastParticleTableResult"), "result"),
    "last_particle_table": "table.many_inputs",
}
__all__ = [
    "InputEstimates",
    "LastParticleParams",
    "LastParticleResult",
    "LastParticleTableParams",
    "LastParticleTableResult",
    "Law",
    "estimate",
    "last_particle",
    "last_particle_table",
    "monte_carlo_bound",
    "power",
    "threshold",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
