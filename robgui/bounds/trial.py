"""Tests a proof on the model itself before it is believed.

A proof rests on a record of what the model computes, on bounds of rounding errors and on our own
code. Here the model answers inputs from the boxes: the record must give the same scores, up to
rounding, and no input may get another class or a smaller margin than proven. A single
contradiction voids the whole proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from robgui.bounds.bounds import bounds_of
from robgui.bounds.network import Box, Network, Steps, UnsupportedError, doubled
from robgui.bounds.rounding import told_apart
from robgui.bounds.trees import Ensemble, probabilities
from robgui.core.devices import to_host
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import HOST, host_generator

#: Points of a box at which the record is compared, besides the centre and two opposite corners:
#: random corners and random inner points. At most the third number of rows are pulled back for
#: them.
_CORNERS_COMPARED, _INSIDE_COMPARED, _ROWS = 4, 1, 64
#: Largest difference between two double-precision sums over the same trees.
_EQUAL = 1e-9
#: Points of a box that the model answers, besides the same three.
_CORNERS, _INSIDE = 12, 5
#: Gradient steps, starting points (the centre and random ones), and how many half-widths of the
#: box all steps together could travel.
_STEPS, _STARTS, _TRAVEL = 6, 2, 2.5
#: The model's final operation.
_SQUASHED: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda scores: scores.softmax(1),
    "log_softmax": lambda scores: scores.log_softmax(1),
    "sigmoid": torch.sigmoid,
}


def compare(classifier: Classifier, network: Network, box: Box) -> Steps[None]:
    """Compares the recorded network with the model at points of the boxes; yields between pieces.

    Raises:
        UnsupportedError: They differ by more than rounding.
    """
    (scores,) = network.shapes[network.output]
    shares = _shares(box[0][0], _CORNERS_COMPARED, _INSIDE_COMPARED)
    # Each point pulls back one row per score, so a model with many classes gets fewer points.
    shares = shares[: max(2, _ROWS // scores)]
    rows = torch.eye(scores, dtype=torch.float64, device=network.device)
    for x, _ in _points(box, shares, classifier.batch()):
        expected = network(x)
        every = rows.expand(len(x), -1, -1)
        proven = yield from bounds_of(network, x, x, every, refine=False)
        room = 2 * (expected - proven.lower)  # The errors on both sides are about equal.
        if network.squashed:
            expected = _SQUASHED[network.squashed](expected)
            # A log-softmax moves by at most twice the largest change of a score, the others less.
            room = 2 * room.amax(1, keepdim=True) + told_apart(scores)
        _agree(doubled(classifier.raw(x), network.device), expected, room)


def compare_trees(classifier: Classifier, trees: Ensemble, box: Box) -> Iterator[None]:
    """Compares the trees with the model at points of the boxes; yields after every call.

    Raises:
        UnsupportedError: They differ by more than rounding.
    """
    shares = _shares(box[0][0], _CORNERS_COMPARED, _INSIDE_COMPARED)
    for x, _ in _points(box, shares, classifier.batch()):
        _agree(classifier.raw(x), probabilities(trees, classifier.raw_input(x)), _EQUAL)
        yield


def _agree(answers: Tensor, expected: Tensor, room: Tensor | float) -> None:
    gap = (answers - expected).abs()
    if not bool((gap <= room).all()):
        worst = float(gap.nan_to_num(torch.inf).amax())
        where = "at an input within the radius"
        raise UnsupportedError(f"{where} its answers differ by {worst:.2g} from the record of them")


def attack(classifier: Classifier, box: Box, labels: Tensor, floor: Tensor) -> Iterator[None]:
    """Searches the boxes for an input that the proof rules out; yields after every call.

    Args:
        classifier: The model.
        box: Lower and upper corners, each ``(n, *shape)``.
        labels: The classes that are proven ``(n,)``.
        floor: ``(n,)`` the proven margin of the scores; 0 if the proof is about other numbers.

    Raises:
        UnsupportedError: It found one.
    """
    shares = _shares(box[0][0], _CORNERS, _INSIDE)
    for x, owner in _points(box, shares, classifier.batch()):
        least = floor[owner.to(floor.device)]
        _refute(classifier, classifier.infer(x), labels[owner], least)
        yield
    if not classifier.capabilities.gradients:
        return
    # The centre, and random inner points, which come last.
    starts = torch.cat([shares[:1], shares[-_STARTS + 1 :]])
    for x, owner in _points(box, starts, max(1, classifier.batch() // 2)):
        least = floor[owner.to(floor.device)]
        inside = box[0][owner], box[1][owner]
        yield from _descend(classifier, x, inside, labels[owner], least)


def _descend(
    classifier: Classifier,
    x: Tensor,
    box: Box,
    labels: Tensor,
    floor: Tensor,
) -> Iterator[None]:
    """Projected gradient descent of the margin (Madry and others, 2018)."""
    low, high = box
    # Per axis: a box cut by [0, 1] is narrower on some of them.
    step = (high - low) / 2 * (_TRAVEL / _STEPS)
    for _ in range(_STEPS):
        with torch.enable_grad():
            leaf = x.detach().clone().requires_grad_(True)
            scores = classifier.logits(leaf)
            (slope,) = torch.autograd.grad(_margins(scores, labels).sum(), leaf)
        _refute(classifier, scores.detach(), labels, floor)
        yield
        x = torch.minimum(torch.maximum(x - step * slope.sign(), low), high)
    _refute(classifier, classifier.infer(x), labels, floor)
    yield


def _refute(classifier: Classifier, scores: Tensor, labels: Tensor, floor: Tensor) -> None:
    """Raises if these answers contradict the proof."""
    told = map(torch.from_numpy, to_host(scores, labels, floor))
    scores, labels, floor = (next(told).double(), *told)
    # One input of another class in a proven box: the proof, not the input, is wrong.
    wrong = (scores.argmax(1) != labels).nonzero()[:, 0]
    if len(wrong):
        row = int(wrong[0])
        given, proven = classifier.labels[int(scores[row].argmax())], classifier.labels[labels[row]]
        found = f"an input within the radius gets the class “{given}”"
        raise UnsupportedError(f"{found}, where the proof allows only “{proven}”")
    below = float((floor - _margins(scores, labels)).max())
    if below > 0:
        found = f"an input within the radius has a margin that is {below:.2g} smaller"
        raise UnsupportedError(f"{found} than the proof allows")


def _margins(scores: Tensor, labels: Tensor) -> Tensor:
    """The score of the right class minus the best other one, ``(n,)``."""
    own = labels[:, None]
    return scores.gather(1, own)[:, 0] - scores.scatter(1, own, -torch.inf).amax(1)


def _points(box: Box, shares: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Points of all boxes, at most ``size`` at once, and the number of each point's box."""
    every = torch.arange(len(box[0]) * len(shares), device=shares.device)
    for part in torch.split(every, size):
        owner, share = part // len(shares), shares[part % len(shares)]
        low, high = box[0][owner], box[1][owner]
        # low + 1·(high - low) may round to just outside the box, where nothing is proven.
        yield torch.minimum(torch.maximum(low + share * (high - low), low), high), owner


def _shares(like: Tensor, corners: int, inside: int) -> Tensor:
    """Places in a box, 0 to 1 along each axis: centre, two opposite corners, then random ones.

    The same for every box, so the answer does not depend on which boxes are tried together.
    """
    size = (corners + inside, *like.shape)
    uniform = torch.rand(size, generator=host_generator(0), device=HOST).to(like)
    # Rounded, a random point becomes a random corner, where linear bounds are reached.
    uniform[:corners] = uniform[:corners].round()
    fixed = torch.tensor([0.5, 0.0, 1.0], dtype=like.dtype, device=like.device)
    ends = fixed.reshape(-1, *(1 for _ in like.shape)).expand(-1, *like.shape)
    return torch.cat([ends, uniform])
