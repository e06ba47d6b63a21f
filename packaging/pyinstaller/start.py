"""Where the frozen application starts; the workers of a batch start here too."""

from __future__ import annotations

import multiprocessing
import os
import sys
from pathlib import Path

from robgui.cli import main

if __name__ == "__main__":
    multiprocessing.freeze_support()
    if sys.stderr is None:  # a Windows program without a console has nowhere to write to
        sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open as long as the program
    sys.exit(main())
