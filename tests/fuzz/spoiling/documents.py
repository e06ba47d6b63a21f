"""JSON and TOML with one of their values replaced, renamed, removed, doubled or nested."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from tests.fuzz.spoiling.plain import EDGES, FAR, WORDS, noise, text

_FLOATS = (float("nan"), float("inf"), -float("inf"), 1e308, -0.0, 1e-320)
ODD: tuple[Any, ...] = (None, True, False, [], {}, [[]], {"": None}, *EDGES, *FAR, *_FLOATS, *WORDS)


def bent(document: Any, dice: random.Random, times: int = 1) -> Any:
    """The document with ``times`` of its parts spoiled."""
    document = copy.deepcopy(document)
    for _ in range(times):
        places = _places(document)
        if not places:
            return dice.choice(ODD)
        _spoil(*dice.choice(places), dice)
    return document


def json_bytes(content: bytes, dice: random.Random) -> bytes:
    """A JSON text: bent, or damaged as text or bytes."""
    if dice.random() < 0.15:
        return noise(content, dice)
    try:
        document = json.loads(content)
    except ValueError:
        return text(content, dice)
    if dice.random() < 0.03:
        return b"[" * dice.choice((900, 20_000)) + content
    return json.dumps(bent(document, dice, dice.choice((1, 1, 1, 2, 4)))).encode()


def toml_bytes(content: bytes, dice: random.Random) -> bytes:
    """A TOML text: one value exchanged, or damaged as text or bytes."""
    if dice.random() < 0.2:
        return noise(content, dice)
    if dice.random() < 0.4:
        return text(content, dice)
    lines = content.decode("utf-8", "replace").splitlines()
    chosen = [place for place, line in enumerate(lines) if "=" in line] or [0]
    place = dice.choice(chosen)
    name = lines[place].partition("=")[0]
    lines[place] = f"{name}= {_toml(dice.choice(ODD), dice)}"
    return "\n".join(lines).encode("utf-8", "replace")


def _toml(value: Any, dice: random.Random) -> str:
    deep = dice.choice((5, 400, 5000))
    extra = ("[" * deep + "]" * deep, "{a=" * deep + "1" + "}" * deep, "9" * 5000, "1979-05-27")
    if dice.random() < 0.15:
        return dice.choice(extra)
    return "{}" if value is None else json.dumps(value)


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every container with each of its keys, at most some thousands."""
    found: list[tuple[Any, Any]] = []
    stack = [document]
    while stack and len(found) < 5000:
        node = stack.pop()
        if isinstance(node, dict | list):
            keys = list(node) if isinstance(node, dict) else range(len(node))
            for key in keys:
                found.append((node, key))
                stack.append(node[key])
    return found


def _spoil(node: Any, key: Any, dice: random.Random) -> None:
    match dice.randrange(8):
        case 0:
            del node[key]
        case 1 if isinstance(node, dict):
            node[dice.choice((f"{key}x", "", "__class__", "a\x00"))] = node.pop(key)
        case 2 if isinstance(node, list):
            node.extend([node[key]] * dice.choice((1, 1, 20)))
        case 3 if isinstance(node, list):
            other = dice.randrange(len(node))
            node[key], node[other] = node[other], node[key]
        case 4:
            node[key] = [node[key]]
        case 5 if isinstance(node[key], int | float):
            node[key] = node[key] + dice.choice((-1, 1, 2, 100))
        case 6 if isinstance(node, dict):
            node[key] = copy.deepcopy(node[dice.choice(list(node))])
        case _:
            node[key] = dice.choice(ODD)
