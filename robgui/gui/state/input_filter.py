"""InputFilter: how the inputs were chosen that an analysis of many looks at."""

from __future__ import annotations

from dataclasses import dataclass

from robgui.core.text.words import count

#: What a share of right answers means on inputs that were chosen by these answers.
JUDGED = "The model's own answers chose them, so the share right among them means nothing."


@dataclass(frozen=True, slots=True)
class InputFilter:
    """What the search of the gallery lets pass, in words.

    Attributes:
        words: The search; empty where inputs were chosen in another way, or none was.
        open: Inputs that may pass: the model in use has not answered for them yet.
        judged: Whether the model's answers decide what passes.
    """

    words: str = ""
    open: int = 0
    judged: bool = False

    def obstacle(self) -> str:
        """Why no run can take what passes now; empty when one can."""
        if not self.open:
            return ""
        waits = f"the model's answers for {count(self.open, 'input')}"
        return f"The filter of the inputs still waits for {waits}; wait, or clear the filter."


def runs_on(scope: tuple[int, ...] | None, total: int, chosen: InputFilter) -> str:
    """On what an analysis of many inputs would run; empty where that is all of them."""
    if scope is None:
        return ""
    words = f": {chosen.words}" if chosen.words else ""
    return f"Runs on {len(scope):,} of {total:,}{words}"
