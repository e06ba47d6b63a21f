"""What the commands print: to any encoding, as JSON that parses in every one of them, and never
as a command to the terminal.

Names of classes, columns and files come from files of others: a terminal would obey the escapes in
    them.
"""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

#: Control characters, ends of line that are none, and marks that turn the direction of writing.
_ORDERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def speak_any_encoding() -> None:
    """A character that the terminal cannot show is written as its number instead of ending the
    program.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _is_unicode(stream.encoding):
            stream.reconfigure(errors="backslashreplace")


def print_json(document: Any) -> None:
    """Strict JSON to stdout."""
    text = json.dumps(
        document, indent=1, allow_nan=False, ensure_ascii=not _is_unicode(sys.stdout.encoding)
    )
    # what the encoder leaves stands inside strings, but for its own ends of line
    print(
        _ORDERS.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)
    )


def plain(text: str) -> str:
    """One line of text that a terminal only shows: what it would obey is written as its number."""
    return _ORDERS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def print_line(text: str, stream: TextIO | None = None) -> None:
    """One line to ``stream``, else to stdout."""
    print(plain(text), file=stream or sys.stdout)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Warnings and what is logged, whose words may be those of a file, as one plain line each."""
    before, last = warnings.formatwarning, logging.lastResort
    warnings.formatwarning = lambda message, category, *_, **__: (
        f"{plain(f'{category.__name__}: {message}')}\n"
    )
    logging.lastResort = _Lines(logging.WARNING)
    try:
        yield
    finally:
        warnings.formatwarning, logging.lastResort = before, last


class _Lines(logging.Handler):
    """Writes one plain line for each record; a traceback would be the program's own."""

    def emit(self, record: logging.LogRecord) -> None:
        print_line(record.getMessage(), sys.stderr)


def _is_unicode(encoding: str | None) -> bool:
    return (encoding or "").casefold().replace("-", "").startswith("utf")
