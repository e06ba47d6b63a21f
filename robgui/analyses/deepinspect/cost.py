"""How many inputs the network sees in each analysis of DeepInspect."""

from __future__ import annotations

from robgui.analyses.deepinspect.params import DeepInspectParams, InspectParams
from robgui.core.execution.budget.cost import Calls, Subject

#: Calls of the two games that test a pair.
#: One in each direction, see ``confirming.CALLS``.
_CONFIRMED = 2000
#: Most wrong inputs examined again, evenly spread if there are more.
LOOKED_AT = 256


def inspect_calls(params: DeepInspectParams, subject: Subject) -> Calls:
    """One pass over the inputs, and games for the pairs to confirm."""
    inputs = subject.inputs
    return Calls(inputs, inputs + min(inputs, LOOKED_AT) + _CONFIRMED * params.confirm)


def pass_calls(params: InspectParams, subject: Subject) -> Calls:
    """One pass over the inputs."""
    return Calls.exactly(subject.inputs)
