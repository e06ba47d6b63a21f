"""The seal of a report: a digest of the whole page that reveals later edits.

It is not a signature: whoever changes the page can write another one. The page's claims are then
checked by running its experiments again.
"""

from __future__ import annotations

import hashlib
import re

_SEAL = re.compile(r'<meta name="robgui-seal" content="([0-9a-f]{64})">')
#: Where the seal will stand.
NO_SEAL = f'<meta name="robgui-seal" content="{"0" * 64}">'


def sealed(page: str) -> str:
    """The page with its seal in the place of ``NO_SEAL``."""
    # The digest is of the page with zeros in its place, which ``is_whole`` puts back.
    return page.replace(NO_SEAL, NO_SEAL.replace("0" * 64, _digest(page)), 1)


def is_whole(page: str) -> bool | None:
    """Whether a page is as it was written; None if it has no seal."""
    found = _SEAL.search(page)
    if found is None:
        return None
    return _digest(_SEAL.sub(NO_SEAL, page, count=1)) == found[1]


def _digest(page: str) -> str:
    """Of the text alone: an editor may write other ends of line."""
    # Mail and version control change line ends, which is no edit.
    return hashlib.sha256(page.replace("\r\n", "\n").encode()).hexdigest()
