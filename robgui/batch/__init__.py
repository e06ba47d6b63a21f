"""Batches: many requests from one file, on this machine or on a cluster, into one workspace."""

from robgui.batch.batch import Batch, BatchEntry, Progress
from robgui.batch.gates import Gate, GateOutcome, judge
from robgui.batch.places import local_places, local_workers
from robgui.batch.plan import Plan, Planned, expand
from robgui.batch.planning import plan_with
from robgui.batch.suite import Suite, read_suite
from robgui.core.execution.worker.process import Place

__all__ = [
    "Batch",
    "BatchEntry",
    "Gate",
    "GateOutcome",
    "Place",
    "Plan",
    "Planned",
    "Progress",
    "Suite",
    "expand",
    "judge",
    "local_places",
    "local_workers",
    "plan_with",
    "read_suite",
]
