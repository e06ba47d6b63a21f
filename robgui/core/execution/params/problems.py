"""Explains what is wrong with settings, by option name or by form title."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from robgui.core.execution.params.text import format_value

Fields = Mapping[str, FieldInfo]

_LONGEST = 60
#: How pydantic refers to the value; the sentence has already named it.
_SUBJECT = re.compile(r"^(Input|String|Tuple|Dictionary) ")


def title_of(name: str, fields: Fields) -> str:
    """What a form calls the setting."""
    field = fields.get(name)
    return (field.title if field is not None else None) or name.replace("_", " ").capitalize()


def did_you_mean(word: str, known: Iterable[str], advice: str) -> str:
    """``advice``, preceded by "did you mean …?" if a known word resembles ``word``."""
    # Its usual cut-off of 0.6 lets one or two typing errors pass in a word of six letters.
    alike = difflib.get_close_matches(word, list(known), n=1)
    if alike:
        return f"did you mean {alike[0]}? {advice[:1].upper()}{advice[1:]}"
    return advice


def sentence(fields: Fields, error: ValidationError) -> str:
    """One sentence using the settings' names, for the command line, files and programs."""
    return "; ".join(_named(fields, detail) for detail in error.errors()) + "."


def titled(fields: Fields, error: ValidationError) -> dict[str, str]:
    """One sentence using titles for each wrong setting.

    Conflicts between settings are under the empty name.
    """
    found: dict[str, str] = {}
    for detail in error.errors():
        if detail["loc"]:
            name = str(detail["loc"][0])
        else:
            name = ""
        # pydantic reports every member of a union; the first one says enough.
        found.setdefault(name, _with_title(fields, name, detail))
    return found


def _named(fields: Fields, detail: Any) -> str:
    if detail["loc"]:
        name = str(detail["loc"][0])
    else:
        name = ""
    if detail["type"] == "extra_forbidden":
        return f"there is no setting {name!r}; " + did_you_mean(
            name, fields, f"the settings are: {', '.join(fields)}"
        )
    message = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    if name:
        return f"{name} = {_short(repr(detail['input']))}: {message}"
    return message


def _with_title(fields: Fields, name: str, detail: Any) -> str:
    message, title = str(detail["msg"]), title_of(name, fields)
    if not name:
        # Validators of ours write “name = value” or begin with the name:
        # only there it is a setting, elsewhere it may be an ordinary word.
        words = re.sub(
            r"\b\w+(?= = )|^\w+",
            lambda found: _title_or_word(found[0], fields),
            message.removeprefix("Value error, "),
        )
        return f"{words}."
    if detail["type"] in ("too_short", "string_too_short") and not detail["input"]:
        return f"{title} is empty; give at least one."
    if message.startswith("Value error, "):
        return f"{title}: {message.removeprefix('Value error, ')}."
    if len(detail["loc"]) > 1:
        verb = "holds"
    else:
        verb = "is"
    given = _short(format_value(detail["input"]))
    return f"{title} {verb} {given}: {_SUBJECT.sub('it ', message)}."


def _title_or_word(word: str, fields: Fields) -> str:
    if word in fields:
        return title_of(word, fields)
    return word


def _short(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return text[: _LONGEST - 3] + "..."
