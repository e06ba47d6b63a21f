"""``python -m robgui.doctor``: the doctor alone, without the rest of the command line."""

from __future__ import annotations

import sys

from robgui.doctor import main

if __name__ == "__main__":
    sys.exit(main())
