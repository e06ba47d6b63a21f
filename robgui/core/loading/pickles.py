"""Inspects pickles without executing them."""

from __future__ import annotations

import pickletools
import re
import warnings
from dataclasses import dataclass
from typing import BinaryIO

from robgui.core.loading.pickled_names import UNKNOWN, collect_names, harmless

#: Deepest nesting of values; real models reach ten.
_DEEPEST = 200
#: Opcodes that put something into the value below it.
_FILLING = ("APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS", "BUILD")
#: Opcodes that create a container.
_CONTAINERS = ("EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET", "LIST", "DICT", "NEWOBJ", "OBJ", "INST")
#: Most bytes that are searched for names behind a place that cannot be followed.
_LONGEST_SCAN = 256 * 2**20
#: Opcode GLOBAL with its two lines.
_GLOBAL = re.compile(rb"c(?P<module>[A-Za-z_][\w.]*)\n(?P<name>[A-Za-z_][\w.]*)\n")
#: Two short texts, each perhaps put into the memo, and opcode STACK_GLOBAL.
_STACK_GLOBAL = re.compile(
    rb"\x8c(?P<long>.)(?P<module>[A-Za-z_][\w.]*)\x94?"
    rb"\x8c(?P<longer>.)(?P<name>[A-Za-z_][\w.]*)\x94?\x93",
    re.DOTALL,
)
#: What reading a damaged pickle raises.
_DAMAGE = (ValueError, IndexError, KeyError, OverflowError, MemoryError)


@dataclass(frozen=True)
class PickledCalls:
    """What unpickling would import, as far as that can be seen without doing it.

    Attributes:
        names: Dotted names of functions and classes, without those that weights need; a question
            mark stands for a word that the pickle computes.
        whole: Whether these are all. joblib writes arrays into the middle of its pickles, and a
            compressed or damaged pickle cannot be followed.
    """

    names: tuple[str, ...]
    whole: bool


def listing(file: BinaryIO, pickles: int = 1) -> PickledCalls:
    """What the next ``pickles`` pickles of ``file`` would import.

    Behind a place that cannot be followed, names are still looked for where they stand by
    themselves.
    """
    names: list[str] = []
    whole = True
    for number in range(pickles):
        began = file.tell()
        if number and not file.read(1):
            break
        file.seek(began)
        try:
            collect_names(file, names)
        except _DAMAGE:
            whole = False
            file.seek(began)
            names += _scattered_globals(file.read(_LONGEST_SCAN))
            break
    # A name that the pickle computes may be any name.
    whole = whole and not any(UNKNOWN in name.split(" ") for name in names)
    foreign = {name.replace(" ", ".") for name in names if not harmless(name)}
    return PickledCalls(tuple(sorted(foreign)), whole)


def foreign_globals(file: BinaryIO, pickles: int = 1) -> list[str]:
    """Dotted names of the functions and classes that unpickling would import."""
    return list(listing(file, pickles).names)


def largest_storage(file: BinaryIO, pickles: int = 5) -> int:
    """The most values that a tensor in an old ``torch.save`` file claims to have.

    Torch allocates them before it reads the first.
    """
    most = last = 0
    for _ in range(pickles):
        try:
            for opcode, argument, _ in pickletools.genops(file):
                # The count of values is the last plain number before a storage is created; PUT and
                # GET carry memo positions, not values.
                if isinstance(argument, int) and opcode.name[-3:] not in ("PUT", "GET"):
                    last = argument
                elif opcode.name in ("BINPERSID", "PERSID"):
                    most = max(most, last)
        except MemoryError:  # A text that claims gigabytes.
            return 2**63
        except _DAMAGE:
            break
    return most


def is_sound(content: bytes) -> bool:
    """Whether a pickle is complete, not too deeply nested, and claims no more than it holds.

    Readers in C++ believe a length or position that the file declares and allocate it at once, and
    they follow lists in lists until the stack overflows.
    """
    depth = _Depth()
    try:
        with warnings.catch_warnings():
            # A damaged text may hold escapes that Python warns about.
            warnings.simplefilter("ignore")
            for opcode, argument, _ in pickletools.genops(content):
                # C++ readers size their memo by the largest position.
                if "PUT" in opcode.name and isinstance(argument, int) and argument > len(content):
                    return False
                if depth.after(opcode, argument) > _DEEPEST:
                    return False
    except _DAMAGE:
        return False
    return True


class _Value:
    """Stands for a value: its depth, whether it can be added to, and whether the memo gave it."""

    def __init__(self, depth: int, container: bool) -> None:
        self.depth = depth
        self.container = container
        self.open = True
        self.fetched = False


class _Depth:
    """A pickle reader that keeps only how deeply values are nested."""

    def __init__(self) -> None:
        self._stack: list[_Value | None] = []  # None is a mark.
        self._memo: dict[object, _Value] = {}

    def after(self, opcode: pickletools.OpcodeInfo, argument: object) -> int:
        """The depth of the newest value after ``opcode``.

        Over the limit if a value is put into itself or into a finished one.
        """
        name = opcode.name
        if name == "MARK":
            self._stack.append(None)
        elif "PUT" in name or name == "MEMOIZE":
            # MEMOIZE counts up by itself; PUT names the position.
            self._memo[len(self._memo) if name == "MEMOIZE" else argument] = self._top()
        elif "GET" in name or name == "DUP":
            if name == "DUP":
                value = self._top()
            else:
                value = self._memo.get(argument, _Value(0, container=False))
            # A container fetched while it is still being filled could be put into itself: a cycle
            # has no depth.
            if value.container and value.open:
                return _DEEPEST + 1
            value.fetched = True
            self._stack.append(value)
        elif name not in ("PROTO", "FRAME", "STOP"):
            return self._combine(opcode)
        return self._top().depth

    def _combine(self, opcode: pickletools.OpcodeInfo) -> int:
        """Pops the opcode's operands and pushes a value one deeper than the deepest of them."""
        before = [kind.name for kind in opcode.stack_before]
        put: list[_Value] = []
        if "mark" in before:
            while self._stack and (top := self._stack.pop()) is not None:
                put.append(top)
            before = before[: before.index("mark")]
        put.extend(self._pop() for _ in before)
        fills = opcode.name in _FILLING and bool(put)
        if fills:
            target = put.pop()
        else:
            target = _Value(0, container=opcode.name in _CONTAINERS)
        # A value fetched from the memo is finished: filling it afterwards could create a cycle.
        if fills and target.fetched:
            return _DEEPEST + 1
        for value in put:
            value.open = False
        target.depth = max(target.depth, max((value.depth for value in put), default=-1) + 1)
        self._stack.extend(target for _ in opcode.stack_after)
        return target.depth

    def _pop(self) -> _Value:
        return (self._stack.pop() if self._stack else None) or _Value(0, container=False)

    def _top(self) -> _Value:
        return (self._stack[-1] if self._stack else None) or _Value(0, container=False)


def words_in(content: bytes | BinaryIO) -> list[str]:
    """Every text in a sound pickle: names of classes as ``module name``, keys, values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            argument for _, argument, _ in pickletools.genops(content) if isinstance(argument, str)
        ]


def _scattered_globals(content: bytes) -> list[str]:
    """Names that are imported anywhere in ``content``, however its other bytes read."""
    names = [
        f"{match['module'].decode()} {match['name'].decode()}"
        for match in _GLOBAL.finditer(content)
    ]
    for match in _STACK_GLOBAL.finditer(content):
        module, name = match["module"], match["name"]
        if len(module) == match["long"][0] and len(name) == match["longer"][0]:
            names.append(f"{module.decode()} {name.decode()}")
    return names
