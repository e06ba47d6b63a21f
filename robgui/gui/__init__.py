"""The window: the only place that imports PySide6 and pyqtgraph."""

from __future__ import annotations

import sys

import PySide6.QtCore as _  # noqa: F401 - loads what is changed below

#: PySide reads the source of every module that is imported after it, to learn whether it might use
#: ``__feature__``. Nothing of the window does; all are taken as such unread, which saves a tenth of
#: its start. A version of PySide without this function does what it likes.
_feature = sys.modules.get("shibokensupport.feature")
if _feature is not None and hasattr(_feature, "_mod_uses_pyside"):
    vars(_feature)["_mod_uses_pyside"] = lambda module: True
