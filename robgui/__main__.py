"""``python -m robgui``: without arguments the window, otherwise the command line."""

from __future__ import annotations

import sys

from robgui.cli import main

if __name__ == "__main__":
    sys.exit(main())
