"""TensorFlow Lite files with numbers, indices and names of their tables changed, whole otherwise."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.fuzz.spoiling.plain import EDGES, FAR, WORDS, noise

_LARGEST = 2**31 - 1


def lite_bytes(content: bytes, dice: random.Random) -> bytes:
    """The file with one to four fields of its tables spoiled, or with spoiled bytes."""
    if dice.random() < 0.3:
        return noise(content, dice)
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(content)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        places = _places(model)
        _spoil(*dice.choice(places), dice)
    builder = flatbuffers.Builder(1024)
    try:
        builder.Finish(model.Pack(builder), b"TFL3")
    except Exception:  # noqa: BLE001 (a value that the writer itself does not take)
        return noise(content, dice)
    return bytes(builder.Output())


def _places(table: Any) -> list[tuple[Any, str]]:
    """Every table with each of its fields that holds something."""
    found: list[tuple[Any, str]] = []
    waiting = [table]
    while waiting:
        one = waiting.pop()
        for name, value in vars(one).items():
            if value is None:
                continue
            found.append((one, name))
            parts = value if isinstance(value, list) else [value]
            waiting += [part for part in parts if hasattr(part, "Pack")]
    return found


def _spoil(table: Any, name: str, dice: random.Random) -> None:
    value = getattr(table, name)
    if isinstance(value, bool | int):
        setattr(table, name, _number(int(value), dice))
    elif isinstance(value, float):
        setattr(table, name, dice.choice((0.0, -1.0, 1e30, float("nan"), float("inf"))))
    elif isinstance(value, bytes | str):
        setattr(table, name, dice.choice(WORDS).encode("utf-8", "replace"))
    elif isinstance(value, np.ndarray | list) and len(value):
        setattr(table, name, _sequence(list(value), dice))
    elif dice.random() < 0.5:
        setattr(table, name, None)


def _sequence(values: list[Any], dice: random.Random) -> Any:
    place = dice.randrange(len(values))
    match dice.randrange(5):
        case 0:
            del values[place]
        case 1:
            values.append(values[place])
        case 2:
            other = dice.randrange(len(values))
            values[place], values[other] = values[other], values[place]
        case _ if hasattr(values[place], "Pack"):
            values[place] = values[dice.randrange(len(values))]
        case _:
            values[place] = _number(int(values[place]), dice)
    return values


def _number(value: int, dice: random.Random) -> int:
    if dice.random() < 0.6:
        return max(0, value + dice.choice((-1, 1, 2, 5, 100)))
    return dice.choice([edge for edge in (*EDGES, *FAR) if -1 <= edge <= _LARGEST])
