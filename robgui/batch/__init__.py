"""Batches: many requests from one file, on this machine or on a cluster, into one workspace."""

from robgui.batch.batch import Batch, Entry, Progress
from robgui.batch.gates import Gate, Outcome, judge
from robgui.batch.plan import Plan, Planned, expand
from robgui.batch.processes import Place, Processes, local_places
from robgui.batch.suite import Suite, read_suite

__all__ = [
    "Batch",
    "Entry",
    "Gate",
    "Outcome",
    "Place",
    "Plan",
    "Planned",
    "Processes",
    "Progress",
    "Suite",
    "expand",
    "judge",
    "local_places",
    "read_suite",
]
