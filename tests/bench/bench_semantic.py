"""How much growing regions costs beyond the network itself, and how soon a whole map is there.

Run it alone on a quiet machine: ``python -m tests.bench.bench_semantic``. It prints figures and
    asserts nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable

import numpy as np
import torch

import robgui
from robgui import resources
from robgui.analyses.semantic import MapParams, RegionsParams, Space, scene_of, semantic_map
from robgui.analyses.semantic.regions.region_growth import Growth
from robgui.core.dataset import Dataset, open_dataset
from robgui.core.errors import MissingExtraError
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.reproduce.semantic.bench import imagenet_network
from tests.bench.bench_large import map_ratio

#: Cells of the published map.
CELLS = 120 * 34


def run(pauses: Iterable[None]) -> None:
    """Runs a generator to its end."""
    for _ in pauses:
        pass


def seconds(work: Callable[[], object]) -> float:
    """CPU time of one call on one thread, which other programs do not disturb much."""
    start = time.process_time()
    work()
    return time.process_time() - start


def region_step(space: Space, repeats: int, gradient: str) -> None:
    """One batched step of all starts and methods against the bare forward of the same images,
    the two in turn.
    """
    params = RegionsParams(gradient=gradient, preset="paper", epsilon=1.0, eta=1e-6)
    growth = Growth(space, 0, params, "robust")
    low, high = space.low, space.high
    starts = low + (high - low) * torch.tensor(
        [[0.3, 0.4], [0.5, 0.5], [0.6, 0.3], [0.4, 0.7]], dtype=torch.float64
    )
    run(growth.begin(starts))
    asked = growth.grower.ask()
    points = torch.cat([asked.points, asked.sloped])
    images = space.images(points)
    run(growth.advance())
    pairs = []
    for _ in range(repeats):
        bare = seconds(lambda: space.classifier.infer(images))
        making = seconds(lambda: space.images(points))
        pairs.append((seconds(lambda: run(growth.advance())), bare, making))
    step, bare, making = np.median(np.array(pairs), axis=0)
    name = f"{space.classifier.name}, {space.name}, {gradient}"
    print(
        f"{name}: step of {len(points)} images {1000 * step:.1f} ms, bare forward {1000 * bare:.1f}"
        f" ms, images {1000 * making:.1f} ms: step / forward {step / bare:.2f}, step / (forward +"
        f" images) {step / (bare + making):.2f}"
    )


def coarse_share(classifier: Classifier) -> None:
    """The share of the work after which every cell of the published map shows something."""
    began = time.perf_counter()
    for step in semantic_map(
        (classifier,), None, MapParams(scene=("box",), target="0", preset="paper")
    ):
        if np.isfinite(step.result.score).all():
            share, after = step.done / step.total, time.perf_counter() - began
            print(
                f"{classifier.name}, map of {step.total:,} cells: whole after {step.done} cells,"
                f" {100 * share:.1f} %, {after:.2f} s"
            )
            return


def boxes(pictures: int, starts: int) -> None:
    """Calls, volume and lost share of the largest box and of regions grown as published, from the
    same starts, on the demo's networks.
    """
    for entry in resources.demo()[: 1 if pictures else 0]:
        data = open_dataset(entry.dataset)
        for path in entry.models[:2]:
            model = load(path)
            rows = [_of_one(model, data.subset([i]), starts) for i in range(pictures)]
            for kind, row in zip(KINDS, np.nanmean(np.array(rows), axis=0), strict=True):
                calls, volume, lost = row
                print(
                    f"{model.name}, {kind}: {calls:,.0f} calls, volume {volume:.3f}, loses the"
                    f" class at {100 * lost:.2f} % of the poses inside"
                )


KINDS = ("largest box", "grow, black-box", "grow, all three methods")


def _of_one(model: Classifier, one: Dataset, starts: int) -> list[tuple[float, float, float]]:
    """Calls of all starts, volume of the largest region and lost share among 4,000 poses in it, for
    each kind.
    """
    grown = {"mode": "robust", "start_count": starts}
    settings = ({"start_count": starts}, {**grown, "methods": "oir_b"}, grown)
    rows = []
    for chosen in settings:
        result = robgui.run("semantic_regions", model, one, **chosen)
        best = int(np.nan_to_num(result.volume).argmax())
        space = scene_of(RegionsParams(), model, one)
        unit = np.random.default_rng(0).random((4000, len(result.axes)))
        points = result.low[best] + (result.high[best] - result.low[best]) * unit
        tops = space.classifier.infer(space.images(space.wrapped(torch.from_numpy(points))))
        lost = float((tops.argmax(1) != result.target).double().mean())
        rows.append((result.model_calls, float(result.volume[best]), lost))
    return rows


def maps(pictures: int) -> None:
    """Cells along the border, and how well they and as many even ones agree with the whole map."""
    for entry in resources.demo()[: 2 if pictures else 0]:
        data = open_dataset(entry.dataset)
        for path in entry.models[:2]:
            model = load(path)
            rows = [map_ratio(model, data.subset([i])) for i in range(pictures)]
            cells, border, even = np.mean(rows, axis=0)
            print(
                f"{model.name}: {cells:.2f} of the cells, IoU with the whole map {border:.3f}; a"
                f" quarter of the cells in even steps {even:.3f}",
                flush=True,
            )


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--boxes", type=int, default=0, help="compare regions on N pictures")
    parser.add_argument("--starts", type=int, default=4, help="starts of each run of --boxes")
    parser.add_argument("--maps", type=int, default=0, help="compare maps of N pictures")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.boxes or given.maps:
        boxes(given.boxes, given.starts)
        maps(given.maps)
        return
    entry = resources.demo()[0]
    one = open_dataset(entry.dataset).subset([3])
    cnn = load(entry.models[1])
    for gradient in ("differences", "autograd"):
        region_step(scene_of(RegionsParams(span="whole"), cnn, one), given.repeats, gradient)
    coarse_share(cnn)
    try:
        network = imagenet_network()
    except MissingExtraError as error:
        print(error)
        return
    region_step(scene_of(RegionsParams(scene="teapot"), network), given.repeats, "differences")


if __name__ == "__main__":
    main()
