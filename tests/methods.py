"""The methods of the program, by their folders: what the registry must know."""

from __future__ import annotations

from pathlib import Path

_ANALYSES = Path(__file__).parent.parent / "robgui" / "analyses"
OUR_METHODS = tuple(sorted(path.parent.name for path in _ANALYSES.glob("*/method.py")))
