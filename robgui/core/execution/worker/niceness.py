"""How far a polite worker steps back: engines take every core, and the window must not wait."""

from __future__ import annotations

#: Of 0, as all programs, to 19, the least: it gets a tenth of a core that another program wants.
NICENESS = 10
