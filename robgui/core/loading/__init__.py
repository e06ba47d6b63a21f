"""Model files: any format becomes a Classifier, and no file runs code without trust."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.core.devices import default_device
    from robgui.core.loading.architecture import is_ours
    from robgui.core.trust.opening import load

__all__ = ["default_device", "is_ours", "load"]

_HOMES = {
    "default_device": "robgui.core.devices",
    "is_ours": "robgui.core.loading.architecture",
    "load": "robgui.core.trust.opening",
}


def __getattr__(name: str) -> Any:
    """Imports on first use: finding out what a file would run needs no torch."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
