"""Evaluates a query: which inputs match, and for which that is still unknown."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from robgui.core.dataset.query.expression import (
    AllOf,
    AnyOf,
    Condition,
    Expression,
    FreeText,
    Keyword,
    Not,
)
from robgui.core.dataset.query.facts import UNKNOWN, UNREADABLE, InputFacts, Predicted
from robgui.core.errors import DataError

_COMPARE: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "=": operator.eq,
    ":": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ORDERING = ("<", "<=", ">", ">=")
# Not float() alone: it also takes “nan”, “inf” and “1_000”.
_NUMBER = re.compile(r"[+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:e[+-]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class QueryMatch:
    """Whether a query matches each input.

    Attributes:
        yes: It does.
        unknown: Not known yet, because the model has not answered.
    """

    yes: np.ndarray
    unknown: np.ndarray

    def __and__(self, other: QueryMatch) -> QueryMatch:
        yes = self.yes & other.yes
        # Kleene's logic: unknown and False is False, unknown and True stays unknown.
        return QueryMatch(yes, (self.yes | self.unknown) & (other.yes | other.unknown) & ~yes)

    def __or__(self, other: QueryMatch) -> QueryMatch:
        yes = self.yes | other.yes
        return QueryMatch(yes, (self.unknown | other.unknown) & ~yes)

    def __invert__(self) -> QueryMatch:
        return QueryMatch(~self.yes & ~self.unknown, self.unknown)


def evaluate(query: Expression, facts: InputFacts) -> QueryMatch:
    """Evaluates ``query`` on every input.

    Raises:
        DataError: It asks for something that these inputs do not have; one sentence.
    """
    match query:
        case AllOf(parts=parts):
            everything = _known(np.ones(facts.count, dtype=bool))
            return reduce(operator.and_, (evaluate(part, facts) for part in parts), everything)
        case AnyOf(parts=parts):
            return reduce(operator.or_, (evaluate(part, facts) for part in parts))
        case Not(part=part):
            return ~evaluate(part, facts)
        case Keyword(word=word):
            return _KEYWORDS[word](facts)
        case FreeText(text=text):
            return _words(facts, text)
        case Condition(field=field, sign=sign, value=value):
            return _FIELDS[field](facts, sign, value)


def _known(yes: np.ndarray) -> QueryMatch:
    return QueryMatch(yes, np.zeros(len(yes), dtype=bool))


def _told(yes: np.ndarray, predicted: Predicted) -> QueryMatch:
    """True or False where the model has answered, unknown elsewhere."""
    unknown = predicted.classes == UNKNOWN
    # An unreadable input never gets an answer, so it is a plain no and not unknown.
    return QueryMatch(yes & ~unknown & (predicted.classes != UNREADABLE), unknown)


def _predicted(facts: InputFacts, what: str) -> Predicted:
    if facts.predicted is None:
        raise DataError(
            f"the selection asks for {what}, which no model has told here; choose a model in the"
            " window."
        )
    return facts.predicted


# --- fields -----------------------------------------------------------------------------------


def _label(facts: InputFacts, sign: str, value: str) -> QueryMatch:
    if facts.labels is None:
        raise DataError(f"the selection asks for a label, but {facts.name} has no labels.")
    if sign in _ORDERING:
        return _known(_COMPARE[sign](facts.labels, _class_number(facts.names, sign, value)))
    return _known(_of_class(facts.label_schemes(), sign, value))


def _prediction(facts: InputFacts, sign: str, value: str) -> QueryMatch:
    predicted = _predicted(facts, "a predicted class")
    names = predicted.names or facts.names
    if sign in _ORDERING:
        number = _class_number(names, sign, value)
        return _told(_COMPARE[sign](predicted.classes, number), predicted)
    return _told(_of_class([(predicted.classes, names)], sign, value), predicted)


def _of_class(
    label_schemes: Sequence[tuple[np.ndarray, tuple[str, ...]]], sign: str, value: str
) -> np.ndarray:
    """True where a labelling gives the class in question."""
    count, wanted = len(label_schemes[0][0]), value.casefold()
    same = [_named(names, lambda name: name == wanted) for _, names in label_schemes]
    part = [_named(names, lambda name: wanted in name) for _, names in label_schemes]
    # A name spelled out in full wins over parts of
    # names: label:cat is not also “caterpillar”.
    if sign == "~":
        meant = part
    elif any(same):
        meant = same
    elif re.fullmatch(r"[+-]?\d{1,9}", value):
        # A number means the class of the data's own numbering, the first scheme; zip below stops
        # there.
        meant = [[int(value)]]
    elif sign == ":" and any(part):
        meant = part
    else:
        raise _no_class(value, label_schemes[-1][1])
    fits = np.zeros(count, dtype=bool)
    for (labels, _), numbers in zip(label_schemes, meant, strict=False):
        fits |= np.isin(labels, numbers)
    if sign == "!=":
        return ~fits
    return fits


def _named(names: Iterable[str], fits: Callable[[str], bool]) -> list[int]:
    return [number for number, name in enumerate(names) if fits(name.casefold())]


def _class_number(names: tuple[str, ...], sign: str, value: str) -> int:
    if re.fullmatch(r"[+-]?\d{1,9}", value):
        return int(value)
    if value.casefold() in [name.casefold() for name in names]:
        raise DataError(
            f"the selection cannot use {sign} with the class name {value!r}; use :, =, != or ~."
        )
    raise _no_class(value, names)


def _no_class(value: str, names: tuple[str, ...]) -> DataError:
    if names:
        known = f"the classes are: {', '.join(names[:20])}"
    else:
        known = "give its number"
    more = ", …" if len(names) > 20 else ""
    return DataError(
        f"the selection asks for the class {value[:80]!r}, which does not exist; {known}{more}."
    )


def _number_of(field: str) -> Callable[[InputFacts, str, str], QueryMatch]:
    def compare(facts: InputFacts, sign: str, value: str) -> QueryMatch:
        predicted = _predicted(facts, f"the {field}")
        if sign not in _COMPARE:
            raise DataError(f"the selection cannot use ~ with {field}; use <, <=, > or >=.")
        values: np.ndarray = getattr(predicted, field)
        with np.errstate(invalid="ignore"):
            # nan != 0.5 is true in NumPy: an input without a value must not match.
            yes = _COMPARE[sign](values, _number(value, field)) & np.isfinite(values)
        return _told(yes, predicted)

    return compare


def _index(facts: InputFacts, sign: str, value: str) -> QueryMatch:
    if sign not in _COMPARE:
        raise DataError("the selection cannot use ~ with index; use =, !=, <, <=, > or >=.")
    # Fifteen digits fit into the 64 bits that NumPy compares with.
    if not re.fullmatch(r"[+-]?\d{1,15}", value):
        raise DataError(
            f"the selection compares index with {value[:80]!r}, which is not a whole number."
        )
    return _known(_COMPARE[sign](np.arange(facts.count), int(value)))


def _name(facts: InputFacts, sign: str, value: str) -> QueryMatch:
    if sign in _ORDERING:
        raise DataError(f"the selection cannot use {sign} with name; use :, =, != or ~.")
    wanted = value.casefold()
    if sign in (":", "~"):
        return _known(_containing(facts, wanted))
    same = np.fromiter((key.casefold() == wanted for key in facts.item_names()), bool, facts.count)
    return _known(same if sign == "=" else ~same)


def _containing(facts: InputFacts, wanted: str) -> np.ndarray:
    return np.fromiter((wanted in key.casefold() for key in facts.item_names()), bool, facts.count)


def _tag(facts: InputFacts, sign: str, value: str) -> QueryMatch:
    if sign in _ORDERING:
        raise DataError(f"the selection cannot use {sign} with tag; use :, =, != or ~.")
    wanted = value.casefold()
    same = [tag for tag in facts.tags if tag.casefold() == wanted]
    part = [tag for tag in facts.tags if wanted in tag.casefold()]
    if sign == "~" or (sign == ":" and not same):
        meant = part
    else:
        meant = same
    # With ~ no match is an answer; otherwise the name was probably mistyped.
    if not meant and sign != "~":
        known = ", ".join(list(facts.tags)[:20])
        if known:
            what = f"the tags are: {known}"
        else:
            what = "no input is tagged yet"
        raise DataError(f"the selection asks for the tag {value[:80]!r}; {what}.")
    fits = facts.at([index for tag in meant for index in facts.tags[tag]])
    return _known(~fits if sign == "!=" else fits)


def _finding(facts: InputFacts, sign: str, value: str) -> QueryMatch:
    if sign in _ORDERING:
        raise DataError(f"the selection cannot use {sign} with finding; use :, =, != or ~.")
    wanted, whole = value.casefold(), sign in ("=", "!=")

    def fits(kind: str, title: str) -> bool:
        if whole:
            return kind.casefold() == wanted
        return wanted in kind.casefold() or wanted in title.casefold()

    there = facts.at(
        [index for index, found in facts.findings.items() if any(fits(*each) for each in found)]
    )
    return _known(~there if sign == "!=" else there)


def _number(value: str, field: str) -> float:
    plain = value.removesuffix("%").strip().casefold()
    if not _NUMBER.fullmatch(plain):
        raise DataError(
            f"the selection compares {field} with {value[:80]!r}, which is not a number."
        )
    if value.endswith("%"):
        return float(plain) / 100
    return float(plain)


# --- words ------------------------------------------------------------------------------------


def _words(facts: InputFacts, text: str) -> QueryMatch:
    """Free text: part of the name, the class, what the model says, or a tag."""
    wanted = text.casefold()
    fits = _containing(facts, wanted)
    for labels, names in facts.label_schemes():
        fits |= np.isin(labels, _named(names, lambda name: wanted in name))
    for tag, indices in facts.tags.items():
        if wanted in tag.casefold():
            fits |= facts.at(indices)
    if facts.predicted is not None:
        meant = _named(facts.predicted.names, lambda name: wanted in name)
        if meant:
            said = np.isin(facts.predicted.classes, meant)
            return _known(fits) | _told(said, facts.predicted)
    return _known(fits)


def _judged(facts: InputFacts, *, right: bool) -> QueryMatch:
    predicted = _predicted(facts, "what is right and wrong")
    if predicted.labels is None:
        raise DataError(
            f"the selection asks what is {'right' if right else 'wrong'}, but {facts.name} has no"
            " labels."
        )
    same = predicted.classes == predicted.labels
    yes = (same if right else ~same) & (predicted.labels >= 0)
    truth = _told(yes, predicted)
    # Without a label nothing is right or wrong, whatever the model will answer.
    return QueryMatch(truth.yes, truth.unknown & (predicted.labels >= 0))


def _answered(facts: InputFacts, mark: int) -> QueryMatch:
    predicted = _predicted(facts, "what the model has answered")
    return _known(predicted.classes == mark)


def _labelled(facts: InputFacts) -> QueryMatch:
    if facts.labels is None:
        return _known(np.zeros(facts.count, dtype=bool))
    return _known(facts.labels >= 0)


_FIELDS: dict[str, Callable[[InputFacts, str, str], QueryMatch]] = {
    "label": _label,
    "predicted": _prediction,
    "confidence": _number_of("confidence"),
    "margin": _number_of("margin"),
    "loss": _number_of("loss"),
    "name": _name,
    "index": _index,
    "tag": _tag,
    "finding": _finding,
}
_KEYWORDS: dict[str, Callable[[InputFacts], QueryMatch]] = {
    "wrong": lambda facts: _judged(facts, right=False),
    "right": lambda facts: _judged(facts, right=True),
    "labelled": _labelled,
    "tagged": lambda facts: _known(facts.at([i for each in facts.tags.values() for i in each])),
    "found": lambda facts: _known(facts.at(list(facts.findings))),
    "unreadable": lambda facts: _answered(facts, UNREADABLE),
    "unpredicted": lambda facts: _answered(facts, UNKNOWN),
}
