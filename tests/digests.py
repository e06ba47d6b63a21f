"""One digest for each analysis: ``python -m tests.digests`` before and after a change of the code
that is to change no answer, and compare.

Runs what the self-test runs, on one thread. Times are left out: they are no answers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from robgui.core.codec import take_apart
from robgui.selftest.jobs import JOBS
from robgui.selftest.proof import DemoBench

#: Parts of results that differ from run to run.
_TIMES = ("seconds", "elapsed")


def digest(result: Any) -> str:
    """Of every number and word of a result."""
    document, arrays = take_apart(result)
    told = _without_times(document)
    found = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for name in _array_names(told):
        values = arrays[name]
        found.update(f"{name} {values.dtype} {values.shape}".encode())
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()[:16]


def _array_names(document: Any) -> Iterator[str]:
    """Those that a document refers to."""
    if isinstance(document, dict):
        if "$array" in document:
            yield document["$array"]
        for value in document.values():
            yield from _array_names(value)
    elif isinstance(document, list):
        for value in document:
            yield from _array_names(value)


def _without_times(document: Any) -> Any:
    if isinstance(document, dict):
        return {
            name: _without_times(value)
            for name, value in document.items()
            if not any(word in name for word in _TIMES)
        }
    if isinstance(document, list):
        return [_without_times(value) for value in document]
    return document


def main() -> None:
    """Prints a line for each analysis."""
    torch.set_num_threads(1)
    bench = DemoBench(torch.device("cpu"))
    for job in JOBS:
        run = bench.run(job)
        if run.newest is None:
            print(f"{job.analysis:28} {run.error}", flush=True)
        else:
            print(f"{job.analysis:28} {digest(run.newest.result)}  {run.calls} calls", flush=True)


if __name__ == "__main__":
    main()
