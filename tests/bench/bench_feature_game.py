"""How few pixels the feature game changes for its model calls, against simple methods.

And what it costs beyond the model.

Train the network first with ``tests.bench.studies.train_mnist_cnn``, then on a quiet machine:
``python -m tests.bench.bench_feature_game FOLDER_OF_IDX_FILES mnist_cnn.safetensors``. It prints
figures and asserts nothing. Greedy search and Sparse-RS (Croce et al., 2022) are written here from
their descriptions and use the same 8-bit moves, the same images and, where said, the same number of
calls.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import numpy as np
import torch

from robgui import resources
from robgui.analyses.feature_game import (
    FeatureGameBatchParams,
    FeatureGameParams,
    Game,
    Goal,
    feature_game,
    feature_game_batch,
)
from robgui.analyses.feature_game.play.game import EMPTY, State
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.refine import refined
from robgui.core.dataset import Dataset, align, inputs, open_dataset
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from tests.bench.studies.train_mnist_cnn import accuracy, classifier_of, network

#: Pixels that Sparse-RS starts with, and the share of them it swaps at first.
SPARSE_RS_PIXELS, SPARSE_RS_SHARE = 20, 0.3
UNLIMITED = 10**9

Attack = Callable[[Oracle, Goal], State]


def refine(oracle: Oracle, goal: Goal, state: State) -> State:
    """The state without the options it does not need."""
    steps = refined(oracle, goal, state)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def greedy(oracle: Oracle, goal: Goal) -> State:
    """Always the one move over all pixels with the best margin, then refinement."""
    state = EMPTY
    while oracle.left:
        states = [
            oracle.game.play(state, option)
            for option in np.flatnonzero(oracle.game.moves(state)).tolist()
        ]
        margins = np.nan_to_num(goal.margins(oracle.scores(states)), nan=-np.inf)
        state = states[int(margins.argmax())]
        if margins.max() > oracle.sure:
            return refine(oracle, goal, state)
    return EMPTY


def sparse_rs(oracle: Oracle, goal: Goal) -> State:
    """Random search over sets of k pixels at extreme values.

    After a success the set is refined and k becomes one less.
    """
    rng = np.random.default_rng(0)
    budget, best = oracle.left, EMPTY
    state = _random_options(oracle.game, EMPTY, SPARSE_RS_PIXELS, rng)
    margin = float(goal.margins(oracle.scores([state])[0]))
    # a proposal that was seen before costs no call here, so proposals are counted too: the search
    # must end
    for _ in range(budget):
        if not oracle.left:
            break
        if margin > oracle.sure:
            best = refine(oracle, goal, state)
            if len(best) == 1:
                return best
            state = tuple(np.sort(rng.permutation(best)[1:]).tolist())
            margin = float(goal.margins(oracle.scores([state])[0]))
            continue
        count = max(1, round(_share(1 - oracle.left / budget) * len(state)))
        kept = tuple(np.sort(rng.permutation(state)[count:]).tolist())
        proposed = _random_options(oracle.game, kept, count, rng)
        found = float(goal.margins(oracle.scores([proposed])[0]))
        if found >= margin:
            state, margin = proposed, found
    return best


def _random_options(game: Game, state: State, count: int, rng: np.random.Generator) -> State:
    for _ in range(count):
        state = game.play(state, int(rng.choice(np.flatnonzero(game.moves(state)))))
    return state


def _share(done: float) -> float:
    """The falling share of pixels that Sparse-RS swaps, in the steps of its paper, for a budget
    rescaled to 10,000.
    """
    steps = ((0.005, 2), (0.02, 4), (0.05, 5), (0.1, 6), (0.2, 8), (0.4, 10), (0.6, 12), (0.8, 15))
    return SPARSE_RS_SHARE / next((divisor for end, divisor in steps if done <= end), 20)


def measure(
    name: str, classifier: Classifier, images: np.ndarray, calls: int, attack: Attack
) -> None:
    """Mean and median L0, calls and seconds of an attack."""
    rows = []
    for image in images:
        began = time.perf_counter()
        oracle = Oracle(classifier, Game(np.round(image * 255).astype(np.uint8), "l0"))
        oracle.allow(calls - 1, 0)
        rows.append(
            (len(attack(oracle, Goal(oracle.original))), oracle.calls, time.perf_counter() - began)
        )
    report(name, np.array(rows))


def ours(name: str, classifier: Classifier, dataset: Dataset, **settings: object) -> None:
    """The same of the engine."""
    rows = []
    for place in range(len(dataset)):
        began = time.perf_counter()
        for step in feature_game(
            classifier, dataset.subset([place]), FeatureGameParams.model_validate(settings)
        ):
            result = step.result
        rows.append((len(result.changed), result.model_calls, time.perf_counter() - began))
    report(name, np.array(rows))


def report(name: str, rows: np.ndarray) -> None:
    """One line of figures.

    An image without an example is left out of the severities and counted.
    """
    found = rows[:, 0] > 0
    pixels = rows[found, 0]
    print(
        f"{name}: L0 mean {pixels.mean():.2f}, median {np.median(pixels):.1f}, {int(found.sum())}"
        f" of {len(rows)} found, calls {rows[:, 1].mean():,.0f}, {rows[:, 2].mean():.2f} s per"
        f" image; {rows[:, 0].astype(int).tolist()}",
        flush=True,
    )


def overhead(classifier: Classifier, dataset: Dataset, calls: int, repeats: int) -> None:
    """Engine time over the bare forward of as many samples in the model's own batches, the two
    in turn.
    """
    x = torch.rand((classifier.batch(), *classifier.shape))
    ratios = []
    for _ in range(repeats):
        began = time.perf_counter()
        for step in feature_game(classifier, dataset, FeatureGameParams(max_calls=calls)):
            used = step.result.model_calls
        middle = time.perf_counter()
        for start in range(0, used, len(x)):
            classifier.infer(x[: used - start])
        ratios.append((middle - began) / (time.perf_counter() - middle))
    print(
        f"{classifier.name}: engine time / bare forward on {used:,} samples:"
        f" {', '.join(f'{ratio:.2f}' for ratio in ratios)}",
        flush=True,
    )


def traffic(calls: int, count: int) -> None:
    """Mean changed pixels and seconds per image on the bundled traffic lights, untargeted and to
    green.
    """
    classifier = load(resources.path("demo", "traffic_cnn.pt2"))
    dataset = align(classifier, open_dataset(resources.path("demo", "traffic")))
    for target in ("", "green"):
        params = FeatureGameBatchParams(images=count, target=target, max_calls=calls)
        for step in feature_game_batch(classifier, dataset, params):
            result = step.result
        played = result.played & ~result.skipped
        print(
            f"traffic lights{' to green' if target else ''}, {calls} calls: {result.mean:.2f}"
            f" pixels (median {result.median:.1f}), {int((result.found_class >= 0).sum())} of"
            f" {int(played.sum())} found, {np.nanmean(result.seconds[played]):.2f} s per image,"
            f" first example after {result.first_calls[result.found_class >= 0].mean():.0f} calls",
            flush=True,
        )


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="folder of the MNIST IDX files")
    parser.add_argument("model", help="what tests.bench.studies.train_mnist_cnn has written")
    parser.add_argument("--images", type=int, default=20)
    parser.add_argument(
        "--first",
        type=int,
        default=0,
        help="the settings were chosen on images 0 to 19; later ones are fresh",
    )
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=("ours", "greedy", "greedy-same", "sparse-rs", "paper", "overhead", "traffic"),
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    classifier = classifier_of(options.model)
    dataset = open_dataset(options.data).subset(
        range(options.first, options.first + options.images)
    )
    images = inputs(classifier, dataset)
    module = network().eval()
    module.load_state_dict(classifier_of(options.model).backend.module.state_dict())  # type: ignore[attr-defined]
    print(
        f"test accuracy {accuracy(module, open_dataset(options.data)):.4f}, load {os.getloadavg()}",
        flush=True,
    )
    work: dict[str, Callable[[], None]] = {
        "ours": lambda: ours(
            f"ours, {options.calls:,} calls", classifier, dataset, max_calls=options.calls
        ),
        "greedy": lambda: measure(
            "greedy, as many calls as it takes", classifier, images, UNLIMITED, greedy
        ),
        "greedy-same": lambda: measure(
            f"greedy, {options.calls:,} calls", classifier, images, options.calls, greedy
        ),
        "sparse-rs": lambda: measure(
            f"Sparse-RS, {options.calls:,} calls", classifier, images, options.calls, sparse_rs
        ),
        "paper": lambda: ours(
            "preset paper, 20 s",
            classifier,
            dataset.subset(range(5)),
            preset="paper",
            search_seconds=20.0,
            move_seconds=7.0,
        ),
        "overhead": lambda: overhead(classifier, dataset.subset([1]), options.calls, 3),
        "traffic": lambda: [traffic(calls, 30) for calls in (300, 1000)] and None,
    }
    for name in options.only or work:
        work[name]()


if __name__ == "__main__":
    main()
