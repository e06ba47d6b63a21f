"""How many inputs the model sees in each analysis of zoNNscan."""

from __future__ import annotations

import math

from robgui.analyses.zonnscan.params import (
    CornerCasesParams,
    PopulationsParams,
    WatermarkParams,
    ZonnscanParams,
)
from robgui.analyses.zonnscan.resolution import resolution
from robgui.analyses.zonnscan.zone import fitted_radii
from robgui.core.execution.budget.cost import Calls, Subject
from robgui.core.model.timing.times import CallTimes

#: Fewest samples after which a zone may stop, if they are precise enough.
_FEWEST = 64
#: Cost of the gradient attack: 10 radii in 13 steps, twice 8 in 17, and pulling back what it finds.
ATTACK = 10 * 13 + 2 * 8 * 17 + 36
#: The nearest sample that changes class is pulled back in 12 halvings of up to 64.
_NEAREST = 64 * 12
#: Samples that every zone gets first, and the share of a time limit planned for them.
_FIRST_SAMPLES, _FIRST_SHARE = 32, 0.6


def sweep_calls(params: ZonnscanParams, subject: Subject) -> Calls:
    """Samples of every radius, the nearest change among them, the attack."""
    added = 0 if params.radii else params.added
    radii = params.radii or fitted_radii(params.zone, subject.values, subject.kind, few=added > 0)
    # Radius 0 is the input itself, one call.
    zones = sum(radius > 0 for radius in radii)
    fewest, most = _samples(zones, params.samples, params.target_half_width)
    if subject.gradients and zones:
        attack = ATTACK
    else:
        attack = 0
    more = added * params.samples
    return Calls(1 + fewest, 1 + most + more + _NEAREST + attack, slopes=attack)


def populations_calls(params: PopulationsParams, subject: Subject) -> Calls:
    """Two sets of inputs, with the attack if one is made from the other."""
    chosen = _chosen(subject.inputs, params.most)
    if params.against == "adversarial":
        attacked = chosen
    else:
        attacked = 0
    if attacked:
        zones = 2 * chosen
    else:
        zones = min(subject.inputs, 2 * chosen)
    fewest, most = _samples(zones, params.samples, params.target_half_width)
    # Each input once for its own class, and each attacked one for the
    # gradient and for its true class.
    own = zones + 2 * attacked
    return Calls(own + fewest, own + most, slopes=attacked)


def affordable(params: PopulationsParams, times: CallTimes) -> int:
    """How many inputs of each of two sets there is time for."""
    # An input of each set, so two zones.
    seconds = 2 * _FIRST_SAMPLES * times.together
    return max(1, int(_FIRST_SHARE * params.max_seconds / max(seconds, 1e-9)))


def corner_cases_calls(params: CornerCasesParams, subject: Subject) -> Calls:
    """Every model on every input, then the scan of disputed inputs and as many others."""
    looked = _chosen(subject.inputs, params.look_at) * subject.models
    zones = 2 * _chosen(looked, params.most)
    return Calls(looked, looked + zones + _samples(zones, params.samples, 0)[1])


def watermark_calls(params: WatermarkParams, subject: Subject) -> Calls:
    """The key, if one is made, and every run around every key input with both models."""
    # Two models.
    scanned = 2 * params.runs * params.samples * min(params.size, max(1, subject.inputs))
    if params.mode == "compare":
        return Calls.exactly(scanned)
    made = _chosen(subject.inputs, params.most)
    trained = params.rounds * params.size
    return Calls(scanned + made, scanned + 4 * made + trained, slopes=trained + made)


def _samples(zones: int, samples: int, target: float) -> tuple[int, int]:
    """Fewest and most samples of ``zones`` zones."""
    fewest = samples
    if target:  # An interval is never narrower than what its samples can tell from 0.
        fewest = min(samples, max(_FEWEST, math.ceil(resolution(1) / (2 * target))))
    return zones * fewest, zones * samples


def _chosen(inputs: int, most: int) -> int:
    if most:
        return min(inputs, most)
    return inputs
