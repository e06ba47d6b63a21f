"""How long a command line takes that needs no model: what there is to run, and refusals.

Run it on a quiet machine: ``python -m tests.bench.bench_command_line``. It prints figures and
asserts none; what must not be imported is asserted by tests/cli/test_at_once.py.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

from robgui import resources

MODEL = str(resources.path("demo", "fashion_mlp.pt2"))
#: What is measured, and what it may take, in seconds.
COMMANDS = {
    "version": (["--version"], 0.3),
    "list": (["list"], 0.5),
    "no such command": (["nonsense"], 0.3),
    "no such analysis": (["run", "zonnskan", "--model", MODEL], 0.3),
    "no such model": (["run", "zonnscan", "--model", "nowhere.pt2"], 0.3),
    "no such data": (["run", "zonnscan", "--model", MODEL, "--data", "nowhere"], 0.3),
    "no such option": (["run", "zonnscan", "--model", MODEL, "--sampels", "4"], 0.3),
    "bad setting": (["run", "zonnscan", "--model", MODEL, "--samples", "0"], 0.3),
    "no such suite": (["batch", "nowhere.toml"], 0.3),
    "no such workspace": (["report", "nowhere.robgui", "--html", "r.html"], 0.3),
}


def seconds(words: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """From start to end of one command, and the processor time it took."""
    began, used = time.perf_counter(), _used()
    subprocess.run(
        [sys.executable, "-m", "robgui", *words], capture_output=True, check=False, env=environment
    )
    return time.perf_counter() - began, _used() - used


def _used() -> float:
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def main() -> None:
    """Prints the median and the best of each command, by the clock and by the processor."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as cache:
        # with bytecode, as installed programs have it
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for name, (words, goal) in COMMANDS.items():
            seconds(words, environment)
            pairs = [seconds(words, environment) for _ in range(rounds)]
            clock, processor = (sorted(each) for each in zip(*pairs, strict=True))
            print(
                f"{name:<18} median {clock[rounds // 2]:.2f} s, best {clock[0]:.2f} s; processor"
                f" median {processor[rounds // 2]:.2f} s, best {processor[0]:.2f} s (goal {goal:g}"
                f" s); load {os.getloadavg()[0]:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
