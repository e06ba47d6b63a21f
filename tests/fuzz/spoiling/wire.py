"""Protobuf messages (ONNX) with fields changed, left out, doubled or exchanged, whole otherwise."""

from __future__ import annotations

import random

from tests.fuzz.spoiling.plain import EDGES, FAR, WORDS, noise

Field = tuple[int, int, int | bytes]  # number, wire type, value
#: Depth to which messages are looked into: model, graph, node, attribute, tensor.
_DEPTH = 5


def message(content: bytes, dice: random.Random) -> bytes:
    """A message with one to four of its fields spoiled, at any depth."""
    if dice.random() < 0.12:
        return noise(content, dice)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        content = _spoiled(content, dice, _DEPTH)
    return content


def _spoiled(content: bytes, dice: random.Random, depth: int) -> bytes:
    fields = _fields(content)
    if not fields:
        return noise(content, dice)
    place = dice.randrange(len(fields))
    number, kind, value = fields[place]
    inner = isinstance(value, bytes) and depth > 0 and len(value) > 1 and _fields(value)
    if inner and dice.random() < 0.85:
        assert isinstance(value, bytes)
        fields[place] = (number, kind, _spoiled(value, dice, depth - 1))
    else:
        _spoil(fields, place, dice)
    return b"".join(map(_field, fields))


def _spoil(fields: list[Field], place: int, dice: random.Random) -> None:
    number, kind, value = fields[place]
    match dice.randrange(6):
        case 0:
            del fields[place]
        case 1:
            fields.extend([fields[place]] * dice.choice((1, 3, 100)))
        case 2:
            fields[place] = (dice.choice((1, 2, 3, 4, 5, 7, 8, 9, 13, 14, 20, 22)), kind, value)
        case 3:
            other = dice.randrange(len(fields))
            fields[place], fields[other] = fields[other], fields[place]
        case _:
            fields[place] = (number, kind, _value(value, dice))


def _value(value: int | bytes, dice: random.Random) -> int | bytes:
    if isinstance(value, int):
        return dice.choice((*EDGES, *FAR)) % 2**64
    if dice.random() < 0.3:
        return dice.choice(WORDS).encode("utf-8", "surrogatepass")
    return noise(value, dice)


def _fields(content: bytes) -> list[Field]:
    """The fields of a message; none where it is no message."""
    found: list[Field] = []
    place = 0
    while place < len(content):
        key, place = _number(content, place)
        kind = key & 7
        if place < 0 or key >> 3 == 0 or kind not in (0, 1, 2, 5):
            return []
        value: int | bytes
        if kind == 0:
            value, place = _number(content, place)
        else:
            length, place = _number(content, place) if kind == 2 else ({1: 8, 5: 4}[kind], place)
            if place < 0 or place + length > len(content):
                return []
            value, place = content[place : place + length], place + length
        if place < 0:
            return []
        found.append((key >> 3, kind, value))
    return found


def _field(field: Field) -> bytes:
    number, kind, value = field
    head = _written(number << 3 | kind)
    if isinstance(value, int):
        return head + _written(value)
    if kind == 2:
        return head + _written(len(value)) + value
    size = 8 if kind == 1 else 4
    return head + value[:size].ljust(size, b"\0")


def _number(content: bytes, place: int) -> tuple[int, int]:
    """A varint and where it ends, -1 where it does not."""
    value = shift = 0
    while place < len(content) and shift < 70:
        byte = content[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place
    return 0, -1


def _written(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
