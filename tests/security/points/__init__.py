"""The attacks of the review, rebuilt: each opens its file with an edition of the program and says
whether the edition held.
"""

from __future__ import annotations

from tests.security.points import models, others
from tests.security.points.running import Attack


def attacks() -> list[Attack]:
    """All of them, by the number of their point."""
    return sorted([*models.attacks(), *others.attacks()], key=lambda attack: attack.point)
