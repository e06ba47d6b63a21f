"""Writes a Request as the command line that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.execution.params.text import format_value
from robgui.core.execution.registry import find
from robgui.core.model.settings import parse, read_side_file

if TYPE_CHECKING:
    from robgui.core.execution.request import Reference, Request


def command_line(request: Request) -> str:
    """``robgui run …`` for ``request``.

    What exists only in memory appears as ``<name>``, to be filled in.
    """
    words = ["robgui", "run", request.analysis.replace("_", "-")]
    for model in request.models:
        words += ["--model", model.path or f"<{model.name}>"]
    # --model-set holds for all models alike, so it can repeat the settings of one only.
    if len(request.models) == 1:
        words += _pairs("--model-set", _not_in_side_file(request.models[0]))
    if request.dataset is not None:
        words += ["--data", request.dataset.path or f"<{request.dataset.name}>"]
        words += _pairs(
            "--data-set",
            {name: value for name, value in request.dataset.options.items() if value is not None},
        )
    if request.indices is not None:
        words += ["--index", _ranges(request.indices)]
    params = find(request.analysis).params.parse(dict(request.params))
    # Defaults are left out, so that the line stays short enough to read and copy.
    words += _pairs("--set", params.model_dump(exclude_defaults=True))
    if request.device:
        words += ["--device", request.device]
    if request.autocast:
        words.append("--autocast")
    return shlex.join(words)


def _pairs(option: str, values: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in values.items():
        words += [option, f"{name}={format_value(value)}"]
    return words


def _not_in_side_file(model: Reference) -> dict[str, Any]:
    """The model's settings that its side file does not already state.

    Without a side file, all that differ from the defaults.
    """
    if model.path:
        beside = read_side_file(Path(model.path))
    else:
        beside = {}
    usual = parse(beside, model.name).model_dump(mode="json")
    return {name: value for name, value in model.options.items() if value != usual.get(name)}


def _ranges(indices: Sequence[int]) -> str:
    """``0,4,7``; three or more in a row as ``10:20``, where 20 is excluded."""
    parts: list[str] = []
    start = 0
    while start < len(indices):
        end = start + 1
        while end < len(indices) and indices[end] == indices[end - 1] + 1:
            end += 1
        # Two in a row are as short with a comma.
        if end - start >= 3:
            parts.append(f"{indices[start]}:{indices[end - 1] + 1}")
        else:
            parts += [str(index) for index in indices[start:end]]
        start = end
    return ",".join(parts)
