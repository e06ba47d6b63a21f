"""A query as a tree."""

from __future__ import annotations

from dataclasses import dataclass

#: What can be compared, with what it is.
FIELDS = {
    "label": "the class of the input, by name or number",
    "predicted": "the class that the model says, by name or number",
    "confidence": "how sure the model is, from 0 to 1",
    "margin": "how much more probable the predicted class is than the next one",
    "loss": "how wrong the model is: minus the logarithm of the probability of the label",
    "name": "the name of the input, as of its file",
    "index": "the place of the input, counted from 0",
    "tag": "what you have tagged the input with",
    "finding": "what runs have found on the input, by kind or words",
}
#: Words that are conditions by themselves, with what they mean.
KEYWORDS = {
    "wrong": "the predicted class is not the label",
    "right": "the predicted class is the label",
    "labelled": "the input has a label",
    "tagged": "the input has a tag",
    "found": "a run has found something on the input",
    "unreadable": "the input cannot be read",
    "unpredicted": "the model has not answered yet",
}
JOINING = ("and", "or", "not")
#: Fields and keywords that only a model can answer.
OF_MODEL = ("predicted", "confidence", "margin", "loss", "wrong", "right", "unpredicted")


@dataclass(frozen=True, slots=True)
class Condition:
    """A field compared with a value."""

    field: str
    sign: str
    value: str


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word that is a condition by itself."""

    word: str


@dataclass(frozen=True, slots=True)
class FreeText:
    """Free text: part of a name, a class or a tag."""

    text: str


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    part: Expression


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these hold; without any, everything matches."""

    parts: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these holds."""

    parts: tuple[Expression, ...]


Expression = Condition | Keyword | FreeText | Not | AllOf | AnyOf


def needs(query: Expression) -> frozenset[str]:
    """The fields and keywords a query uses; free text uses ``name``."""
    match query:
        case Condition(field=field):
            return frozenset({field})
        case Keyword(word=word):
            return frozenset({word})
        case FreeText():
            return frozenset({"name", "text"})
        case Not(part=part):
            return needs(part)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return frozenset().union(*(needs(part) for part in parts))
