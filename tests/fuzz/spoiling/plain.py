"""Bytes and text with something wrong, without any knowledge of their format."""

from __future__ import annotations

import random

#: Numbers at the edges of what readers store them in.
EDGES = (0, 1, 2, 3, 7, 127, 128, 255, 256, 32767, 65535, 2**24, 2**31 - 1, 2**31, 2**32 - 1)
FAR = (2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1, -1, -2, -(2**31), -(2**63))
#: What stands where a text expects a number or a name.
WORDS = (
    "",
    "-1",
    "0",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "9" * 400,
    "0x10",
    "1_000",
    "٣",
    "true",
    "null",
    "/dev/zero",
    "/etc/hostname",
    "../../x",
    "..",
    "a\x00b",
    "\x1b[2J",
    "<img src=x onerror=1>",
    "\u202egnp.exe",
    "[" * 300,
    "{" * 300,
    '"' * 50,
    "\ufeff",
    "%s%n",
    "x" * 5000,
)
_STEPS = (1, 1, 1, 2, 3, 8)


def noise(content: bytes, dice: random.Random) -> bytes:
    """Some bytes changed, left out, doubled, replaced by an edge number, or the end cut off."""
    data = bytearray(content or b"\0")
    for _ in range(dice.choice(_STEPS)):
        if not data:
            break
        place = dice.randrange(len(data))
        length = dice.choice((1, 1, 2, 4, 8, 64, 1000))
        match dice.randrange(7):
            case 0:
                data[place] ^= 1 << dice.randrange(8)
            case 1:
                data[place : place + length] = dice.randbytes(min(length, len(data) - place))
            case 2:
                del data[place : place + length]
            case 3:
                data[place:place] = data[place : place + length] * dice.choice((1, 2, 50))
            case 4:
                size = dice.choice((1, 2, 4, 8))
                edge = dice.choice((*EDGES, *FAR)) % 2 ** (8 * size)
                data[place : place + size] = edge.to_bytes(size, dice.choice(("little", "big")))
            case 5:
                del data[place if dice.random() < 0.3 else len(data) - 1 - length :]
            case _:
                data[place] = dice.randrange(256)
    return bytes(data)


def text(content: bytes, dice: random.Random) -> bytes:
    """A text with a word, a line or a separator exchanged."""
    lines = content.decode("utf-8", "replace").splitlines(keepends=True) or [""]
    for _ in range(dice.choice(_STEPS)):
        place = dice.randrange(len(lines))
        match dice.randrange(7):
            case 0:
                lines.insert(place, lines[dice.randrange(len(lines))])
            case 1 if len(lines) > 1:
                del lines[place]
            case 2:
                lines[place] = lines[place].replace(
                    dice.choice((",", " ", "=", ".", "[", '"')), dice.choice((";", "", "\t", ",,"))
                )
            case 3:
                lines[place] = lines[place] * dice.choice((2, 40))
            case 4:
                lines[place] = dice.choice(WORDS) + "\n"
            case _:
                words = lines[place].split(" ")
                words[dice.randrange(len(words))] = dice.choice(WORDS)
                lines[place] = " ".join(words)
    encoding = dice.choice(("utf-8", "utf-8", "utf-8", "utf-16", "latin-1", "utf-8-sig"))
    return "".join(lines).encode(encoding, "replace")
