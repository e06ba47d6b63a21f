"""The window: the only place that imports PySide6 and pyqtgraph."""

from __future__ import annotations

import sys

import PySide6.QtCore as _  # noqa: F401 - loads what is changed below

#: PySide reads the source of every module imported after it, to find out whether it might use
#: ``__feature__``. Nothing in the window does; all modules are declared so unread, which saves a
#: tenth of the start. A PySide without this function behaves as usual.
_feature = sys.modules.get("shibokensupport.feature")
if _feature is not None and hasattr(_feature, "_mod_uses_pyside"):
    vars(_feature)["_mod_uses_pyside"] = lambda module: True
