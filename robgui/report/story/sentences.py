"""The sentences of a story: each is true alone, and follows from the slide before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.core.verdict import Quantity

#: Letters of a number that is seen from the back of the room; a longer one is told in words.
LARGE = 12
_BRACKETS = re.compile(r" \([^()]*\)")
_MARK = "“"
#: What a finding about the label of an input says, which is no sentence by itself.
_BY_LABEL = " by its label, "
_ON_FAILURES = (
    "Decide which confusions must never happen, and set them under “Rate harm”.",
    "Train and test on the failing inputs: “Export findings” writes them to files.",
)
_ON_NOTHING = (
    "No failure was found by what has been asked so far, which is no proof that there is none.",
    "Ask the methods that have not been asked, with more inputs and larger changes.",
)
_NEXT_MODEL = "Run the same checks on the next model and compare the two under “Compare”."


def finding_sentence(said: str, models: int) -> str:
    """What a finding says as a sentence that begins with a small letter.

    Args:
        said: Its title without the name of its input.
        models: How many models its run looked at.
    """
    if said.endswith("?"):  # inputs on which models disagree are called after their answers
        whose = f"{models} models" if models > 1 else "models"
        return f"{whose} disagree on this input: {said}"
    if said.startswith(_MARK) and _BY_LABEL in said:
        return f"an input is {said}"
    return said


def title_of(sentence: str, *, contradicts: bool, goes_on: bool) -> str:
    """The title of a slide.

    Args:
        sentence: What it says.
        contradicts: Whether the slide before claims how often the model is right.
        goes_on: Whether the slide before shows another change, and this one a change again.
    """
    if contradicts:
        return f"Yet {sentence}"
    if goes_on:
        return f"Or {sentence}"
    return sentence[:1].upper() + sentence[1:]


def asked_words(methods: Sequence[str]) -> str:
    """Which methods were asked about a model whose accuracy is not known; empty for none."""
    if not methods:
        return ""
    if len(methods) == 1:
        return f"{methods[0]} was asked. Its gravest answers follow."
    names = f"{', '.join(methods[:-1])} and {methods[-1]}"
    return f"{names} were asked. The gravest of their answers follow."


def what_to_do(*, found: bool) -> str:
    """The points of the last slide, by whether there are findings."""
    return "\n".join([*(_ON_FAILURES if found else _ON_NOTHING), _NEXT_MODEL])


def large_words(number: Quantity | None) -> str:
    """A number without its interval, where that is short enough to be shown large; else empty."""
    if number is None:
        words = ""
    else:
        words = _BRACKETS.sub("", number.words)
    if len(words) <= LARGE:
        return words
    return ""
