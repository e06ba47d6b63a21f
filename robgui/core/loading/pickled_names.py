"""The names that a pickle imports, followed opcode by opcode without importing anything."""

from __future__ import annotations

import pickletools
import re
import warnings
from typing import BinaryIO

#: Stands for a text that only running the pickle would tell.
UNKNOWN = "?"
#: What torch itself lets a weight file import: none of it can be made to run code of the file. No
#: name holds a dot, because the last opcodes also follow attributes of attributes.
_HARMLESS = re.compile(
    r"""
      collections\ (OrderedDict|Counter)
    | _codecs\ encode
    | (builtins|__builtin__)\ (bytearray|complex|set)
    | torch\ (Size|Tensor|device)
    | torch\ (bool|bfloat16|complex(32|64|128)|float(16|32|64)|float[48]_\w+|u?int\d+)
    | torch\ (qu?int\d\w*|bits\d\w*)
    | torch\ per_(tensor|channel)_(affine|symmetric|affine_float_qparams)
    | torch(\.cuda)?\ [A-Z][A-Za-z0-9]*Storage
    | torch(\.cuda)?(\.sparse)?\ [A-Z][A-Za-z0-9]*Tensor
    | torch\.storage\ (Untyped|Typed)Storage
    | torch\._utils\ _rebuild_[a-z0-9_]+
    | torch\._tensor\ _rebuild_from_type_v2
    | torch\.nn\.parameter\ Parameter
    | torch\.serialization\ _get_layout
    """,
    re.VERBOSE | re.ASCII,
)
_TEXTS = ("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
#: Texts of Python 2, whose letters depend on the encoding that the reader names.
_OLD_TEXTS = ("STRING", "BINSTRING", "SHORT_BINSTRING")


def harmless(name: str) -> bool:
    """Whether a weight file may import ``module name``, because no code of the file runs by it."""
    return _HARMLESS.fullmatch(name) is not None


def collect_names(file: BinaryIO, names: list[str]) -> None:
    """Adds what the next pickle of ``file`` imports to ``names``, each as ``module name``.

    Raises:
        ValueError: From some place on it cannot be followed; what was found before is added.
        IndexError: An opcode takes more than there is.
        KeyError: An opcode fetches what was never stored.
    """
    machine = _Machine(names)
    with warnings.catch_warnings():
        # A damaged text may hold escapes that Python warns about.
        warnings.simplefilter("ignore")
        for opcode, argument, _ in pickletools.genops(file):
            machine.take(opcode, argument)


class _Machine:
    """A pickle reader that knows of each value only whether it is a text, and which.

    It follows the stack and the memo exactly: an opcode imports what lies on the stack, not what
    was last read, and texts may be pushed and dropped to mislead.
    """

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._stack: list[str | None] = []  # None is any value but a known text.
        # What lies below each mark, as Python's own reader keeps it: no opcode reaches below one.
        self._below: list[list[str | None]] = []
        self._memo: dict[object, str | None] = {}

    def take(self, opcode: pickletools.OpcodeInfo, argument: object) -> None:
        """Carries out one opcode."""
        name = opcode.name
        if name == "MARK":
            self._below.append(self._stack)
            self._stack = []
        elif name == "POP" and not self._stack:
            # The only opcode that takes a mark like a value.
            self._stack = self._below.pop()
        elif name == "DUP":
            self._stack.append(self._stack[-1])
        elif name == "MEMOIZE" or "PUT" in name:
            # MEMOIZE counts up by itself; PUT names the position.
            self._memo[len(self._memo) if name == "MEMOIZE" else argument] = self._stack[-1]
        elif "GET" in name:
            self._stack.append(self._memo[argument])
        elif name in _TEXTS or (name in _OLD_TEXTS and str(argument).isascii()):
            self._stack.append(str(argument))
        else:
            self._import(name, argument)
            self._combine(opcode)

    def _import(self, name: str, argument: object) -> None:
        if name in ("GLOBAL", "INST"):
            self._names.append(str(argument))
        elif name == "STACK_GLOBAL":
            module, word = self._stack[-2], self._stack[-1]
            self._names.append(
                f"{UNKNOWN if module is None else module} {UNKNOWN if word is None else word}"
            )
        elif name.startswith("EXT"):
            # A number that stands for whatever a module has registered under it.
            self._names.append(f"{UNKNOWN} {UNKNOWN}")
        if self._names and self._names[-1].startswith("joblib"):
            # Its reader takes the bytes of an array out of the middle of the pickle, which read as
            # opcodes could say anything, even that the pickle ends.
            raise ValueError("joblib may read on by itself")

    def _combine(self, opcode: pickletools.OpcodeInfo) -> None:
        """Pops the opcode's operands and pushes its results."""
        before = [kind.name for kind in opcode.stack_before]
        if "mark" in before:
            self._stack = self._below.pop()
            before = before[: before.index("mark")]
        for _ in before:
            self._stack.pop()
        self._stack.extend(None for _ in opcode.stack_after)
