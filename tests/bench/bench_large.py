"""Large networks: what answers cost, in ratios of calls, and how soon the first picture comes.

    python -m tests.bench.bench_large --photos PHOTOS.npy [--methods zonnscan,semantic_map]

``PHOTOS.npy`` holds uint8 photos ``(n, 3, 224, 224)``. Times are of the processor (one thread), so
that what else the machine does plays no part; a time limit is of the clock on the wall, and is
therefore checked on a machine that is otherwise idle.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import robgui
from robgui.core.dataset import Dataset
from robgui.core.execution.budget.cost import estimate
from robgui.core.execution.budget.time_limit import BUDGETS
from robgui.core.execution.registry import find
from robgui.core.model.card import card_of
from robgui.core.model.classifier import Classifier
from robgui.reproduce.semantic.bench import imagenet_network

FIVE = ("zonnscan", "semantic_map", "feature_game", "deepinspect", "last_particle")


def informative(name: str, result: Any) -> bool:
    """Whether a result shows the whole picture of its method, however coarsely."""
    if name == "zonnscan":
        return bool((result.samples > 0).all())
    if name == "semantic_map":
        return bool(np.isfinite(result.scores).all())
    if name == "feature_game":
        return result.found_class >= 0
    if name == "deepinspect":
        return bool(np.isfinite(result.napvd).any())
    return result.killed > 0 or result.monte_carlo_failures > 0


def first_picture(net: Classifier, name: str, x: np.ndarray) -> tuple[float, int]:
    """Seconds of the processor and calls until the first informative picture."""
    began, before = time.process_time(), net.calls
    with robgui.steps(name, net, x) as going:
        for step in going:
            if informative(name, step.result):
                break
    return time.process_time() - began, net.calls - before


def budget_kept(net: Classifier, name: str, x: np.ndarray, seconds: float) -> tuple[float, str]:
    """Seconds that a run with a time limit took, and how its verdict begins."""
    going = robgui.steps(name, net, x, max_seconds=seconds)
    for _ in going:
        pass
    verdict = going.execution.verdict
    return going.execution.seconds, "" if verdict is None else verdict.sentence[:60]


def map_ratio(net: Classifier, x: np.ndarray | Dataset) -> tuple[float, float, float]:
    """Cells along the border over all cells, IoU with the full map, IoU of as many even cells."""
    whole = robgui.run("semantic_map", net, x)
    border = robgui.run("semantic_map", net, x, cells="borders")
    full, seen = (one.tops[0, 0] == one.target[0] for one in (whole, border))
    even = whole.tops[0, 0][::2, ::2].repeat(2, 0).repeat(2, 1)[: len(full), : full.shape[1]]
    return (
        float(border.computed.mean()),
        overlap(full, seen),
        overlap(full, even == whole.target[0]),
    )


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Intersection over union."""
    return float((one & other).sum() / max(1, (one | other).sum()))


def region_ratio(net: Classifier, x: np.ndarray) -> tuple[int, int, float, float]:
    """Calls of growing by steps and of the largest box, and the volume of each."""
    usual = {"start_count": 1}
    grown = robgui.run("semantic_regions", net, x, mode="robust", methods="oir_b", **usual)
    box = robgui.run("semantic_regions", net, x, **usual)
    return grown.model_calls, box.model_calls, float(grown.volume.max()), float(box.volume.max())


def lines(net: Classifier, photos: np.ndarray, methods: tuple[str, ...]) -> Iterator[str]:
    """What is measured, a line each."""
    card = card_of(net)
    yield f"{net.name}: {1000 * card.times.together:.0f} ms a call"
    for name in methods:
        known = find(name)
        many = known.inputs == "many"
        found = estimate(known, known.params.parse({}), [card], len(photos) if many else 1)
        yield f"{name}: said before Run: {'nothing' if found is None else found.words}"
        for place in range(1 if many else len(photos)):
            x = photos if many else photos[place : place + 1]
            seconds, calls = first_picture(net, name, x)
            yield f"{name}, photo {place}: first picture {seconds:.1f} s, {calls} calls"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--methods", default=",".join(FIVE))
    parser.add_argument("--part", choices=["first", "budget", "map", "regions"], default="first")
    given = parser.parse_args()
    torch.set_num_threads(1)
    net = imagenet_network()
    photos = np.load(given.photos)[: given.count].astype(np.float32) / np.float32(255)
    methods = tuple(given.methods.split(","))
    if given.part == "first":
        for line in lines(net, photos, methods):
            print(line, flush=True)
    elif given.part == "budget":
        for name in methods:
            x = photos if find(name).inputs == "many" else photos[:1]
            seconds, said = budget_kept(net, name, x, BUDGETS["Normal"])
            print(f"{name}: {seconds:.1f} s of {BUDGETS['Normal']:.0f}: {said}", flush=True)
    for place in range(len(photos)):
        x = photos[place : place + 1]
        if given.part == "map":
            cells, same, even = map_ratio(net, x)
            print(f"photo {place}: {cells:.2f} of the cells, IoU {same:.3f}; even {even:.3f}")
        elif given.part == "regions":
            print(f"photo {place}: calls and volumes {region_ratio(net, x)}", flush=True)


if __name__ == "__main__":
    main()
