"""Writes a suite that repeats runs, a start for writing one by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from robgui.core.execution.registry import analyses
from robgui.core.execution.request import Reference, Request
from robgui.core.model.settings import ModelSettings

_HEAD = (
    "# Made of the runs of a workspace: robgui batch THIS_FILE --workers 2\n"
    "# Add models and data, or lists of values: grid = { seed = [0, 1, 2] }.\n"
)


def suite_of_runs(requests: Iterable[Request]) -> str:
    """A suite file with every question of ``requests`` once; empty if none can be asked again.

    What has no file, for example derived inputs, cannot be named in a suite.
    """
    asked = [one for one in requests if one.analysis in analyses() and _has_files(one)]
    if not asked:
        return ""
    models = _files(model for one in asked for model in one.models)
    data = _files(one.dataset for one in asked if one.dataset is not None)
    parts = [_HEAD]
    parts += [_table("models", _model(one)) for one in models]
    parts += [_table("datasets", {"path": one.path, "options": one.options}) for one in data]
    # The same question asked twice is one table; a dict keeps the order.
    parts += dict.fromkeys(_table("analyses", _analysis(one)) for one in asked)
    return "\n".join(parts)


def _has_files(request: Request) -> bool:
    named = [*request.models, *([] if request.dataset is None else [request.dataset])]
    return bool(request.models) and all(one.path for one in named)


def _files(references: Iterable[Reference]) -> list[Reference]:
    """Each file once, as it was used last."""
    return list({one.path: one for one in references}.values())


def _model(reference: Reference) -> dict[str, Any]:
    usual = ModelSettings().model_dump(mode="json")
    told = reference.options.items()
    settings = {name: value for name, value in told if value != usual.get(name)}
    return {"path": reference.path, "settings": settings}


def _analysis(request: Request) -> dict[str, Any]:
    usual = analyses()[request.analysis].params().model_dump(mode="json")
    found: dict[str, Any] = {"name": request.analysis}
    found["models"] = [model.name for model in request.models]
    if request.dataset is not None:
        found["datasets"] = [request.dataset.name]
    if request.indices is not None:
        found["index"] = list(request.indices)
    told = request.params.items()
    found["params"] = {name: value for name, value in told if value != usual.get(name)}
    return found


def _table(title: str, fields: Mapping[str, Any]) -> str:
    lines = [f"{name} = {_toml(value)}" for name, value in fields.items() if _told(value)]
    return "\n".join([f"[[{title}]]", *lines, ""])


def _told(value: Any) -> bool:
    return value is not None and value not in ({}, [])


def _toml(value: Any) -> str:
    """A value of JSON as TOML writes it; what is None is left out."""
    if isinstance(value, Mapping):
        # Quoted: names of classes may hold anything. TOML has no null.
        pairs = [f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items() if v is not None]
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(_toml(one) for one in value if one is not None)}]"
    return json.dumps(value, ensure_ascii=False)
