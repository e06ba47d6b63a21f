"""Looks into pickles without executing them."""

from __future__ import annotations

import pickletools
from collections.abc import Iterator
from typing import BinaryIO

#: Names a file of weights uses; everything else would be imported and called.
_HARMLESS_MODULES = ("torch._utils", "torch._tensor", "torch.storage", "torch.nn.parameter", "torch.serialization")
_HARMLESS = frozenset(
    {
        "collections OrderedDict",
        "collections defaultdict",
        "_codecs encode",
        "builtins set",
        "torch Size",
        "torch device",
        "torch dtype",
        "torch Tensor",
    }
)


def foreign_globals(file: BinaryIO, pickles: int = 1) -> list[str]:
    """Dotted names of functions and classes that unpickling the next ``pickles`` of ``file`` would import.

    Names that weights need are left out. A damaged pickle gives the names found up to the damage.
    """
    names: list[str] = []
    for _ in range(pickles):
        try:
            names.extend(_globals(file))
        except (ValueError, IndexError, KeyError, UnicodeDecodeError, OverflowError, MemoryError):
            break
    return sorted({name.replace(" ", ".") for name in names if not _harmless(name)})


def _globals(file: BinaryIO) -> Iterator[str]:
    strings: list[str] = []
    for opcode, argument, _ in pickletools.genops(file):
        if opcode.name == "GLOBAL" or opcode.name == "INST":
            yield str(argument)
        elif opcode.name == "STACK_GLOBAL":
            yield " ".join(strings[-2:])
        elif isinstance(argument, str):
            strings.append(argument)


def _harmless(name: str) -> bool:
    module, _, attribute = name.partition(" ")
    return (
        name in _HARMLESS or module in _HARMLESS_MODULES or (module == "torch" and (attribute.endswith("Storage") or attribute.islower()))
    )
