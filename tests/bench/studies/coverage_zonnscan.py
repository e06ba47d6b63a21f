"""How often the 95 % intervals of a sweep hold the truth at the default settings.

``python -m tests.bench.studies.coverage_zonnscan FOLDER`` records sweeps that never stop early, one file
for each seed, so that a run that was cut goes on where it ended; ``--report`` alone reads them.
Every round of a sweep is recorded, and a sweep that stops early is a beginning of the one that does
not: so the engine's own rule of stopping is applied to the records, and a rule that is changed
needs no model to be asked again. The truth is the mean of all samples of a cell, those of the
sweeps recorded by ``--truth`` among them: 200 seeds and 13 such sweeps make 1,056,768. A cell is
an input at a radius; it is resolvable when its samples can tell its truth from 0. Where they
cannot, the program says "below b": then b must be above the truth.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from robgui import resources
from robgui.analyses.zonnscan import ZonnscanParams
from robgui.analyses.zonnscan.resolution import resolution
from robgui.analyses.zonnscan.sampling.intervals import half_widths, intervals, shares, unsure
from robgui.analyses.zonnscan.sampling.tally import Counts
from robgui.analyses.zonnscan.sweep import Sweep
from robgui.core.dataset import Dataset, from_arrays, open_dataset
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier

#: Three tables, the last of them a sharp boundary in two dimensions, and three image networks.
MODELS = {
    "table_mlp.onnx": "table.csv",
    "table_forest.skops": "table.csv",
    "sharp_2d": "",
    "fashion_mlp.pt2": "fashion.npz",
    "fashion_rnn.pt": "fashion.npz",
    "fashion_cnn.safetensors": "fashion.npz",
}
#: Slow networks are swept at some of their radii only; cells do not depend on each other.
FEW = {"fashion_rnn.pt", "fashion_cnn.safetensors"}
SOME_RADII = (0.2, 0.5)
INPUTS = 5
#: Seeds and samples of the sweeps that are recorded for the truth alone.
TRUTH_SEED, TRUTH_SAMPLES = 10_000, 65_536
DEFAULT = ZonnscanParams()
Ends = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Rule:
    """A way to stop and to say an interval: of the index and of the share of changes."""

    name: str
    going: Callable[[Counts, int], np.ndarray]
    index: Callable[[Counts, int], Ends]
    share: Callable[[Counts, int], Ends]


def _first_edition(counts: Counts, cap: int) -> Ends:
    half = half_widths(counts)
    return np.clip(counts.index - half, 0, 1), np.clip(counts.index + half, 0, 1)


NOW = Rule(
    "now",
    lambda counts, cap: unsure(counts, cap, DEFAULT.target_half_width, DEFAULT.target_share),
    lambda counts, cap: intervals(counts),
    lambda counts, cap: shares(counts, cap, stops=True),
)
#: Student's interval and a stop by it alone, from 64 samples on.
BEFORE = Rule(
    "first edition, without its neighbours",
    lambda counts, cap: (
        (counts.samples < min(64, cap)) | (half_widths(counts) > DEFAULT.target_half_width)
    ),
    _first_edition,
    lambda counts, cap: shares(counts, cap, stops=False),
)


def subject(name: str) -> tuple[Classifier, list[Dataset]]:
    """A model and five inputs spread over its data."""
    if name == "sharp_2d":
        far, y = np.array([-0.01, -0.05, 0.12, -0.2, 0.3]), np.array([0.3, 0.5, 0.6, 0.2, 0.8])
        x = np.stack([0.5 + 0.15 * np.sin(9 * y) + far, y], 1).astype(np.float32)
        model = Classifier.from_callable(_sharp, (2,), ("in", "out"), name)
        return model, [from_arrays(x[i : i + 1]) for i in range(INPUTS)]
    data = open_dataset(resources.path("demo", MODELS[name]))
    places = np.linspace(0, len(data) - 1, INPUTS).astype(int).tolist()
    model = load(resources.path("demo", name), device="cpu")
    if name == "fashion_cnn.safetensors":
        model.to("cpu", channels_last=True)  # its scores within 2e-6, in less than half the time
    return model, [data.subset([place]) for place in places]


def _sharp(x: torch.Tensor) -> torch.Tensor:
    """A curved boundary at which the answer turns within a hundredth."""
    margin = (x[:, 0] - 0.5 - 0.15 * torch.sin(9 * x[:, 1])) * 400
    return torch.stack([margin, -margin], 1)


def _sweep(name: str, model: Classifier, one: Dataset, **settings: object) -> Sweep:
    radii = SOME_RADII if name in FEW else ()
    return Sweep(model, one, ZonnscanParams.model_validate({"radii": radii, **settings, **_NEVER}))


#: Radii that do not depend on the seed, none of which stops.
_NEVER = {"target_half_width": 0, "added": 0}


def recorded(sweep: Sweep) -> dict[str, np.ndarray]:
    """What was counted after every round of a sweep."""
    rounds: list[Counts] = []
    scan, going_on = sweep.scan, sweep.scan.going_on

    def spy() -> list[int]:
        rounds.append(scan.tally.counts())
        return going_on()

    scan.going_on = spy  # type: ignore[method-assign]
    for _ in scan:
        continue
    return {
        "n": np.array([counts.samples[0] for counts in rounds]),
        "lanes": np.array([counts.lane_sums for counts in rounds]),
        "squares": np.array([counts.squares for counts in rounds]),
        "cubes": np.array([counts.cubes for counts in rounds]),
        "crossed": np.array([counts.crossed for counts in rounds]),
    }


def record(folder: Path, name: str, zone: str, sampler: str, seeds: range) -> None:
    """Writes one file for each seed that has none yet, all inputs in it."""
    model, inputs = subject(name)
    truth = sampler == "truth"
    settings = {"zone": zone, "sampler": "sobol" if truth else sampler}
    for seed in seeds:
        path = folder / f"{name}-{zone}-{sampler}-{seed}.npz"
        if path.exists():
            continue
        more = {"seed": TRUTH_SEED + seed, "samples": TRUTH_SAMPLES} if truth else {"seed": seed}
        rows = [recorded(_sweep(name, model, one, **settings, **more)) for one in inputs]
        kept = slice(-1, None) if truth else slice(None)
        arrays = {key: np.stack([row[key][kept] for row in rows]) for key in rows[0] if key != "n"}
        part = path.with_suffix(".part.npz")
        np.savez_compressed(part, n=rows[0]["n"][kept], **arrays)
        part.replace(path)


def _records(folder: Path, name: str, zone: str, sampler: str) -> list[dict[str, np.ndarray]]:
    paths = [
        path
        for path in sorted(folder.glob(f"{name}-{zone}-{sampler}-*.npz"))
        if ".part" not in path.name
    ]
    return [dict(np.load(path)) for path in paths]


def _truth(records: list[dict[str, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, int]:
    """Index and share of changes ``(inputs, R)`` over all samples, and how many these are."""
    total = sum(int(one["n"][-1]) for one in records)
    index = sum(one["lanes"][:, -1].sum(2) for one in records) / total
    share = sum(one["crossed"][:, -1] for one in records) / total
    return np.asarray(index), np.asarray(share), total


def _rounds(record: dict[str, np.ndarray], place: int) -> Iterator[Counts]:
    zones = record["lanes"].shape[2]
    nothing = np.zeros((zones, 1))
    for look, samples in enumerate(record["n"].tolist()):
        yield Counts(
            np.full(zones, samples),
            record["lanes"][place, look],
            record["squares"][place, look],
            record["cubes"][place, look],
            nothing,
            nothing,
            record["crossed"][place, look],
        )


def stopped(record: dict[str, np.ndarray], place: int, rule: Rule) -> np.ndarray:
    """``(6, R)`` ends of the index, ends of the share, samples and index where a rule stops."""
    cap = int(record["n"][-1])
    alive = np.ones(record["lanes"].shape[2], dtype=bool)
    found = np.zeros((6, len(alive)))
    for counts in _rounds(record, place):
        stops = alive & (~rule.going(counts, cap) | (counts.samples >= cap))
        rows = (*rule.index(counts, cap), *rule.share(counts, cap), counts.samples, counts.index)
        found[:, stops] = np.array(rows)[:, stops]
        alive &= ~stops
    return found


def report(folder: Path, name: str, zone: str, sampler: str, rule: Rule) -> None:
    """Prints one line: coverage where the truth can be told, where it cannot, widths and calls."""
    records = _records(folder, name, zone, sampler)
    if len(records) < 2:
        return
    index, share, many = _truth(_records(folder, name, zone, "truth") + records)
    cells = np.array(
        [[stopped(one, place, rule) for place in range(INPUTS)] for one in records]
    ).transpose(2, 0, 1, 3)
    low, high, share_low, share_high, samples, found = cells
    least = np.vectorize(resolution)(samples)
    told = found >= least
    held = (np.where(told, low, 0) <= index + 1e-12) & (
        index <= np.where(told, high, np.maximum(high, least)) + 1e-12
    )
    known = index >= np.vectorize(resolution)(np.median(samples, axis=0))
    shares_held = ((share_low <= share + 1e-12) & (share <= share_high + 1e-12)).mean(0)
    covered = held.mean(0)
    print(
        f"{name:24s} {zone:10s} {sampler:10s} {rule.name}: {len(records)} seeds, truth of"
        f" {many:,} samples; {_words(covered[known])}; below resolution {_words(covered[~known])};"
        f" share of changes {_words(shares_held)}; {samples.sum(2).mean():,.0f} samples a sweep,"
        f" ± {((high - low) / 2)[:, known].mean():.4f}, share ±"
        f" {((share_high - share_low) / 2).mean():.4f}",
        flush=True,
    )


def _words(cells: np.ndarray) -> str:
    if not cells.size:
        return "no cell"
    few = int((cells < 0.93).sum())
    return f"{cells.size} cells {cells.mean():.3f}, worst {cells.min():.3f}, {few} under .93"


def main() -> None:
    """Records what is missing, then reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--truth", type=int, default=0, help="sweeps of 65,536 samples")
    parser.add_argument("--zone", default="linf")
    parser.add_argument("--sampler", default="sobol")
    parser.add_argument("--report", action="store_true", help="records nothing")
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in given.models:
        if not given.report:
            record(given.folder, name, given.zone, given.sampler, range(given.seeds))
            record(given.folder, name, given.zone, "truth", range(given.truth))
        for rule in (NOW, BEFORE):
            report(given.folder, name, given.zone, given.sampler, rule)


if __name__ == "__main__":
    main()
