"""``python -m robgui``: without arguments the window, otherwise the command line."""

from __future__ import annotations

import multiprocessing
import sys

from robgui.cli import main

if __name__ == "__main__":
    multiprocessing.freeze_support()  # a worker of the frozen application starts here too
    sys.exit(main())
