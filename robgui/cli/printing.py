"""What the commands print: in any encoding, as valid JSON, and never as a command to the terminal.

Names of classes, columns and files come from foreign files: a terminal would obey the escapes in
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

#: Control characters, unusual line ends, and marks that change the writing direction.
_ORDERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def speak_any_encoding() -> None:
    """Makes unencodable characters print as their number instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _is_unicode(stream.encoding):
            stream.reconfigure(errors="backslashreplace")


def print_json(document: Any) -> None:
    """Strict JSON to stdout."""
    text = json.dumps(
        document, indent=1, allow_nan=False, ensure_ascii=not _is_unicode(sys.stdout.encoding)
    )
    # What the encoder leaves stands inside strings, except for its own line ends.
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
    """Prints warnings and log messages, which may quote a file, as one plain line each."""
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
