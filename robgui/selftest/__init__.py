"""Proves a device in one command: runs every analysis on it and on the processor, and compares.

Uses the models and data of the demo.
"""

from __future__ import annotations

from robgui.selftest.command import main, parser

__all__ = ["main", "parser"]
