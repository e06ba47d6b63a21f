"""A proof is tried on the model itself before it is believed.

It rests on a record of what the model computes, on the sizes of rounding errors and on our own code. Here the model
answers inputs of the boxes: the record must give the same scores, up to rounding, and no input may get another class
or a smaller margin than the proof allows. One that does is a contradiction and takes the whole proof away.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import torch
from torch import Tensor

from robgui.bounds.bounds import bounds_of
from robgui.bounds.network import Network, UnsupportedError, doubled
from robgui.bounds.rounding import told_apart
from robgui.bounds.trees import Ensemble, probabilities
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import HOST, host_generator

#: Points of each box at which the record is compared, and rows of coefficients pulled back for it at most.
_COMPARED, _ROWS = 8, 64
#: How far probabilities in single precision may be from those in double precision.
_EQUAL = 1e-5
#: Points of each box that the model answers: the centre, two opposite corners, random corners, random points.
_CORNERS, _INSIDE = 12, 5
#: Gradient steps, from the centre and from random points; together they could cross half the box so many times.
_STEPS, _STARTS, _TRAVEL = 6, 2, 2.5
#: What the model does to its scores at last.
_SQUASHED: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda scores: scores.softmax(1),
    "log_softmax": lambda scores: scores.log_softmax(1),
    "sigmoid": torch.sigmoid,
}


def compare(
    classifier: Classifier, network: Network, low: Tensor, high: Tensor
) -> Generator[None, None, None]:
    """Compares the recorded network with the model at points of the boxes; yields now and then.

    Raises:
        UnsupportedError: They differ by more than rounding.
    """
    (scores,) = network.shapes[network.output]
    shares = _shares(low[0], _COMPARED // 2, _COMPARED - 3 - _COMPARED // 2)
    shares = shares[: max(2, min(_COMPARED, _ROWS // scores))]
    rows = torch.eye(scores, dtype=torch.float64, device=network.device)
    for x, _ in _points(low, high, shares, classifier.batch()):
        expected = network(x)
        every = rows.expand(len(x), -1, -1)
        proven = yield from bounds_of(network, x, x, every, refine=False)
        room = 2 * (expected - proven.lower)  # the errors on both sides are about equal
        if network.squashed:
            expected = _SQUASHED[network.squashed](expected)
            room = 2 * room.amax(1, keepdim=True) + told_apart(scores)
        gap = (doubled(classifier.raw(x), network.device) - expected).abs()
        if not bool((gap <= room).all()):
            raise _differ(gap)


def compare_trees(classifier: Classifier, trees: Ensemble, low: Tensor, high: Tensor) -> None:
    """Compares the trees with the model at points of the boxes.

    Raises:
        UnsupportedError: They differ by more than rounding.
    """
    shares = _shares(low[0], _COMPARED // 2, _COMPARED - 3 - _COMPARED // 2)
    for x, _ in _points(low, high, shares, classifier.batch()):
        answers = classifier.infer(x).softmax(1)
        gap = (answers - probabilities(trees, classifier.raw_input(x))).abs()
        if not bool((gap <= _EQUAL).all()):
            raise _differ(gap)


def _differ(gap: Tensor) -> UnsupportedError:
    worst = float(gap.nan_to_num(torch.inf).amax())
    return UnsupportedError(
        f"at an input within the noise its answers differ by {worst:.2g} from what was recorded of it"
    )


def attack(
    classifier: Classifier, low: Tensor, high: Tensor, labels: Tensor, floor: Tensor
) -> Iterator[None]:
    """Searches the boxes for an input that the proof rules out; yields after every call of the model.

    Args:
        classifier: The model.
        low: Lower corners ``(n, *shape)``.
        high: Upper corners.
        labels: The classes that are proven ``(n,)``.
        floor: ``(n,)`` the proven margin of the model's scores; 0 where it is one of other numbers.

    Raises:
        UnsupportedError: There is one.
    """
    shares = _shares(low[0], _CORNERS, _INSIDE)
    for x, owner in _points(low, high, shares, classifier.batch()):
        _refute(classifier, classifier.infer(x), labels[owner], floor[owner])
        yield
    if not classifier.capabilities.gradients:
        return
    starts = torch.cat([shares[:1], shares[-_STARTS + 1 :]])
    for x, owner in _points(low, high, starts, max(1, classifier.batch() // 2)):
        yield from _climb(classifier, x, (low[owner], high[owner]), labels[owner], floor[owner])


def _climb(
    classifier: Classifier, x: Tensor, box: tuple[Tensor, Tensor], labels: Tensor, floor: Tensor
) -> Iterator[None]:
    """Projected gradient descent of the margin (Madry and others, 2018)."""
    low, high = box
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
    scores, labels = doubled(scores, HOST), labels.to(HOST)
    given = scores.argmax(1)
    if bool((given != labels).any()):
        row = int((given != labels).nonzero()[0])
        ours, proven = (classifier.labels[int(each[row])] for each in (given, labels))
        raise UnsupportedError(
            f"an input within the noise gets the class “{ours}”, where the proof allows only “{proven}”"
        )
    below = floor.to(HOST) - _margins(scores, labels)
    if bool((below > 0).any()):
        raise UnsupportedError(
            f"an input within the noise has a margin that is smaller by {float(below.max()):.2g}"
            " than the proof allows"
        )


def _margins(scores: Tensor, labels: Tensor) -> Tensor:
    """How far the score of the right class lies above every other one, ``(n,)``."""
    own = labels[:, None]
    return scores.gather(1, own)[:, 0] - scores.scatter(1, own, -torch.inf).amax(1)


def _points(
    low: Tensor, high: Tensor, shares: Tensor, size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Points of all boxes, at most ``size`` at once, and the boxes that they belong to."""
    every = torch.arange(len(low) * len(shares), device=low.device)
    for part in torch.split(every, size):
        owner, share = part // len(shares), shares[part % len(shares)]
        first, last = low[owner], high[owner]
        yield torch.minimum(torch.maximum(first + share * (last - first), first), last), owner


def _shares(like: Tensor, corners: int, inside: int) -> Tensor:
    """Places in a box, 0 to 1 along each axis: its centre, two opposite corners, random corners, random points.

    The same for every box, so that it does not matter which of them are tried together.
    """
    uniform = torch.rand(
        (corners + inside, *like.shape), generator=host_generator(0), device=HOST
    ).to(like)
    uniform[:corners] = uniform[:corners].round()
    fixed = torch.tensor([0.5, 0.0, 1.0], dtype=like.dtype, device=like.device)
    ends = fixed.reshape(-1, *(1 for _ in like.shape)).expand(-1, *like.shape)
    return torch.cat([ends, uniform])
