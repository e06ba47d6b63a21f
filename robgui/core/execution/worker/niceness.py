"""How far a polite worker steps back: engines take every core, and the window must not wait."""

from __future__ import annotations

#: Of its threads: 0 as all programs have it, 19 the least.
NICENESS = 10
#: Of its session, which Linux weighs against the window's. With 4 it gets nearly a third of a core
#: that another program wants; with 10 a tenth, and a run on a busy machine would hardly go on.
SESSION_NICENESS = 4
