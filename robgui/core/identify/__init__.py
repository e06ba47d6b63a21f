"""identify: tells what a file or folder is from its content; loads and runs nothing.

This is the only place that decides whether a path is a model, data, a workspace or something the
program cannot open.
"""

from __future__ import annotations

from robgui.core.identify.content import identify
from robgui.core.identify.formats import (
    NOTHING,
    PAIR_HEAD,
    PICKLE_ENDINGS,
    DataFormat,
    Format,
    Identity,
    Kind,
)

__all__ = [
    "NOTHING",
    "PAIR_HEAD",
    "PICKLE_ENDINGS",
    "DataFormat",
    "Format",
    "Identity",
    "Kind",
    "identify",
]
