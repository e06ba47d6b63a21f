"""How opening one file ended."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from robgui.core.errors import RobguiError


class End(StrEnum):
    """The ends that are told apart; all but the first two are faults."""

    REFUSED = "refused"
    LOADED = "loaded"
    FOREIGN = "foreign exception"
    SPEECH = "no sentence"
    SIGNAL = "signal"
    MEMORY = "over memory"
    TIME = "over time"

    @property
    def is_fault(self) -> bool:
        """Whether the program must not end so."""
        return self not in (End.REFUSED, End.LOADED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one file, what was said, and the seconds it took."""

    end: End
    words: str
    seconds: float


_NO_MEMORY = re.compile(
    "not enough memory|more memory than there is|bad_alloc|can't allocate|nable to allocate"
    "|bad allocation|ailed to allocate memory"
)
#: More is no sentence.
_LONGEST = 2000


def of_error(error: BaseException, seconds: float) -> Outcome:
    """The outcome of an exception: a sentence, a lack of memory, or a foreign one."""
    words = f"{type(error).__name__}: {error}"
    if _lacks_memory(error):
        return Outcome(End.MEMORY, words, seconds)
    if not isinstance(error, RobguiError):
        return Outcome(End.FOREIGN, words, seconds)
    said = str(error)
    if "\n" in said or len(said) > _LONGEST or not said.strip():
        return Outcome(End.SPEECH, words, seconds)
    return Outcome(End.REFUSED, said, seconds)


def _lacks_memory(error: BaseException | None) -> bool:
    """Whether an allocation failed on the way, also where it became a sentence."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, MemoryError) or _NO_MEMORY.search(str(one)):
            return True
        waiting += [one.__cause__, one.__context__]
    return False


def tame(words: str) -> str:
    """The words on one line, without orders."""
    return repr(words)[1:-1][:400]
