"""Command-line options generated from settings models; none is written by hand."""

from __future__ import annotations

import argparse
import textwrap
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from robgui.core.errors import ParamsError
from robgui.core.execution.params import text as params_text
from robgui.core.execution.params.params import Params
from robgui.core.execution.params.problems import did_you_mean

Fields = Mapping[str, FieldInfo]


def add_params(parser: argparse.ArgumentParser, params: type[Params], taken: Sequence[str]) -> None:
    """One option per field of ``params``.

    A field whose name is ``taken`` is available through --set only.
    """
    group = parser.add_argument_group("settings of this analysis")
    for name, field in params.model_fields.items():
        if name in taken:
            continue
        if field.annotation is bool:
            # --flag alone means yes; --flag no still works.
            flag = {"nargs": "?", "const": "yes"}
        else:
            flag = {}
        # argparse formats help texts with the % operator.
        help_text = describe(field).replace("%", "%%")
        option = f"--{name.replace('_', '-')}"
        group.add_argument(
            option,
            # With a colon: no option of the command itself can have such a name.
            dest=f"param:{name}",
            metavar=_metavar(field),
            default=None,
            help=help_text,
            **flag,  # type: ignore[arg-type]
        )
    for old, name in params.formerly.items():
        if old not in taken:
            option = f"--{old.replace('_', '-')}"
            group.add_argument(option, dest=f"param:{name}", help=argparse.SUPPRESS)


def describe(field: FieldInfo) -> str:
    """Help text of a field: its meaning, its range, its default."""
    words = [field.description or field.title or ""]
    choices = params_text.choices(field)
    if choices:
        words.append(f"One of: {', '.join(choices)}.")
    default = params_text.format_value(field.default)
    if len(default) <= 60:
        shown = default
    else:
        shown = default[:57] + "..."
    words.append(f"[{shown or 'none'}]")
    return " ".join(words)


def named_settings(title: str, fields: Fields) -> str:
    """The names that --model-set or --data-set takes, one per line, for the end of a help page."""
    lines = [
        f"  {name:<13} {textwrap.fill(describe(field), 100, subsequent_indent=' ' * 16)}"
        for name, field in fields.items()
    ]
    return "\n".join([f"{title}:", *lines])


def values_of(given: argparse.Namespace, params: type[Params]) -> dict[str, Any]:
    """The values of the generated options and of --set, by field."""
    texts = {
        name.removeprefix("param:"): text
        for name, text in vars(given).items()
        if name.startswith("param:") and text is not None
    }
    values = {
        name: params_text.parse_value(name, params.model_fields[name], text)
        for name, text in texts.items()
    }
    chosen = pairs(given.set, params.model_fields, "setting", params.formerly)
    return {**values, **chosen}


def pairs(
    texts: Iterable[str], fields: Fields, what: str, formerly: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """``name=value`` texts as field values; ``formerly`` has former names."""
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        name = (formerly or {}).get(name, name)
        if name not in fields:
            advice = did_you_mean(
                name, fields, f"write name=value with one of: {', '.join(fields)}."
            )
            raise ParamsError(f"There is no {what} {name!r}; {advice}")
        if not equals:
            raise ParamsError(f"The {what} {name!r} has no value; write {name}=value.")
        values[name] = params_text.parse_value(name, fields[name], value)
    return values


def _metavar(field: FieldInfo) -> str:
    annotation: Any = field.annotation
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    if params_text.choices(field):
        return "WORD"
    if get_origin(annotation) is tuple:
        return "A,B,..."
    return {int: "N", float: "X", bool: "yes|no"}.get(annotation, "TEXT")
