"""Networks on features of 8,000 to 10,000, where single precision may lose a small margin."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from robgui.bounds import certify
from robgui.core.model.classifier import Classifier

_HALVINGS = 30


def network(seed: int, features: int = 20, hidden: int = 12, classes: int = 3) -> Classifier:
    """Small weights on large features, and scores near zero; every other one is linear."""
    generator = torch.Generator("cpu").manual_seed(seed)

    def layer(inputs: int, outputs: int, size: float, middle: float) -> nn.Linear:
        made = nn.Linear(inputs, outputs)
        made.weight.data = size * torch.randn((outputs, inputs), generator=generator)
        made.bias.data = -made.weight.data.sum(1) * middle
        return made

    linear = [layer(features, classes, 2e-4, 9000.0)]
    deep = [layer(features, hidden, 2e-4, 9000.0), nn.ReLU(), layer(hidden, classes, 0.3, 0.1)]
    module = nn.Sequential(*(linear if seed % 2 else deep))
    units = {"low": (8000.0,), "high": (10000.0,)}
    return Classifier.from_module(module, (features,), output="logits", **units)


def largest_certified(classifier: Classifier, x: Tensor, labels: Tensor) -> Tensor:
    """The largest radius ``(n, 1)`` at which each input is certified; 0 where none is."""
    good, bad = torch.zeros(len(x), 1), torch.full((len(x), 1), 0.5)
    for _ in range(_HALVINGS):
        middle = (good + bad) / 2
        proof = certify(classifier, x, labels, middle)
        assert not proof.reason, proof.reason
        certified = torch.from_numpy(proof.certified)[:, None]
        good, bad = torch.where(certified, middle, good), torch.where(certified, bad, middle)
    return good


def class_changes(classifier: Classifier, x: Tensor, labels: Tensor, eps: Tensor, seed: int) -> int:
    """For how many inputs a search within the radius ``(n, 1)`` meets another class.

    It tries random corners and random points, and gradient descent of the margin from four of them.
    """
    generator = torch.Generator("cpu").manual_seed(seed)
    low, high = (x - eps).clamp(0, 1), (x + eps).clamp(0, 1)
    changed = torch.zeros(len(x), dtype=torch.bool)
    for start in range(40):
        share = torch.rand(x.shape, generator=generator)
        tried = low + (share.round() if start % 2 else share) * (high - low)
        tried = torch.minimum(torch.maximum(tried, low), high)
        changed |= _changes(classifier, tried, labels)
        if start >= 4:
            continue
        for _ in range(8):
            moved = tried - (high - low) * _slope(classifier, tried, labels).sign() / 2
            tried = torch.minimum(torch.maximum(moved, low), high)
            changed |= _changes(classifier, tried, labels)
    return int(changed.sum())


def _changes(classifier: Classifier, x: Tensor, labels: Tensor) -> Tensor:
    """Other classes, asked in one batch or in small ones, which are added up in another order."""
    together, apart = (classifier.infer(x, batch).argmax(1) for batch in (0, 3))
    return (together != labels) | (apart != labels)


def _slope(classifier: Classifier, x: Tensor, labels: Tensor) -> Tensor:
    leaf = x.clone().requires_grad_(True)
    scores = classifier.logits(leaf)
    own = labels[:, None]
    margin = scores.gather(1, own)[:, 0] - scores.scatter(1, own, -torch.inf).amax(1)
    return torch.autograd.grad(margin.sum(), leaf)[0]


def search(seed: int, inputs: int) -> tuple[int, int]:
    """How many inputs of one network are certified at some radius, and how many of them wrongly."""
    classifier = network(seed)
    generator = torch.Generator("cpu").manual_seed(seed)
    x = torch.rand((inputs, *classifier.shape), generator=generator)
    labels = classifier.infer(x).argmax(1)
    eps = largest_certified(classifier, x, labels)
    found = eps[:, 0] > 0
    return int(found.sum()), class_changes(classifier, x[found], labels[found], eps[found], seed)
