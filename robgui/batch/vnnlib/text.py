"""Property: a box of raw inputs and the answers that must not happen in it, as VNN-LIB text.

Only the part of the language is read that such properties use: bounds of single inputs, and
comparisons of outputs with each other or with numbers, joined by ``and`` and ``or``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

import numpy as np

from robgui.core.errors import ParamsError

_TOKEN = re.compile(r"[()]|[^\s()]+")
_COMMENT = re.compile(r";[^\n]*")
_NAME = re.compile(r"([XY])_(\d{1,7})")
#: A property may come from anyone: bounds on its nesting and length.
_DEEPEST, _MOST_TOKENS = 20, 20_000_000
#: Most alternatives of a property, and most comparisons in all of them together.
_MOST_ALTERNATIVES, _MOST_TERMS = 100_000, 10_000_000
_SIGNS = ("<=", ">=")


@dataclass(frozen=True, slots=True)
class Term:
    """``Y_left sign right``, where ``right`` is another output or a number."""

    left: int
    sign: str
    right: int | float

    @property
    def text(self) -> str:
        """The comparison as VNN-LIB writes it."""
        if isinstance(self.right, int):
            right = f"Y_{self.right}"
        else:
            right = _number(self.right)
        return f"({self.sign} Y_{self.left} {right})"


@dataclass(frozen=True)
class Property:
    """A box and what must not happen in it.

    Attributes:
        low: Lowest raw value of each input, float64 ``(n,)``.
        high: Highest.
        outputs: How many outputs the model has.
        unsafe: Alternatives, each of comparisons that hold together: a point of the box for which
            one of the alternatives holds is a counterexample.
    """

    low: np.ndarray
    high: np.ndarray
    outputs: int
    unsafe: tuple[tuple[Term, ...], ...]


def write(found: Property, about: str) -> str:
    """The property as text; ``about`` stands above it as a comment."""
    lines = [f"; {line}" for line in about.splitlines()]
    lines += [f"(declare-const X_{place} Real)" for place in range(len(found.low))]
    lines += [f"(declare-const Y_{place} Real)" for place in range(found.outputs)]
    for place, (low, high) in enumerate(zip(found.low, found.high, strict=True)):
        lines.append(f"(assert (>= X_{place} {_number(low)}))")
        lines.append(f"(assert (<= X_{place} {_number(high)}))")
    parts = [f"(and {' '.join(term.text for term in one)})" for one in found.unsafe]
    lines.append(f"(assert (or {' '.join(parts)}))")
    return "\n".join(lines) + "\n"


def read(text: str) -> Property:
    """The property in a text of anyone.

    Raises:
        ParamsError: It is no such property; the sentence says what is not understood.
    """
    inputs = outputs = 0
    bounds: dict[tuple[int, str], float] = {}
    unsafe = _Together()
    for command in _commands(text):
        match command:
            case ["declare-const", str(name), "Real"] if found := _NAME.fullmatch(name):
                inputs += found[1] == "X"
                outputs += found[1] == "Y"
            case ["assert", condition]:
                _add(condition, bounds, unsafe)
            case _:
                raise _strange(command)
    return _property(inputs, outputs, bounds, unsafe.alternatives())


class _Together:
    """Conditions that hold together, as alternatives of terms.

    They multiply, so their number is known and checked before they are made.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[tuple[Term, ...], ...]] = []
        self._alternatives, self._terms = 1, 0

    def add(self, part: tuple[tuple[Term, ...], ...]) -> None:
        """Adds a condition; ParamsError if there are too many alternatives now."""
        self._parts.append(part)
        self._alternatives *= len(part)
        self._terms += max(map(len, part))
        _check_count(self._alternatives, self._alternatives * self._terms)

    def alternatives(self) -> tuple[tuple[Term, ...], ...]:
        """Distributed into alternatives of conjunctions, the form in which verifiers take them."""
        return tuple(tuple(chain.from_iterable(choice)) for choice in product(*self._parts))


def _check_count(alternatives: int, terms: int) -> None:
    if alternatives > _MOST_ALTERNATIVES or terms > _MOST_TERMS:
        raise ParamsError("The property has more alternatives than can be read.")


def _property(
    inputs: int,
    outputs: int,
    bounds: dict[tuple[int, str], float],
    unsafe: tuple[tuple[Term, ...], ...],
) -> Property:
    try:
        low = np.array([bounds[place, ">="] for place in range(inputs)])
        high = np.array([bounds[place, "<="] for place in range(inputs)])
    except KeyError as error:
        raise ParamsError(
            f"The input X_{error.args[0][0]} has no bound on one side; a box has both."
        ) from None
    places = [number for one in unsafe for term in one for number in (term.left, term.right)]
    named = [number for number in places if isinstance(number, int)]
    if not inputs or not named or max(named) >= outputs:
        raise ParamsError("The property names no box of inputs, or outputs that it does not have.")
    if bool((low > high).any()):
        raise ParamsError("The box of the property is empty.")
    return Property(low, high, outputs, unsafe)


def _add(condition: Any, bounds: dict[tuple[int, str], float], unsafe: _Together) -> None:
    """Adds one assertion: a bound of an input, or a condition on the outputs."""
    match condition:
        case [str(sign), str(name), str(value)] if sign in _SIGNS and name.startswith("X_"):
            place, bound = _place(name, "X"), _value(value)
            known = bounds.get((place, sign))
            # Assertions hold together, so of two bounds the narrower counts.
            tighter = max if sign == ">=" else min
            if known is None:
                bounds[place, sign] = bound
            else:
                bounds[place, sign] = tighter(known, bound)
        case _:
            unsafe.add(_alternatives(condition))


def _alternatives(condition: Any) -> tuple[tuple[Term, ...], ...]:
    """A condition on outputs as alternatives of terms."""
    match condition:
        case ["or", *parts] if parts:
            either: list[tuple[Term, ...]] = []
            terms = 0
            for part in parts:
                more = _alternatives(part)
                either += more
                terms += sum(map(len, more))
                _check_count(len(either), terms)
            return tuple(either)
        case ["and", *parts] if parts:
            together = _Together()
            for part in parts:
                together.add(_alternatives(part))
            return together.alternatives()
        case [str(sign), str(left), str(right)] if sign in _SIGNS:
            if _NAME.fullmatch(left):
                other = _place(right, "Y") if _NAME.fullmatch(right) else _value(right)
                return ((Term(_place(left, "Y"), sign, other),),)
            # A number on the left: 0.5 <= Y_0.
            turned = ">=" if sign == "<=" else "<="
            return ((Term(_place(right, "Y"), turned, _value(left)),),)
    raise _strange(condition)


def _commands(text: str) -> Iterator[Any]:
    """The parenthesised expressions of a text, as nested lists of words."""
    stack: list[list[Any]] = []
    for count, token in enumerate(_TOKEN.finditer(_COMMENT.sub("", text))):
        word = token[0]
        if count > _MOST_TOKENS or len(stack) > _DEEPEST:
            raise ParamsError("The property is longer or nested deeper than any.")
        if word == "(":
            stack.append([])
        elif not stack:
            raise _strange(word)
        elif word != ")":
            stack[-1].append(word)
        else:
            done = stack.pop()
            if stack:
                stack[-1].append(done)
            else:
                yield done
    if stack:
        raise ParamsError("A parenthesis of the property is never closed.")


def _place(name: str, letter: str) -> int:
    found = _NAME.fullmatch(name)
    if found is None or found[1] != letter:
        raise _strange(name)
    return int(found[2])


def _value(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _strange(text) from None
    if not np.isfinite(value):
        raise _strange(text)
    return value


def _number(value: float) -> str:
    """A number that survives the round trip bit for bit; VNN-LIB has no exponents."""
    return np.format_float_positional(float(value), trim="0")


def _strange(what: Any) -> ParamsError:
    return ParamsError(f"The property says {str(what)[:80]!r}, which is not understood.")
