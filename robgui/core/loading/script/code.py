"""Checks the code of a TorchScript file before torch sees it.

Loading runs code: ``__setstate__`` is called for every object of its class. So the text is checked
here first. Torch writes TorchScript in a narrow form (no comments, one kind of quotes, every
operation as ``torch.name(…)`` or ``ops.library.name(…)``). Anything else was not written by torch
and is not passed to it. That also protects its parser, which follows nested brackets until the
stack overflows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import torch

from robgui.core.loading.script.operations import ATEN, PRIM

_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\\n]|\\[^\n])*")|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?)'
    r"|(?P<sign>->|[()\[\]{},.:=-])|(?P<line>\n)|(?P<space>[ \t]+)"
)
#: Escapes that torch writes: control characters and bytes beyond ASCII. A letter written as a
#: number would hide a name.
_ESCAPE = re.compile(r"""\\(?:[\\"'abfnrtv?]|(0[0-3][0-7]|177|[2-3][0-7]{2}))""")
#: Methods that torch calls by itself, the first of them while loading.
_SILENT = ("__setstate__", "__getstate__")
#: Words of the language that torch does not write, words that begin a line, and functions besides
#: ``torch.`` and ``ops.``.
_WORDS = (
    "lambda",
    "not",
    "and",
    "or",
    "is",
    "import",
    "global",
    "assert",
    "raise",
    "try",
    "yield",
    "del",
)
_FIRST = ("if", "else", "for", "while", "with", "return", "class", "def", "pass")
_CALLS = ("fork", "awaitable", "print", "eval", "exec", "open")
#: Torch folds constants while it reads the code; dividing integers by zero would kill the process.
_DIVISIONS = ("remainder", "floordiv", "divmod", "fmod", "__round_to_zero_floordiv")
#: Deepest nesting of brackets, and of parts of an expression; real code reaches 5 and 17.
_DEEPEST, _LONGEST = 100, 500
#: Longest code; real code has some hundred kilobytes.
LARGEST_CODE = 16 * 2**20

Token = tuple[str, str]


class ForeignCodeError(ValueError):
    """Code that torch would not have written, or an operation that may do more than compute."""


def check_code(texts: dict[str, str]) -> None:
    """Refuses the code in a file (text by name) unless it only computes.

    ForeignCodeError says where and why.
    """
    if sum(map(len, texts.values())) > LARGEST_CODE:
        raise ForeignCodeError(f"its code is longer than {LARGEST_CODE >> 20} MB")
    # Tokens instead of a syntax tree: TorchScript's grammar is torch's own, not Python's.
    tokens = {name: list(_tokens(name, text)) for name, text in texts.items()}
    # Methods of the file's own classes may be called like operations.
    methods = {
        token
        for each in tokens.values()
        for (_, before), (kind, token) in pairwise(each)
        if kind == "name" and before == "def"
    }
    for name, each in tokens.items():
        try:
            _check_nesting(each)
            _check_names(each, methods)
            _check_divisions(each)
        except ForeignCodeError as error:
            raise ForeignCodeError(f"its code ({name}) {error}") from error


def _tokens(where: str, text: str) -> Iterator[Token]:
    """Every token as (kind, text), except blanks and line ends inside brackets."""
    place = depth = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ForeignCodeError(
                f"its code ({where}) has the sign {text[place]!r}, which torch does not write"
            )
        kind, token = str(match.lastgroup), match[0]
        if kind == "text":
            _check_text(where, token)
        # Inside brackets a line end means nothing.
        depth += (token in "([{") - (token in ")]}")
        if kind != "space" and not (kind == "line" and depth > 0):
            yield kind, token
        place = match.end()


def _check_text(where: str, token: str) -> None:
    # What remains after removing the known escapes is an escape that torch does not write.
    if "\\" in token and "\\" in _ESCAPE.sub("", token):
        raise ForeignCodeError(f"its code ({where}) hides characters of a text ({token[:40]})")


def _check_nesting(tokens: list[Token]) -> None:
    levels = [0]
    for kind, token in tokens:
        if token in ("(", "[", "{"):
            levels[-1] += 1
            levels.append(0)
        elif token in (")", "]", "}"):
            levels.pop()
        # A separator ends an expression: length counts along one path from the root, as torch's
        # parser recurses.
        elif token in (",", "=", ":") or kind == "line":
            levels[-1:] = [0]
        else:
            levels[-1] += 1
        if not 0 < len(levels) <= _DEEPEST or sum(levels) > _LONGEST:
            raise ForeignCodeError("is nested too deeply")


def _check_names(tokens: list[Token], methods: set[str]) -> None:
    lines = [("line", "\n")]
    padded = [*lines * 2, *tokens, *lines * 5]
    for place in range(2, len(padded) - 5):
        kind, token = padded[place]
        before, after = padded[place - 1][1], [each for _, each in padded[place + 1 : place + 6]]
        # Torch writes a minus sign only in front of a number.
        if token == "-" and padded[place + 1][0] != "number" and after[0] not in ("inf", "nan"):
            raise ForeignCodeError("computes with signs, which torch writes as operations")
        if kind != "name":
            continue
        if token in _SILENT:
            raise ForeignCodeError(f"has a method {token}, which would run while it is loaded")
        if before == ".":
            _check_attribute(token, padded[place - 2][1], after, methods)
        elif (
            token in _WORDS
            or (token in _FIRST and before != "\n")
            or (token in _CALLS and after[0] == "(")
        ):
            raise ForeignCodeError(f"uses {token}")
        elif token in ("torch", "ops", "__torch__", "getattr"):
            _check_root(token, after, padded, place)


def _check_divisions(tokens: list[Token]) -> None:
    """Refuses a division of constants, which torch itself would have folded."""
    constant: set[str] = set()
    line: list[Token] = []
    for kind, token in [*tokens, ("line", "\n")]:
        if kind != "line":
            line.append((kind, token))
            continue
        for place, (_, word) in enumerate(line):
            if word in _DIVISIONS and not _free_names(_arguments(line, place)) - constant:
                raise ForeignCodeError(f"divides constants by {word}")
        # ``name = constants`` makes the name a constant, in the order of the lines.
        if len(line) > 1 and line[1][1] == "=" and not _free_names(line[2:]) - constant:
            constant.add(line[0][1])
        line = []


def _arguments(line: list[Token], place: int) -> list[Token]:
    """What stands between the brackets after a name, with the object of a method."""
    depth, end = 0, place + 1
    while end < len(line):
        depth += (line[end][1] in "([{") - (line[end][1] in ")]}")
        end += 1
        if depth == 0:
            break
    # In ``x.remainder(y)`` the object is an argument too.
    owned = place > 1 and line[place - 2][1] not in ("torch", "aten")
    return [*(line[:place] if owned else []), *line[place + 1 : end]]


def _free_names(tokens: list[Token]) -> set[str]:
    """The names in an expression other than operations."""
    padded = [("", ""), *tokens, ("", "")]
    return {
        token
        for place, (kind, token) in enumerate(padded)
        if kind == "name" and padded[place - 1][1] != "." and padded[place + 1][1] != "."
    } | {
        token
        for place, (kind, token) in enumerate(padded)
        if kind == "name" and padded[place + 1][1] == "." and token not in ("torch", "ops")
    }


def _check_root(token: str, after: list[str], padded: list[Token], place: int) -> None:
    match token:
        case "torch" if not (after[0] == "." and after[1] in ATEN and after[2] == "("):
            raise ForeignCodeError(f"uses torch{''.join(after[:2])}")
        case "ops" if not (
            after[0] == after[2] == "."
            and after[3] in {"prim": PRIM, "aten": ATEN}.get(after[1], ())
            and after[4] == "("
        ):
            raise ForeignCodeError(f"uses ops{''.join(after[:4])}")
        case "__torch__" if after[:4] == [".", "torch", ".", "classes"]:
            raise ForeignCodeError("uses an object of torch.classes")
        case "getattr":
            _check_getattr(padded, place)


def _check_getattr(padded: list[Token], place: int) -> None:
    """Refuses ``getattr(x, "name")`` with an operation's name.

    Torch writes getattr only for names that are not identifiers, for example ``"0"``.
    """
    depth = 0
    for end in range(place + 1, len(padded)):
        token = padded[end][1]
        depth += (token in "([{") - (token in ")]}")
        if depth == 0:
            break
    kind, text = padded[end - 1]
    word = text.strip('"')
    plain = kind == "text" and padded[end - 2][1] == "," and padded[place + 1][1] == "("
    # ``getattr`` is only for names that are not identifiers; any other use hides a call.
    if not plain or word.isidentifier() or not re.fullmatch(r"[\w \-]+", word, re.ASCII):
        raise ForeignCodeError("uses getattr for a name that needs none")


def _check_attribute(token: str, owner: str, after: list[str], methods: set[str]) -> None:
    """A method of a value may be an operation too: ``x.save(…)`` means ``torch.save(x, …)``."""
    called = after[0] == "(" and owner not in ("torch", "ops", "aten", "prim")
    if called and token not in methods and token not in ATEN and token in _operations():
        raise ForeignCodeError(f"calls {token}")


@cache
def _operations() -> frozenset[str]:
    """The names of all operations that torch knows."""
    return frozenset(schema.name.partition("::")[2] for schema in torch._C._jit_get_all_schemas())
