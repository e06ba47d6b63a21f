"""Terms: how worker processes are set up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robgui.core.execution.execution import COMMIT_SECONDS


@dataclass(frozen=True, slots=True)
class Terms:
    """How worker processes are set up.

    Attributes:
        imports: Modules that each imports first.
        pace: Seconds between two results on the way; 0 sends them as fast as they are taken.
        attempts: How often an Execution is tried when its worker is lost.
        memory: Bytes that each may take; 0 sets no limit.
        polite: They yield the processor after their first picture.
        ahead: Each imports every engine while idle.
        keep: A lost process is replaced at once, with its model loaded again.
        notice: Called with the remarks of a loaded model.
    """

    imports: tuple[str, ...] = ()
    pace: float = COMMIT_SECONDS
    attempts: int = 1
    memory: int = 0
    polite: bool = False
    ahead: bool = False
    keep: bool = False
    notice: Callable[[str], None] = lambda sentence: None
