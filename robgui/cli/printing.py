"""What the commands print: to any encoding, and as JSON that parses in every one of them."""

from __future__ import annotations

import io
import json
import sys
from typing import Any


def speak_any_encoding() -> None:
    """A character that the terminal cannot show is written as its number instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _is_unicode(stream.encoding):
            stream.reconfigure(errors="backslashreplace")


def print_json(document: Any) -> None:
    """Strict JSON to stdout."""
    print(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=not _is_unicode(sys.stdout.encoding)))


def _is_unicode(encoding: str | None) -> bool:
    return (encoding or "").casefold().replace("-", "").startswith("utf")
