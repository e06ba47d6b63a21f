"""The docks around the panel: inputs, runs, log."""

from robgui.gui.docks.gallery import Gallery
from robgui.gui.docks.log import LogView
from robgui.gui.docks.runs import Runs

__all__ = ["Gallery", "LogView", "Runs"]
