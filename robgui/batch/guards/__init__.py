"""Guards: findings as tests that a later model must pass.

A guard suite is a folder: ``suite.json`` says which input is which and what is right, ``inputs/``
holds them, and ``test_findings.py`` asks a model about each with pytest. This program only ever
reads ``suite.json`` and the inputs; no code in the folder runs.
"""

from robgui.batch.guards.suite import Case, GuardSuite, guard_suite

__all__ = ["Case", "GuardSuite", "guard_suite"]
