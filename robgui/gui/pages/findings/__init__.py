"""The findings: a wall of pairs, and a page for each of them."""

from robgui.gui.pages.findings.page import Findings

__all__ = ["Findings"]
