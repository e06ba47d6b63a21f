"""Parses TOML from foreign files; what would take hours or the whole stack is a ValueError."""

from __future__ import annotations

import re
import tomllib
from typing import Any

#: A key of fifty parts or more: the parser's time grows with the square of their number.
_ENDLESS = re.compile(r"""(?<![\w-])(?:(?:"[^"\n]*+"|'[^'\n]*+'|[\w-]++)[ \t]*+\.[ \t]*+){50}""")


def parse_toml(content: bytes) -> dict[str, Any]:
    """The values in ``content``.

    ValueError if it is not text, not TOML, or too deeply nested.
    """
    text = content.decode("utf-8-sig")
    if _ENDLESS.search(text):
        raise ValueError("a key has more parts than anybody writes")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values are nested without end") from None
