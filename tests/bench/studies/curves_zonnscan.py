"""What radii that follow the curve save: calls and accuracy of a sweep with fixed radii and with
added ones.

``python -m tests.bench.studies.curves_zonnscan [--models M ...] [--inputs 8] [--seeds 5] [--part changes]``;
with ``--photos PHOTOS.npy`` also EfficientNet-Lite0, with few samples. The reference is a sweep with the
same kind of samples at 161 radii (41 on photos). An error is the mean distance between the lines
drawn and the reference, over the radius and over its logarithm, of uncertainty, share of changes
and confidence together. Coverage is that of the radii that were added, whose choice depends on
the samples: the share of their intervals that hold the reference of so many samples there. Two
radii are judged: the one at which a tenth of the samples change class, read from the lines, by its
distance from the reference; and the smallest at which a sample changed, bisected, over the smallest
that any sweep of the input found.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch

from robgui import resources
from robgui.analyses.zonnscan import ZonnscanParams, ZonnscanResult, zonnscan
from robgui.analyses.zonnscan.sweep import Sweep
from robgui.analyses.zonnscan.zone import EVEN_FIRST, FINE_FIRST
from robgui.core.dataset import Dataset, from_arrays, open_dataset
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.reproduce.semantic.bench import imagenet_network

MODELS = {"table_mlp.onnx": "table.csv", "fashion_mlp.pt2": "fashion.npz"}
#: Radii of the reference: even ones, on photos more of them near the input.
DENSE = tuple(np.round(np.linspace(0, 1, 161), 6).tolist())
PHOTO = tuple(np.round(np.geomspace(0.004, 1, 40), 4).tolist())


def swept(model: Classifier, one: Dataset, **settings: object) -> ZonnscanResult:
    """The curve alone, without the search for the nearest change."""
    sweep = Sweep(model, one, ZonnscanParams.model_validate(settings))
    for _ in sweep.scan:
        continue
    return sweep.step().result


def curves(result: ZonnscanResult) -> np.ndarray:
    """``(3, R)`` what a picture draws."""
    own = result.mean_confidence[:, result.predicted]
    return np.stack([result.index, result.crossing, own])


def errors(result: ZonnscanResult, truth: ZonnscanResult) -> tuple[float, float, float]:
    """Mean distance over the radius, over its logarithm, and the largest."""
    parts = []
    for at in (np.linspace(0, 1, 2001), np.geomspace(0.005, 1, 2001)):
        drawn, real = (
            np.array([np.interp(at, one.radii, curve) for curve in curves(one)])
            for one in (result, truth)
        )
        parts.append(np.abs(drawn - real))
    return float(parts[0].mean()), float(parts[1].mean()), float(parts[0].max())


def radius_of_changes(result: ZonnscanResult, share: float = 0.1) -> float:
    """The radius at which the line of changes first reaches a share; nan where it does not."""
    at = np.linspace(0, float(result.radii.max()), 20_001)
    reached = np.interp(at, result.radii, result.crossing) >= share
    return float(at[reached.argmax()]) if reached.any() else float("nan")


def nearest_change(model: Classifier, one: Dataset, **settings: object) -> float:
    """The smallest radius at which a sample of a whole run changed class."""
    params = ZonnscanParams.model_validate(settings)
    for step in zonnscan(model, one, params):
        newest = step.result
    return float(newest.crossing_radius)


def changes(name: str, model: Classifier, inputs: list[Dataset], seeds: int) -> None:
    """Prints how well both kinds of sweep know where the class changes."""
    wrong: dict[str, list[float]] = {"fixed": [], "added": []}
    ratio: dict[str, list[float]] = {"fixed": [], "added": []}
    for one in inputs:
        truth = swept(model, one, radii=DENSE, samples=1024, target_half_width=0, seed=777)
        found = {}
        for kind, most in (("fixed", {"added": 0}), ("added", {})):
            for seed in range(seeds):
                drawn = radius_of_changes(swept(model, one, seed=seed, **most))
                wrong[kind].append(abs(drawn - radius_of_changes(truth)))
            found[kind] = [nearest_change(model, one, seed=seed, **most) for seed in range(seeds)]
        least = np.nanmin([*found["fixed"], *found["added"], np.inf])
        for kind, several in found.items():
            ratio[kind] += [radius / least for radius in several]
    for kind in wrong:
        print(
            f"{name}, {kind}: radius of a tenth of changes wrong by {np.nanmean(wrong[kind]):.4f}"
            f" (worst {np.nanmax(wrong[kind]):.4f}); smallest change {np.nanmean(ratio[kind]):.3f}"
            f" (worst {np.nanmax(ratio[kind]):.3f}) times the smallest found",
            flush=True,
        )


def held(results: list[ZonnscanResult], model: Classifier, one: Dataset, samples: int) -> list[Any]:
    """Whether the intervals at added radii hold the truth: of the index, of the share."""
    first = {*EVEN_FIRST, *FINE_FIRST}
    added = sorted({float(r) for result in results for r in result.radii} - first)
    if not added:
        return []
    truth = swept(model, one, radii=tuple(added), samples=samples, target_half_width=0, seed=999)
    known = {radius: place for place, radius in enumerate(added)}
    rows = []
    for result in results:
        for i, radius in enumerate(result.radii.tolist()):
            if radius in known:
                index, share = (v[known[radius]] for v in (truth.index, truth.crossing))
                rows.append(
                    (
                        result.ci_low[i] - 1e-4 <= index <= result.ci_high[i] + 1e-4,
                        result.crossing_low[i] - 1e-4 <= share <= result.crossing_high[i] + 1e-4,
                    )
                )
    return rows


def compare(name: str, model: Classifier, inputs: list[Dataset], seeds: int, photo: bool) -> None:
    """Prints a line for fixed radii and one for added ones."""
    dense = {"radii": PHOTO, "samples": 64} if photo else {"radii": DENSE, "samples": 1024}
    most = {"samples": 256} if photo else {}
    rows: dict[str, list[Any]] = {"fixed": [], "added": []}
    covered: list[Any] = []
    for one in inputs:
        truth = swept(model, one, target_half_width=0, seed=777, **dense)
        results: dict[str, list[Any]] = {"fixed": [], "added": []}
        for seed in range(seeds):
            results["fixed"].append(swept(model, one, added=0, seed=seed, **most))
            results["added"].append(swept(model, one, seed=seed, **most))
        for kind, several in results.items():
            for result in several:
                calls = int(result.samples[1:].sum())
                rows[kind].append((len(result.radii) - 1, calls, *errors(result, truth)))
        if not photo:
            covered += held(results["added"], model, one, 16_384)
    for kind, several in rows.items():
        radii, calls, even, log, worst = np.mean(several, axis=0)
        print(
            f"{name}, {kind}: {radii:.1f} radii, {calls:,.0f} calls, error {even:.4f}, near the"
            f" input {log:.4f}, largest {worst:.3f}"
        )
    if covered:
        index, share = np.mean(covered, axis=0)
        print(f"  {len(covered)} added: uncertainty held {index:.3f}, share of changes {share:.3f}")


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--inputs", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--part", choices=("curves", "changes"), default="curves")
    parser.add_argument("--photos")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name in given.models:
        data = open_dataset(resources.path("demo", MODELS[name]))
        places = np.linspace(0, len(data) - 1, given.inputs).astype(int).tolist()
        model = load(resources.path("demo", name), device="cpu")
        several = [data.subset([place]) for place in places]
        if given.part == "curves":
            compare(name, model, several, given.seeds, False)
        else:
            changes(name, model, several, given.seeds)
    if given.photos:
        photos = np.load(given.photos)[: given.inputs].astype(np.float32) / np.float32(255)
        inputs = [from_arrays(photos[i : i + 1]) for i in range(len(photos))]
        compare("EfficientNet-Lite0", imagenet_network(), inputs, 1, True)


if __name__ == "__main__":
    main()
