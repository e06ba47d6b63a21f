"""What the labels say of each class, as DeepInspect has counted them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.core.class_errors import FEWEST, ClassErrors, class_errors

if TYPE_CHECKING:
    from robgui.analyses.deepinspect.result import DeepInspectResult

__all__ = ["FEWEST", "ClassErrors", "errors_of"]


def errors_of(result: DeepInspectResult) -> ClassErrors | None:
    """Errors per class; None without labels and for a multi-label model."""
    if result.multi_label or not len(result.true):
        return None
    return class_errors(result.true, result.predicted, len(result.classes))
