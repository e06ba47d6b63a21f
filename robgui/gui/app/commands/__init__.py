"""What the actions do, and the table of them."""

from __future__ import annotations

from robgui.gui.app.commands.commands import Commands
from robgui.gui.app.commands.endings import MODEL_ENDINGS

__all__ = ["MODEL_ENDINGS", "Commands"]
