"""DeepInspect on many photos: its memory must not grow with their number, and a run that was killed
goes on where it was.

    python -m tests.bench.bench_many_inputs MODEL.onnx PHOTOS.npy LABELS.npy [--counts 5000 50000]

``PHOTOS.npy`` holds uint8 photos ``(n, 3, h, w)``. From them so many different ones are made as are
asked for, by shifts and brightness, and written to an HDF5 file. Each run is a process of its own:
whole; then killed when it is 40 % through, and the same command once more. It prints peak memory and
whether the two answers are the same, and asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

#: The run to be killed is killed when it has counted this share of the inputs.
_KILLED_AT = 0.4


def write(path: Path, photos: np.ndarray, labels: np.ndarray, count: int) -> None:
    """So many photos, each different, in pieces."""
    import h5py

    rng = np.random.default_rng(0)
    with h5py.File(path, "w") as file:
        images = file.create_dataset("images", (count, *photos.shape[1:]), np.uint8)
        truth = file.create_dataset("labels", (count,), np.int64)
        for begin in range(0, count, 1000):
            places = np.arange(begin, min(count, begin + 1000)) % len(photos)
            part = photos[places].astype(np.float32)
            part = np.roll(part, tuple(rng.integers(-2, 3, 2)), (2, 3))
            part *= rng.uniform(0.8, 1.2, (len(places), 1, 1, 1)).astype(np.float32)
            images[begin : begin + len(places)] = part.clip(0, 255).astype(np.uint8)
            truth[begin : begin + len(places)] = labels[places]


def one(model: str, data: str, workspace: str, kill_at: float, mean: Any, std: Any) -> None:
    """One run in this process; prints what it took as JSON."""
    import torch

    import robgui
    from robgui.core.workspace import Workspace

    torch.set_num_threads(1)
    net = robgui.load(model, mean=mean, std=std, device="cpu")
    before = _peak()
    with Workspace.open(workspace) as kept:
        steps = robgui.steps("deepinspect", net, data, workspace=kept)
        for step in steps:
            if kill_at and step.total and step.done >= kill_at * step.total:
                os.kill(os.getpid(), signal.SIGKILL)
    result = step.result
    digest = {
        name: _digest(getattr(result, name))
        for name in ("counts", "rho", "napvd", "avg_bias", "predicted", "napvd_low", "napvd_high")
    }
    said = {"before": before, "peak": _peak(), "calls": net.calls, "note": step.note, **digest}
    print(json.dumps({**said, "accuracy": result.accuracy, "pairs": len(result.confusion_pairs)}))


def _digest(array: np.ndarray) -> str:
    import hashlib

    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _run(arguments: list[str], kill_at: float = 0.0) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.bench_many_inputs", *arguments]
    done = subprocess.run(
        [*command, "--kill-at", str(kill_at)], check=False, stdout=subprocess.PIPE, text=True
    )
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]) if lines else {}


def main() -> None:
    """Prints two lines for each number of photos."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("photos")
    parser.add_argument("labels")
    parser.add_argument("--counts", type=int, nargs="+", default=[5000, 50_000])
    parser.add_argument("--mean", type=float, nargs=3, default=[0.485, 0.456, 0.406])
    parser.add_argument("--std", type=float, nargs=3, default=[0.229, 0.224, 0.225])
    parser.add_argument("--here", default="", help=argparse.SUPPRESS)
    parser.add_argument("--kill-at", type=float, default=0.0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        one(given.model, given.photos, given.here, given.kill_at, given.mean, given.std)
        return
    photos, labels = np.load(given.photos, mmap_mode="r"), np.load(given.labels)
    with tempfile.TemporaryDirectory() as folder:
        for count in given.counts:
            data = Path(folder) / f"{count}.h5"
            write(data, photos, labels, count)
            values = ["--mean", *map(str, given.mean), "--std", *map(str, given.std)]
            start = [given.model, str(data), given.labels, *values, "--here"]
            whole = _run([*start, f"{folder}/whole{count}.robgui"])
            print(
                f"{count:,} photos ({data.stat().st_size / 1e6:.0f} MB on the disc): peak"
                f" {whole['peak']:.0f} MB, {whole['before']:.0f} before; {whole['calls']:,} calls,"
                f" accuracy {whole['accuracy']:.4f}, {whole['pairs']} pairs",
                flush=True,
            )
            broken = f"{folder}/broken{count}.robgui"
            assert not _run([*start, broken], _KILLED_AT), "it ended before it was killed"
            again = _run([*start, broken])
            different = [
                name
                for name in ("counts", "rho", "napvd", "avg_bias", "predicted", "napvd_low")
                if whole[name] != again[name]
            ]
            print(
                f"  killed and run again: {again['note']} {again['calls']:,} calls, peak"
                f" {again['peak']:.0f} MB; different from the whole run: {different or 'nothing'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
