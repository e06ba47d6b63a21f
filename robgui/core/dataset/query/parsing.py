"""Parses a query; every mistake becomes one sentence that says what to write."""

from __future__ import annotations

import re
from collections.abc import Callable

from robgui.core.dataset.query.expression import (
    FIELDS,
    JOINING,
    KEYWORDS,
    AllOf,
    AnyOf,
    Condition,
    Expression,
    FreeText,
    Keyword,
    Not,
)
from robgui.core.errors import DataError

EXAMPLE = "label:stop wrong confidence<0.6"
#: Longest and deepest query that a person would write.
_LONGEST, _DEEPEST = 2_000, 50
# Signs of two characters first, or <= would be < and a value that begins with =.
_HEAD = re.compile(r"([^\s=!<>~:()\"']+)\s*(!=|<=|>=|=|<|>|~|:)\s*")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
#: Fields whose values are words, which may hold blanks after these signs.
_IN_WORDS, _LOOSE = ("label", "predicted", "name", "tag", "finding"), ("=", "!=", "~")
_OTHER_NAMES = {"prediction": "predicted", "class": "label", "file": "name"}


def parse(text: str) -> Expression:
    """The query ``text`` as a tree.

    Raises:
        DataError: It is not a query; the sentence says what to write instead.
    """
    if len(text) > _LONGEST:
        raise DataError(f"the selection is longer than {_LONGEST:,} letters; write a shorter one.")
    return _Reader(text).whole()


class _Reader:
    """Reads from left to right, one condition after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._depth = 0

    def whole(self) -> Expression:
        query = self._any()
        if self._rest():
            raise self._not_understood()
        return query

    def _any(self) -> Expression:
        parts = [self._all()]
        while self._take_word("or"):
            parts.append(self._all())
            # An empty side is read as AllOf without parts.
            if parts[-1] == AllOf() or parts[0] == AllOf():
                raise self._missing("or")
        if len(parts) == 1:
            return parts[0]
        return AnyOf(tuple(parts))

    def _all(self) -> Expression:
        parts: list[Expression] = []
        while self._rest() and not self._at(")") and self._word() != "or":
            if self._take_word("and"):
                if not parts or not self._rest() or self._word() in ("and", "or"):
                    raise self._missing("and")
                continue
            parts.append(self._one())
        if len(parts) == 1:
            return parts[0]
        return AllOf(tuple(parts))

    def _one(self) -> Expression:
        if self._take_word("not") or self._take_minus():
            if not self._rest() or self._at(")") or self._word() in ("and", "or"):
                raise self._missing("not")
            return Not(self._deeper(self._one))
        if self._at("("):
            return self._group()
        if (quoted := self._quoted()) is not None:
            if quoted.strip():
                return FreeText(quoted)
            # Quotes just opened and closed again
            # match everything, as an empty line does.
            return AllOf()
        if (condition := self._condition()) is not None:
            return condition
        return self._bare()

    def _group(self) -> Expression:
        self._place += 1
        inner = self._deeper(self._any)
        self._rest()
        if not self._at(")"):
            raise DataError("the selection opens a parenthesis and does not close it; write ).")
        self._place += 1
        return inner

    def _deeper(self, read: Callable[[], Expression]) -> Expression:
        # Bounded: each level is a few Python frames, and the text may come from a file.
        self._depth += 1
        if self._depth > _DEEPEST:
            raise DataError("the selection is nested too deeply; write it with fewer parentheses.")
        inner = read()
        self._depth -= 1
        return inner

    def _condition(self) -> Condition | None:
        head = _HEAD.match(self._text, self._place)
        if head is None:
            return None
        field = head[1].casefold()
        field, sign = _OTHER_NAMES.get(field, field), head[2]
        if field not in FIELDS:
            raise DataError(
                f"the selection asks for {head[1][:80]!r}; it can ask for {', '.join(FIELDS)}; text"
                " with a sign in it stands in quotes."
            )
        self._place = head.end()
        value = self._quoted()
        if value is None:
            value = self._value(loose=field in _IN_WORDS and sign in _LOOSE)
            if not value:
                raise DataError(
                    f"the selection gives no value after {field}{sign}; write for example:"
                    f" {EXAMPLE}."
                )
        return Condition(field, sign, value)

    def _value(self, *, loose: bool) -> str:
        words = [self._letters()]
        while loose and words[-1]:
            before = self._place
            if not self._rest() or not self._continues():
                self._place = before
                break
            words.append(self._letters())
        return " ".join(word for word in words if word)

    def _continues(self) -> bool:
        """Whether the next word continues the value before it, meaning nothing by itself."""
        if self._word() in (*JOINING, *KEYWORDS) or self._text[self._place] in "()\"'-":
            return False
        head = _HEAD.match(self._text, self._place)
        return head is None

    def _bare(self) -> Expression:
        word = self._letters()
        if not word or word[0] in "=!<>~:":
            raise self._not_understood(word)
        plain = word.casefold()
        if plain in KEYWORDS:
            return Keyword(plain)
        if plain in FIELDS:
            raise DataError(
                f"the selection says nothing of {plain}; write for example: {EXAMPLE}, or the word"
                " in quotes."
            )
        return FreeText(word)

    def _letters(self) -> str:
        """Everything up to a blank, or to a closing parenthesis that was not opened here."""
        end, inside = self._place, 0
        while end < len(self._text) and not self._text[end].isspace():
            # Names of classes and files hold parentheses themselves: "photo(1).png".
            inside += {"(": 1, ")": -1}.get(self._text[end], 0)
            if inside < 0:
                break
            end += 1
        word, self._place = self._text[self._place : end], end
        return word

    def _quoted(self) -> str | None:
        found = _QUOTED.match(self._text, self._place)
        if found is None:
            return None
        self._place = found.end()
        if found[1] is not None:
            return found[1]
        return found[2]

    def _rest(self) -> bool:
        """Goes to the next letter that is no blank; False at the end."""
        while self._place < len(self._text) and self._text[self._place].isspace():
            self._place += 1
        return self._place < len(self._text)

    def _at(self, letter: str) -> bool:
        return self._text.startswith(letter, self._place)

    def _word(self) -> str:
        # Compiled: re.match itself takes no place to start from.
        found = re.compile(r"[^\s()]*").match(self._text, self._place)
        if found is not None:
            return found[0].casefold()
        return ""

    def _take_word(self, word: str) -> bool:
        if not self._rest() or self._word() != word:
            return False
        self._place += len(word)
        return True

    def _take_minus(self) -> bool:
        """A minus sign before a condition; before a number, or alone, it is text."""
        after = self._text[self._place + 1 : self._place + 2]
        if not self._at("-") or not after or after.isspace() or after.isdigit():
            return False
        self._place += 1
        return True

    def _missing(self, word: str) -> DataError:
        return DataError(
            f"the selection has no condition beside “{word}”; write for example: {EXAMPLE}."
        )

    def _not_understood(self, word: str = "") -> DataError:
        rest = (word + self._text[self._place :]).strip()[:80] or "nothing"
        return DataError(
            f"the selection is not understood at {rest!r}; write for example: {EXAMPLE}."
        )
