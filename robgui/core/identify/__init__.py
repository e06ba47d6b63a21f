"""identify: what a file or folder is, told by its content; nothing in it is loaded or run.

This is the one place that decides whether a path is a model, data, a workspace or something the
program cannot open.
"""

from __future__ import annotations

from robgui.core.identify.content import identify
from robgui.core.identify.formats import NOTHING, PAIR_HEAD, DataFormat, Format, Identity, Kind

__all__ = ["NOTHING", "PAIR_HEAD", "DataFormat", "Format", "Identity", "Kind", "identify"]
