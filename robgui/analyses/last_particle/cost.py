"""How many inputs the model sees in a test and in a table of tests."""

from __future__ import annotations

from robgui.analyses.last_particle.noise.sizes import fitted_sizes
from robgui.analyses.last_particle.params import (
    LastParticleParams,
    LastParticleTableParams,
    MethodParams,
)
from robgui.core.execution.budget.cost import Calls, Subject
from robgui.core.model.timing.times import CallTimes

#: The search for the likeliest failures: rivals at most and other starts, steps with gradients,
#: halvings, then centres times copies times steps.
_RIVALS, _STARTS, _STEPS, _HALVINGS, _CENTRED = 16, 7, 25, 12, 6 * 16 * 16

#: Calls of the search for the direction of leaps.
_STEEP = 3 * 4
#: Samples around the failures of one input of a table.
_FEW_AROUND = 2000
#: Share of a time limit that is planned for repetitions of the test.
_FOR_THE_TEST = 0.6


def plain_draws(particles: int, kill: int, moves: int) -> int:
    """How many points are drawn at most before particles leap, see ``particles.beginning``.

    The i-th is among the N highest with probability N / i and then saves t moves, so draws pay up
    to N t; three quarters of them have nearly all of the gain. Only where one dies at a time.
    """
    if kill > 1:
        return particles
    return max(1, moves * 3 // 4) * particles


def one_input_calls(params: LastParticleParams, subject: Subject) -> Calls:
    """Calls for the test of one input and everything beside it."""
    return _pairs(params, subject, 1)


def table_calls(params: LastParticleTableParams, subject: Subject) -> Calls:
    """A test for every input and size of noise."""
    sizes = params.radii or fitted_sizes(params.noise, subject.kind, subject.values)
    few = params.model_copy(update={"importance": min(params.importance, _FEW_AROUND)})
    return _pairs(few, subject, min(params.most, max(1, subject.inputs)) * len(sizes))


def affordable(params: LastParticleParams, times: CallTimes, gradients: bool) -> int:
    """How many repetitions there is time for: one that ends says more than many that do not."""
    from robgui.analyses.last_particle.exact import Law

    rounds = Law(params.particles, params.kill).threshold(params.critical, params.risk)
    moves = params.moves(params.leaps(gradients))
    seconds = rounds * moves * times.together
    wanted = int(_FOR_THE_TEST * params.max_seconds / max(seconds, 1e-9))
    return max(1, min(params.replicas, wanted))


def _pairs(params: MethodParams, subject: Subject, pairs: int) -> Calls:
    from robgui.analyses.last_particle.exact import Law

    law = Law(params.particles, params.kill, params.replicas)
    if params.class_wise:
        rivals = subject.classes - 1
    else:
        rivals = 1
    first = params.particles * params.replicas * rivals
    leaps = params.leaps(subject.gradients)
    # Replicas stop together at m in all; each may have one more round under way.
    rounds = law.threshold(params.critical / rivals, params.risk) + params.replicas
    moves, drawn = params.moves(leaps), first
    if leaps:
        drawn = plain_draws(params.particles, params.kill, moves) * params.replicas * rivals
    tested = drawn + rounds * moves * rivals
    slopes = _STEEP if leaps else 0
    searched = 0
    if subject.gradients:
        slopes += params.attack_steps
        if params.importance:
            rows = min(_RIVALS, subject.classes - 1) + _STARTS
            slopes += rows * _STEPS + _CENTRED
            searched = params.importance + rows * _HALVINGS
    fewest = first + params.samples
    most = tested + params.samples + slopes + searched
    return Calls(fewest * pairs, most * pairs, slopes * pairs)
