"""The feature game on a network of 224 pixels beside two other searches with as many calls: how few
pixels change the class, and after how many calls the first example is there.

    python -m tests.bench.studies.sparse_search --photos PHOTOS.npy [--first 0] [--count 8] [--calls 1500]
        [--only "Sparse-RS"] [--onnx NETWORK.onnx]

``PHOTOS.npy`` holds uint8 photos ``(n, 3, 224, 224)``. Both others are written here from their
descriptions: Sparse-RS (Croce et al., AAAI 2022, algorithm for l0), which after each success goes on
with a random part of the pixels it has found, and a search by saliency alone. The settings of the
game were chosen on the first eight photos, 20, 22 to 26, 40, 43, 47, 52, 61 and 75 of ours. ``--onnx`` takes
a network with inputs in [0, 1] and runs it by ONNX Runtime: the same answers up to rounding, three
times as fast. It prints figures and asserts none.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

import robgui
from robgui.analyses.feature_game.features.keypoints import find_keypoints
from robgui.core.model.classifier import Classifier
from robgui.reproduce.semantic.bench import imagenet_network
from tests.bench.studies.ablation_feature_game import VARIANTS, without

#: Share of the pixels that Sparse-RS begins with, and how many it leaves after each success.
_BEGIN, _FEWER = 0.02, 0.8
#: Parts of the whole search that are taken out on large images.
_ABLATIONS = ("exchange off", "groups off", "tree off", "random features", "features off (grid)")


@dataclass
class Found:
    """How few pixels, and the calls to the first example; nan where there was none."""

    pixels: float = float("nan")
    first: float = float("nan")


class Asking:
    """Counts calls, and ends a search by StopIteration when there are no more."""

    def __init__(self, net: Classifier, x: Tensor, calls: int) -> None:
        self._net, self.x, self._most, self.calls = net, x, calls, 0
        self.target = int(net.infer(x[None]).argmax())

    def margin(self, x: Tensor) -> float:
        """Score of the class over the best other; negative when the class has changed."""
        if self.calls >= self._most:
            raise StopIteration
        self.calls += 1
        scores = self._net.infer(x[None])[0]
        rest = scores.clone()
        rest[self.target] = -torch.inf
        return float(scores[self.target] - rest.max())


def sparse_rs(asking: Asking, seed: int) -> Found:
    """Sparse-RS for l0: random pixels take random extreme colours; a part of them is exchanged and
    the better picture kept; after a success it goes on with a fifth fewer.
    """
    random = np.random.default_rng(seed)
    channels, size = len(asking.x), asking.x[0].numel()
    found, many = Found(), int(_BEGIN * size)
    chosen = random.permutation(size)[:many]
    colours = random.integers(0, 2, (channels, many)).astype(np.float32)
    try:
        while many >= 1:
            chosen, colours = _one_size(asking, random, chosen, colours)
            found.pixels = many
            found.first = asking.calls if np.isnan(found.first) else found.first
            many = int(_FEWER * many) if many > 4 else many - 1
            kept = random.permutation(len(chosen))[:many]
            chosen, colours = chosen[kept], colours[:, kept]
    except StopIteration:
        pass
    return found


def _one_size(
    asking: Asking, random: np.random.Generator, chosen: np.ndarray, colours: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    channels, height, width = asking.x.shape
    flat = asking.x.reshape(channels, -1)
    size, many = height * width, len(chosen)
    best = asking.margin(_painted(flat, chosen, colours, asking.x.shape))
    step = 0
    while best >= 0:
        step += 1
        count = max(1, int(_share(step) * many))
        gone = random.permutation(many)[:count]
        free = np.setdiff1d(np.arange(size), chosen)
        pixels, tints = chosen.copy(), colours.copy()
        pixels[gone] = random.choice(free, count, replace=False)
        tints[:, gone] = random.integers(0, 2, (channels, count))
        margin = asking.margin(_painted(flat, pixels, tints, asking.x.shape))
        if margin < best:
            chosen, colours, best = pixels, tints, margin
    return chosen, colours


def _share(step: int) -> float:
    """The share that is exchanged, as published for 10,000 steps: .3 at first, halved again and
    again.
    """
    limits = (50, 200, 500, 1000, 2000, 4000, 6000, 8000)
    return 0.3 / 2 ** sum(step > limit for limit in limits)


def _painted(flat: Tensor, pixels: np.ndarray, colours: np.ndarray, shape: torch.Size) -> Tensor:
    image = flat.clone()
    image[:, torch.from_numpy(pixels)] = torch.from_numpy(colours)
    return image.reshape(shape)


def by_saliency(asking: Asking, seed: int) -> Found:
    """The most salient pixels by SIFT turned to the colour furthest from their own: twice as many
    until the class changes, then bisection, then runs of ever fewer of them are turned back, the
    least salient first, while there are calls.
    """
    image = asking.x.cpu().numpy()
    order = torch.from_numpy(_saliency(image).ravel().argsort()[::-1].copy())
    flat = asking.x.reshape(len(asking.x), -1)
    furthest = (flat < 0.5).float()
    found = Found()

    def changes(pixels: Tensor) -> bool:
        picture = flat.clone()
        picture[:, pixels] = furthest[:, pixels]
        if asking.margin(picture.reshape(asking.x.shape)) >= 0:
            return False
        found.first = asking.calls if np.isnan(found.first) else found.first
        found.pixels = len(pixels)
        return True

    try:
        counts = [min(len(order), 1 << power) for power in range(len(order).bit_length() + 1)]
        high = next((many for many in counts if changes(order[:many])), 0)
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if changes(order[:middle]) else (middle, high)
        _turn_back(order[:high], changes)
    except StopIteration:
        pass
    return found


def _turn_back(pixels: Tensor, changes: Callable[[Tensor], bool]) -> None:
    run = len(pixels) // 2
    while run:
        end = len(pixels)
        while end > 0:
            fewer = torch.cat([pixels[: max(0, end - run)], pixels[end:]])
            end -= run
            if len(fewer) and changes(fewer):
                pixels = fewer
        run //= 2


def _saliency(image: np.ndarray) -> np.ndarray:
    """A sum of normal densities, one for each SIFT keypoint, weighted by its strength."""
    points, _ = find_keypoints((255 * image).round().astype(np.uint8))
    rows, columns = np.mgrid[: image.shape[1], : image.shape[2]]
    total = np.zeros(image.shape[1:])
    for x, y, size, strength, *_ in points:
        distance = (columns - x) ** 2 + (rows - y) ** 2
        spread = max(float(size), 1.0)
        total += strength * np.exp(-distance / (2 * spread**2)) / spread**2
    return total


def game(net: Classifier, x: np.ndarray, calls: int) -> Found:
    """The product's own."""
    result = robgui.run("feature_game", net, x[None], max_calls=calls, persistence=False)
    if result.found_class < 0:
        return Found()
    return Found(float(result.severity.l0_pixels), float(result.outcomes[0].first_calls))


def main() -> None:
    """Prints a line for each photo and search, then the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--calls", type=int, default=1500)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--onnx")
    given = parser.parse_args()
    torch.set_num_threads(1)
    net = imagenet_network() if given.onnx is None else _by_runtime(given.onnx)
    photos = np.load(given.photos)[given.first : given.first + given.count]
    photos = photos.astype(np.float32) / np.float32(255)
    searches: dict[str, Callable[[np.ndarray], Found]] = {
        "feature game": lambda x: game(net, x, given.calls),
        "Sparse-RS": lambda x: sparse_rs(Asking(net, torch.from_numpy(x), given.calls), 0),
        "saliency": lambda x: by_saliency(Asking(net, torch.from_numpy(x), given.calls), 0),
    }
    for name in _ABLATIONS:
        searches[name] = lambda x, name=name: _without(net, x, given.calls, name)
    names = list(given.only or searches)
    found: dict[str, list[Found]] = {name: [] for name in names}
    for place, photo in enumerate(photos, given.first):
        for name in names:
            one = searches[name](photo)
            found[name].append(one)
            print(f"photo {place}, {name}: {one.pixels:.0f}, first {one.first:.0f}", flush=True)
    for name, several in found.items():
        pixels = np.array([one.pixels for one in several])
        first = " ".join(f"{one.first:.0f}" for one in several)
        middle = np.exp(np.nanmean(np.log(pixels)))
        print(
            f"{name:20} pixels {' '.join(f'{each:6.0f}' for each in pixels)}, geometric mean"
            f" {middle:.1f}; found {np.isfinite(pixels).sum()} of {len(pixels)}; first"
            f" after {first} calls"
        )


def _by_runtime(path: str) -> Classifier:
    """An ONNX file by ONNX Runtime, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    name = session.get_inputs()[0].name

    def scores(x: np.ndarray) -> np.ndarray:
        return np.asarray(session.run(None, {name: x})[0])

    shape = (3, 224, 224)
    classes = scores(np.zeros((1, *shape), dtype=np.float32)).shape[1]
    return Classifier.from_callable(scores, shape, [str(place) for place in range(classes)])


def _without(net: Classifier, x: np.ndarray, calls: int, name: str) -> Found:
    with without(VARIANTS[name]):
        return game(net, x, calls)


if __name__ == "__main__":
    main()
