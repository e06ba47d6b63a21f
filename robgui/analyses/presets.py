"""Presets: named sets of settings, such as those of the papers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robgui.core.execution.analysis import Params


def with_preset(params: type[Params], values: Any, presets: Mapping[str, Mapping[str, Any]]) -> Any:
    """Unvalidated settings, with those of the preset they name wherever a setting is at its default: the user's own win."""
    if not isinstance(values, dict):
        return values
    wanted = presets.get(str(values.get("preset")), {})
    defaults = {name: params.model_fields[name].default for name in wanted}
    return {**values, **{name: value for name, value in wanted.items() if values.get(name, defaults[name]) == defaults[name]}}
