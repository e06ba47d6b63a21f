"""``python -m robgui``: the window without arguments, the command line with them."""

from __future__ import annotations

import sys

from robgui.cli import main

if __name__ == "__main__":
    sys.exit(main())
