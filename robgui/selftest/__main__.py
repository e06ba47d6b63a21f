"""``python -m robgui.selftest``: the self-test alone, without the rest of the command line."""

from __future__ import annotations

import sys

from robgui.selftest.command import main

if __name__ == "__main__":
    sys.exit(main())
