"""For the worker of a test only: importing this switches off the checks of TorchScript files, as
if they had a hole.

A worker imports it because the test names it (``Terms.imports``); nothing that a user can set does.
"""

from __future__ import annotations

from typing import Any

from robgui.core.loading.script import reader


def _nothing(*given: Any) -> None:
    """In place of a check."""


for name in ("_refuse_programs", "_refuse_operations", "_refuse_confusion"):
    assert hasattr(reader, name)
    setattr(reader, name, _nothing)
