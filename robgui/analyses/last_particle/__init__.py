"""Last particle: is the failure probability under noise below 1e-10, with what confidence? (Tit, Furon, Rousset, Traonouez)."""

from robgui.analyses.last_particle.estimate import Estimate, estimate
from robgui.analyses.last_particle.exact import Law, monte_carlo_bound, power, threshold
from robgui.analyses.last_particle.one import last_particle
from robgui.analyses.last_particle.params import LastParticleParams, LastParticleTableParams
from robgui.analyses.last_particle.result import LastParticleResult, LastParticleTableResult
from robgui.analyses.last_particle.table import last_particle_table

__all__ = [
    "Estimate",
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
