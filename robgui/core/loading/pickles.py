"""Looks into pickles without executing them."""

from __future__ import annotations

import pickletools
import warnings
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


#: What reading a damaged pickle raises.
_DAMAGE = (ValueError, IndexError, KeyError, OverflowError, MemoryError)


def foreign_globals(file: BinaryIO, pickles: int = 1) -> list[str]:
    """Dotted names of functions and classes that unpickling the next ``pickles`` of ``file`` would import.

    Names that weights need are left out. A damaged pickle gives the names found up to the damage.
    """
    names: list[str] = []
    for _ in range(pickles):
        try:
            _collect_globals(file, names)
        except _DAMAGE:
            break
    return sorted({name.replace(" ", ".") for name in names if not _harmless(name)})


def is_sound(content: bytes) -> bool:
    """Whether a pickle is complete and asks for no more memory than its own length suggests.

    Readers in C++ believe a length or a place that the file declares and allocate it at once.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a damaged text may hold escapes that Python discourages
            for opcode, argument, _ in pickletools.genops(content):
                if "PUT" in opcode.name and isinstance(argument, int) and argument > len(content):
                    return False
    except _DAMAGE:
        return False
    return True


def _collect_globals(file: BinaryIO, names: list[str]) -> None:
    strings: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for opcode, argument, _ in pickletools.genops(file):
            if opcode.name in ("GLOBAL", "INST"):
                names.append(str(argument))
            elif opcode.name == "STACK_GLOBAL":
                names.append(" ".join(strings[-2:]))
            elif isinstance(argument, str):
                strings.append(argument)


def _harmless(name: str) -> bool:
    module, _, attribute = name.partition(" ")
    return (
        name in _HARMLESS or module in _HARMLESS_MODULES or (module == "torch" and (attribute.endswith("Storage") or attribute.islower()))
    )
