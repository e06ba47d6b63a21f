"""The methods, one package each; every engine is a generator of complete results.

``robgui.analyses`` is this package and, called, also the registry: ``robgui.analyses()`` gives
every analysis by name.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis


class _Analyses(ModuleType):
    """A package that can be called: the public function and the package share their name."""

    def __call__(self) -> dict[str, Analysis]:
        from robgui.core.execution.registry import analyses

        return analyses()


sys.modules[__name__].__class__ = _Analyses
