"""Attacks every operation that TorchScript may use: those of tensors with valid calls made hostile,
those of numbers, texts and lists with hostile values.

Run as a program: ``python -m tests.security.formats.script_fuzzer SEED TRIALS`` prints every operation
before it is attacked, so that the last line names the one that ended the process.
"""

from __future__ import annotations

import random
import re
import resource
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch

from robgui.core.loading.script.guard import checked, is_guarded
from robgui.core.loading.script.operations import UNSAFE, is_known
from tests.security.formats.op_fuzzer import FLOATS, INTS, MEMORY, Attacker
from tests.security.formats.op_samples import Call
from tests.security.formats.script_samples import script_samples

TEXTS = ("", "a", "%s", "%d %f", "{}", "{} {}", "{" * 50, "x" * 2000, "-1", "nan", "a\0b")
#: Attacked through code instead: what they take is no value of Python, or they may take all the
#: time and memory there is, as any loop may, or they take a type of values, which is held against
#: the graph.
_LEFT_OUT = re.compile(
    r"prim::|aten::(count|replace|mul\.(left_t|right_)|mul_\.t|tensor|as_tensor\.list"
    r"|to\.prim_(dtype|other|Device))\b"
)
#: Sides of windows that ask for more work than a test has time for.
_MOST_WORK = 4096


def operations() -> Iterator[tuple[str, str, list[Any]]]:
    """Name, overload and arguments of everything that may be used."""
    for schema in sorted(torch._C._jit_get_all_schemas(), key=str):
        name = schema.name.removeprefix("aten::")
        if (
            is_known(schema.name, str(schema))
            and f"aten::{name}.{schema.overload_name}" not in UNSAFE
        ):
            yield name, schema.overload_name, list(schema.arguments)


def attack(seed: int, trials: int) -> tuple[int, int]:
    """Attacks every permitted operation; the numbers of operations and of calls carried out."""
    calls, attacked, done = script_samples(), 0, 0
    for name, overload, arguments in operations():
        if _LEFT_OUT.match(f"aten::{name}.{overload}" if "::" not in name else name):
            continue
        samples = calls.get(f"{name}.{overload or 'default'}")
        if samples is None and not _plain(arguments):
            continue
        print(f"{name}.{overload}", flush=True)
        attacked += 1
        for trial in range(trials):
            word = f"{seed}/{name}.{overload}/{trial}"
            made = (
                Attacker(word).spoil(samples[trial % len(samples)])
                if samples
                else _values(arguments, random.Random(word))
            )
            done += not _takes_long(made) and _carried_out(name, overload, made, trial)
    return attacked, done


def _carried_out(name: str, overload: str, call: Call, trial: int) -> bool:
    args, kwargs = call
    try:
        with _mode(trial):
            if is_guarded(name, overload):
                checked(name, overload, args, kwargs)
            else:
                torch._C._get_operation_overload(f"aten::{name}", overload)[0](*args, **kwargs)
    except Exception:  # noqa: BLE001  (any exception is an answer; a signal is none)
        return False
    return True


def _mode(trial: int) -> AbstractContextManager[object]:
    """Torch takes other ways through a layer when gradients are wanted."""
    return torch.inference_mode() if trial % 2 else torch.enable_grad()


def _takes_long(value: Any) -> bool:
    """Whether windows or sizes are so large that a call would only take time."""
    if isinstance(value, dict):
        return _takes_long(list(value.values()))
    if isinstance(value, list | tuple):
        sizes = [each for each in value if type(each) is int]
        deep = any(_takes_long(each) for each in value if isinstance(each, list | tuple | dict))
        return deep or (isinstance(value, list) and any(size > _MOST_WORK for size in sizes))
    return False


def _plain(arguments: list[Any]) -> bool:
    """Whether values can be made up for every argument."""
    try:
        _values(arguments, random.Random(0))
    except TypeError:
        return False
    return True


def _values(arguments: list[Any], dice: random.Random) -> Call:
    return tuple(_value(str(each.type), dice) for each in arguments if not each.kwarg_only), {}


def _value(kind: str, dice: random.Random) -> Any:
    made = {
        "int": lambda: dice.choice(INTS),
        "float": lambda: dice.choice(FLOATS),
        "number": lambda: dice.choice(INTS + FLOATS),
        "bool": lambda: dice.random() < 0.5,
        "str": lambda: dice.choice(TEXTS),
        "Device": lambda: torch.device("cpu"),
        "complex": lambda: complex(dice.choice(FLOATS), dice.choice(FLOATS)),
        "Tensor": lambda: torch.rand(dice.choice(((), (2,), (2, 3), (0,)))),
    }
    if kind in made:
        return made[kind]()
    if kind.startswith("Optional["):
        return None if dice.random() < 0.5 else _value(kind[9:-1], dice)
    if kind.startswith("List["):
        return [_value(kind[5:-1], dice) for _ in range(dice.choice((0, 1, 2, 3, 5)))]
    raise TypeError(kind)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("attacked and carried out", *attack(int(sys.argv[1]), int(sys.argv[2])))
