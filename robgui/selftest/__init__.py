"""The proof of a device in one command: every analysis runs on it and on the processor, on the
demo, and what comes out is compared.
"""

from __future__ import annotations

from robgui.selftest.command import main, parser

__all__ = ["main", "parser"]
