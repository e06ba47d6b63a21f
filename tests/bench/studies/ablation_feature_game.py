"""What does the work in the feature game: the search with one part taken out at a time.

``python -m tests.bench.studies.ablation_feature_game [--mnist FOLDER_OF_IDX_FILES MODEL]`` prints a table of
changed pixels on the bundled networks, and on MNIST with a network of ``train_mnist_cnn``; it asserts
nothing. ``tests.bench.studies.sparse_search`` does the same on photos. The parts: the opening (what each
one-pixel move does), greedy play, refinement, swaps, exchange (large images) and its groups, the
tree, the features.
"""

from __future__ import annotations

import argparse
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import numpy as np
import torch

from robgui import resources
from robgui.analyses.feature_game import FeatureGameParams, feature_game
from robgui.analyses.feature_game.features.keypoints import grid
from robgui.analyses.feature_game.play import match, search
from robgui.analyses.feature_game.play.game import State
from robgui.analyses.feature_game.play.large import exchange, sites
from robgui.analyses.feature_game.play.tree import Node
from robgui.core.dataset import Dataset, align, open_dataset
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from tests.bench.studies.train_mnist_cnn import classifier_of


def _root_only(self: search.GuidedSearch) -> list[Node]:
    return [self.root]


def _by_prior(node: Node, score: object) -> Node:
    """A feature by chance in proportion to its prior, whatever it has gained."""
    prior = np.array([child.prior for child in node.children])
    return node.children[int(_CHANCE.choice(len(prior), p=prior / prior.sum()))]


def _no_exchange(self: search.GuidedSearch, share: float) -> tuple[()]:
    return ()


def _no_swap(self: search.GuidedSearch, final: State) -> Generator[None, None, None]:
    yield from ()


def _random_features(image: np.ndarray) -> tuple[np.ndarray, str]:
    """As many keypoints as SIFT finds, of the same sizes and strengths, anywhere."""
    found, source = _FIND(image)
    rng = np.random.default_rng(int(image.astype(np.int64).sum()) % 2**32)
    places = rng.random((len(found), 2)) * (image.shape[2] - 1, image.shape[1] - 1)
    return np.column_stack([places, found[:, 2:]]), source


def _grid_features(image: np.ndarray) -> tuple[np.ndarray, str]:
    return grid(image.shape[1], image.shape[2]), "grid"


_FIND = match.find_keypoints
_CHANCE = np.random.default_rng(0)
_NO_TREE = (
    (search.GuidedSearch, "_descend", _root_only),
    (sites, "select", _by_prior),
)
#: What is taken out -> what is put in its place.
VARIANTS: dict[str, tuple[tuple[object, str, object], ...]] = {
    "whole search": (),
    "tree off": _NO_TREE,
    "random features": ((match, "find_keypoints", _random_features),),
    "features off (grid)": ((match, "find_keypoints", _grid_features),),
    "swaps off": ((search.GuidedSearch, "_repair", _no_swap),),
    "tree and swaps off": (*_NO_TREE, (search.GuidedSearch, "_repair", _no_swap)),
    "groups off": ((exchange, "GROUPS", 10**9),),
    "exchange off": ((search.GuidedSearch, "_exchange", _no_exchange),),
}


@contextmanager
def without(patches: tuple[tuple[object, str, object], ...]) -> Iterator[None]:
    """The engine with parts replaced."""
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in patches]
    for owner, name, part in patches:
        setattr(owner, name, part)
    try:
        yield
    finally:
        for owner, name, part in kept:
            setattr(owner, name, part)


def pixels(classifier: Classifier, dataset: Dataset, places: list[int], calls: int) -> np.ndarray:
    """Changed pixels of each image; nan where none were found."""
    found = []
    for place in places:
        params = FeatureGameParams(max_calls=calls, persistence=False)
        for step in feature_game(classifier, dataset.subset([place]), params):
            result = step.result
        found.append(result.severity.l0_pixels)
    return np.array(found)


def right(classifier: Classifier, dataset: Dataset, count: int) -> list[int]:
    """Images that the network gets right, in random order."""
    order = np.random.default_rng(0).permutation(len(dataset))[: 8 * count]
    predicted = classifier.infer(dataset.array(order, classifier.shape)).argmax(1).cpu().numpy()
    assert dataset.labels is not None
    return [int(place) for place in order[predicted == dataset.labels[order]][:count]]


def bundled(model: str, data: str) -> tuple[Classifier, Dataset]:
    """A network of the demo and its images."""
    classifier = load(resources.path("demo", model), device="cpu")
    return classifier, align(classifier, open_dataset(resources.path("demo", data)))


def table(
    classifier: Classifier, dataset: Dataset, count: int, calls: int, names: list[str]
) -> None:
    """Prints the rows of one network."""
    places = right(classifier, dataset, count)
    print(f"{classifier.name}, {len(places)} images, {calls:,} calls each", flush=True)
    print(f"{'':22}{'found':>7}{'mean':>8}{'median':>8}{'same as whole':>15}", flush=True)
    whole: np.ndarray | None = None
    for name in names:
        with without(VARIANTS[name]):
            values = pixels(classifier, dataset, places, calls)
        whole = values if whole is None else whole
        same = int((values == whole).sum())
        print(
            f"{name:22}{int(np.isfinite(values).sum()):>7}{np.nanmean(values):>8.2f}"
            f"{np.nanmedian(values):>8.1f}{f'{same} of {len(values)}':>15}",
            flush=True,
        )


def main() -> None:
    """Prints the table of every network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=24)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--large-images", type=int, default=6)
    parser.add_argument("--large-calls", type=int, default=1500)
    parser.add_argument("--mnist", nargs=2, metavar=("FOLDER", "MODEL"))
    parser.add_argument("--only", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    small, large = (options.images, options.calls), (options.large_images, options.large_calls)
    if options.mnist and options.images:
        folder, model = options.mnist
        table(classifier_of(model), open_dataset(folder), *small, options.only)
    if options.images:
        table(*bundled("fashion_cnn.safetensors", "fashion.npz"), *small, options.only)
    if options.large_images:
        table(*bundled("traffic_cnn.pt2", "traffic"), *large, options.only)


if __name__ == "__main__":
    main()
