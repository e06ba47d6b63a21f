"""Zip archives: parts spoiled behind right checksums, and the archive's own records spoiled."""

from __future__ import annotations

import io
import random
import struct
import warnings
import zipfile
from collections.abc import Callable

from tests.fuzz.spoiling.plain import EDGES, noise

Spoil = Callable[[bytes, random.Random], bytes]
_LOCAL, _CENTRAL, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
#: Records of an archive -> places of their numbers: offset, size in bytes.
_NUMBERS = {
    _LOCAL: ((4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)),
    _CENTRAL: ((6, 2), (8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (42, 4)),
    _END: ((8, 2), (10, 2), (12, 4), (16, 4), (20, 2)),
}


def archive(content: bytes, dice: random.Random, inside: Callable[[str], Spoil]) -> bytes:
    """The archive with parts or records spoiled.

    ``inside`` names the spoiler of a part by the part's name.
    """
    chance = dice.random()
    if chance < 0.08:
        return noise(content, dice)
    if chance < 0.2:
        return records(content, dice)
    return parts(content, dice, inside)


def parts(content: bytes, dice: random.Random, inside: Callable[[str], Spoil]) -> bytes:
    """The archive packed again with one part spoiled, renamed, left out, doubled or swapped."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = [(info.filename, old.read(info)) for info in old.infolist()]
    small = [place for place, (_, part) in enumerate(members) if 0 < len(part) < 200_000]
    place = dice.choice(small)
    name, part = members[place]
    match dice.randrange(12):
        case 0:
            del members[place]
        case 1:
            members.append((name, noise(part, dice)))
        case 2:
            other = dice.choice(members)[0]
            members[place] = (dice.choice((other, f"../{name}", f"/{name}", name.upper())), part)
        case 3:
            members[place] = (name, members[dice.choice(small)][1])
        case _:
            members[place] = (name, inside(name)(part, dice))
    method = dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    return _packed(members, method)


def records(content: bytes, dice: random.Random) -> bytes:
    """The archive with numbers in its local headers, its directory or its end changed."""
    data = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 4))):
        kind = dice.choice(list(_NUMBERS))
        starts = _starts(data, kind)
        if not starts:
            continue
        offset, size = dice.choice(_NUMBERS[kind])
        place = dice.choice(starts) + offset
        if place + size <= len(data):
            value = dice.choice((*EDGES, struct.unpack("<I", dice.randbytes(4))[0]))
            data[place : place + size] = (value % 2 ** (8 * size)).to_bytes(size, "little")
    return bytes(data)


def _starts(data: bytearray, kind: bytes) -> list[int]:
    found, place = [], data.find(kind)
    while place >= 0 and len(found) < 100:
        found.append(place)
        place = data.find(kind, place + 4)
    return found


def _packed(members: list[tuple[str, bytes]], method: int) -> bytes:
    target = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w", method) as new:
        warnings.simplefilter("ignore")  # two parts of one name are meant
        for name, part in members:
            new.writestr(name, part)
    return target.getvalue()
