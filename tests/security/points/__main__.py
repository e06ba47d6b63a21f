"""``python -m tests.security.points ROOT [POINT …]``: attacks the edition in the folder ROOT."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.security.points import attacks
from tests.security.points.running import carry_out


def main(words: list[str]) -> None:
    """One line per attack."""
    root, wanted = Path(words[0]).resolve(), {int(word) for word in words[1:]}
    for attack in attacks():
        if wanted and attack.point not in wanted:
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            answer = carry_out(attack, root, Path(folder))
        print(f"{attack.point:>2}  {attack.name:<36} {answer}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
