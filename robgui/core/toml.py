"""TOML from files of others: what would take the parser hours or its stack becomes one
ValueError.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

#: A key of fifty parts and more; the parser's time grows with the square of them.
_ENDLESS = re.compile(r"""(?<![\w-])(?:(?:"[^"\n]*+"|'[^'\n]*+'|[\w-]++)[ \t]*+\.[ \t]*+){50}""")


def parse_toml(content: bytes) -> dict[str, Any]:
    """The values in ``content``.

    ValueError where it is no text, no TOML, or nested or written without end.
    """
    text = content.decode("utf-8-sig")
    if _ENDLESS.search(text):
        raise ValueError("a key has more parts than anybody writes")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values are nested without end") from None
