"""How far a polite worker steps back: engines use every core, and the window must not wait."""

from __future__ import annotations

#: Nice value of its threads: 0 is normal, 19 the lowest priority.
NICENESS = 10
#: Nice value of its session, which Linux weighs against the window's. At 4 it gets nearly a third
#: of a core that another program wants; at 10 only a tenth, and a run on a busy machine would
#: hardly move.
SESSION_NICENESS = 4
