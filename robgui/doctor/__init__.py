"""Reports what is installed and what is broken, in sentences a person can act on.

Imports only the standard library and so runs where everything else fails; whatever may crash (Qt,
torch, OpenCV) is tried in its own process.
"""

from __future__ import annotations

from robgui.doctor.check import Check
from robgui.doctor.display import display_problem, window_problem
from robgui.doctor.examination import SECTIONS, as_text, examine, main, report

__all__ = [
    "SECTIONS",
    "Check",
    "as_text",
    "display_problem",
    "examine",
    "main",
    "report",
    "window_problem",
]
