"""Attacks every operation an exported graph may use: valid calls with one to four arguments made
hostile.

Run as a program: ``python -m tests.security.formats.op_fuzzer SEED TRIALS`` prints every operation before
it is attacked, so that the last line names the one that ended the process.
"""

from __future__ import annotations

import random
import resource
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

from robgui.core.loading.exported.operations import NAMES, TensorOperation
from tests.security.formats.op_samples import Call, samples

INTS = (
    -(2**63),
    -(2**62),
    -(2**31),
    -65537,
    -257,
    -7,
    -2,
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    64,
    257,
    65537,
    2**31,
    2**40,
    2**62,
    2**63 - 1,
)
FLOATS = (
    float("nan"),
    float("inf"),
    float("-inf"),
    0.0,
    -1.0,
    1e-300,
    1e30,
    1e308,
    -1e308,
    0.5,
    2.0,
    3.7,
)
TYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int8,
    torch.uint8,
    torch.bool,
)
WORDS = (
    "",
    "same",
    "valid",
    "constant",
    "reflect",
    "replicate",
    "circular",
    "sum",
    "mean",
    "floor",
    "trunc",
    "ij",
    "ij,jk->ik",
    "i->ii",
)
SIDES = (0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 64, 100)
#: Bytes that a call may ask for, and those that the process may have beyond what torch itself
#: takes.
ROOM, MEMORY = 2**26, 3 * 2**30


class Attacker:
    """Makes hostile calls out of valid ones; the same seed makes the same calls."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        torch.manual_seed(self._random.randrange(2**31))

    def spoil(self, call: Call) -> Call:
        """The call with one argument or a few changed."""
        args, kwargs = list(call[0]), dict(call[1])
        for _ in range(self._random.choice((1, 1, 1, 2, 2, 3, 4))):
            key = self._random.choice([*range(len(args)), *kwargs])
            if isinstance(key, int):
                args[key] = self._hostile(args[key])
            else:
                kwargs[key] = self._hostile(kwargs[key])
        return tuple(args), kwargs

    def _hostile(self, value: Any) -> Any:
        pick, chance = self._random.choice, self._random.random()
        match value:
            case torch.Tensor():
                return None if chance < 0.04 else self._tensor(value)
            case bool():
                return not value if chance < 0.8 else pick(INTS)
            case int():
                return pick(INTS) if chance < 0.9 else pick(FLOATS)
            case float():
                return pick(FLOATS) if chance < 0.8 else pick(INTS)
            case str():
                return pick(WORDS)
            case torch.dtype():
                return pick(TYPES)
            case list():
                return self._list(list(value), chance)
            case None:
                return pick(
                    (None, torch.rand(3, 4), pick(INTS), pick(FLOATS), [pick(INTS)], [pick(FLOATS)])
                )
        return value

    def _list(self, values: list[Any], chance: float) -> list[Any]:
        place = self._random.randrange(len(values) + 1)
        if chance < 0.15:
            return values[:place]
        if chance < 0.3:
            return [*values[:place], self._random.choice(values) if values else 3, *values[place:]]
        return [self._hostile(value) if self._random.random() < 0.5 else value for value in values]

    def _tensor(self, old: torch.Tensor) -> torch.Tensor:
        shape, kind, chance = list(old.shape), old.dtype, self._random.random()
        if chance < 0.45 and shape:
            shape[self._random.randrange(len(shape))] = self._random.choice(SIDES)
        elif chance < 0.55 and shape:
            shape.pop(self._random.randrange(len(shape)))
        elif chance < 0.65:
            shape.insert(self._random.randrange(len(shape) + 1), self._random.choice((1, 2, 3)))
        elif chance < 0.8:
            kind = self._random.choice(TYPES)
        else:
            shape = [self._random.choice(SIDES[:9]) for _ in range(self._random.randrange(7))]
        made = (torch.rand(shape) * 5).to(kind)
        return self._odd_strides(self._odd_values(made))

    def _odd_values(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.numel() and self._random.random() < 0.35:
            extreme = torch.tensor(
                self._random.choice(FLOATS if tensor.is_floating_point() else INTS)
            )
            tensor.view(-1)[self._random.randrange(tensor.numel())] = extreme.to(tensor.dtype)
        return tensor

    def _odd_strides(self, tensor: torch.Tensor) -> torch.Tensor:
        chance = self._random.random()
        if chance < 0.1 and tensor.ndim and len(tensor):
            return tensor[:1].expand(tensor.shape)
        return tensor.transpose(0, -1) if chance < 0.2 and tensor.ndim else tensor


def attack(seed: int, trials: int) -> int:
    """Attacks every permitted operation; gives the number of calls that were carried out."""
    calls = samples()
    done = 0
    for name in sorted(NAMES):
        print(name, flush=True)
        for trial in range(trials):
            attacker = Attacker(f"{seed}/{name}/{trial}")
            args, kwargs = attacker.spoil(calls[name][trial % len(calls[name])])
            try:
                TensorOperation(name)(args, kwargs, ROOM)
            except Exception:  # noqa: BLE001  (any exception is an answer; a signal is none)
                continue
            done += 1
    return done


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("carried out", attack(int(sys.argv[1]), int(sys.argv[2])))
