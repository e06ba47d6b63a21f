"""Pickles of torch archives: numbers and names changed so that the pickle stays one."""

from __future__ import annotations

import pickletools
import random

from tests.fuzz.spoiling.plain import EDGES, noise

_GLOBALS = (
    b"cos\nsystem\n",
    b"cbuiltins\neval\n",
    b"ctorch\nload\n",
    b"ctorch._utils\n_rebuild_tensor\n",
    b"ccollections\nOrderedDict\n",
    b"ctorch\nFloatStorage\n",
    b"ctorch._utils\n_rebuild_parameter\n",
)


def pickle_bytes(content: bytes, dice: random.Random) -> bytes:
    """One to four operations of the pickle changed, left out or doubled."""
    if dice.random() < 0.2:
        return noise(content, dice)
    try:
        found = [(code, argument, place) for code, argument, place in pickletools.genops(content)]
    except (ValueError, IndexError, UnicodeDecodeError):
        return noise(content, dice)
    ends = [place for *_, place in found[1:]] + [found[-1][2] + 1]
    pieces = [content[place:end] for (*_, place), end in zip(found, ends, strict=True)]
    for _ in range(dice.choice((1, 1, 2, 4))):
        place = dice.randrange(len(pieces))
        pieces[place] = _spoiled(pieces[place], found[place][0].name, dice)
    return b"".join(pieces) + content[ends[-1] :]


def _spoiled(piece: bytes, name: str, dice: random.Random) -> bytes:
    chance = dice.random()
    if chance < 0.1:
        return b""
    if chance < 0.2:
        return piece * dice.choice((2, 100))
    if name in ("GLOBAL", "STACK_GLOBAL") and chance < 0.8:
        return dice.choice(_GLOBALS)
    if name.startswith(("BININT", "LONG", "INT")):
        return b"J" + (dice.choice(EDGES) % 2**31).to_bytes(4, "little")
    if name.startswith(("BINUNICODE", "SHORT_BINUNICODE", "UNICODE")):
        word = dice.choice((b"", b"../0", b"x" * 300, b"cuda:0", b"meta", b"1000000"))
        return b"X" + len(word).to_bytes(4, "little") + word
    if name in ("NEWTRUE", "NEWFALSE", "NONE", "EMPTY_TUPLE", "EMPTY_LIST", "EMPTY_DICT"):
        return dice.choice((b"\x88", b"\x89", b"N", b")", b"]", b"}"))
    return noise(piece, dice)
