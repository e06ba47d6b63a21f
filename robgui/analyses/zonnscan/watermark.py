"""Corner cases and watermarks (Sections III-C and III-D of the paper) as plain functions.

A watermark key (Le Merrer, Pérez and Trédan, "Adversarial frontier stitching") holds adversarial inputs and inputs
near the boundary that keep their class; fine-tuning puts the adversarial ones back into their class and so moves
the boundary, which the index sees.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.zonnscan.points import base_points
from robgui.analyses.zonnscan.populations import Comparison, adversarial_twins, compare, scan_inputs
from robgui.core.backend import TorchBackend
from robgui.core.classifier import Classifier
from robgui.core.errors import DataError, ModelError


def corner_cases(classifiers: Sequence[Classifier], x: np.ndarray, batch: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the inputs ``(n, *shape)`` on which the models disagree, and all classes ``(models, n)``."""
    if len(classifiers) < 2:
        raise ModelError("Corner cases are inputs on which models disagree; load at least two models.")
    classes = np.stack([classifier.infer(x, batch).argmax(1).cpu().numpy() for classifier in classifiers])
    return np.flatnonzero((classes != classes[:1]).any(0)), classes


@dataclass(frozen=True, slots=True)
class Key:
    """A watermark key: ``inputs (n, *shape)``, their true ``classes (n,)``, and which of them fool the model now."""

    inputs: np.ndarray
    classes: np.ndarray
    adversarial: np.ndarray


def make_key(classifier: Classifier, x: np.ndarray, classes: np.ndarray, size: int = 100, eps: float = 0.1, batch: int = 0) -> Key:
    """Attacks the inputs and takes half of the key from twins that changed class and half from twins that did not.

    Only inputs whose class the model gets right are used; a twin that kept its class is near the boundary and true.
    """
    start = classifier.tensor(x)
    true = torch.from_numpy(np.asarray(classes, dtype=np.int64)).to(classifier.device)
    right = classifier.infer(start, batch).argmax(1) == true
    twins = adversarial_twins(classifier, start, true, eps, batch)
    fooled = classifier.infer(twins, batch).argmax(1) != true
    changed, kept = (torch.nonzero(right & which).flatten().tolist() for which in (fooled, ~fooled))
    half = size // 2
    if len(changed) < half or len(kept) < size - half:
        raise DataError(
            f"A key of {size} needs {half} inputs that the attack changes and {size - half} that it does not; "
            f"with eps = {eps:g} there are {len(changed)} and {len(kept)}: choose more inputs or another eps."
        )
    chosen = changed[:half] + kept[: size - half]
    return Key(twins[chosen].cpu().numpy(), true[chosen].cpu().numpy(), np.arange(size) < half)


def embed(classifier: Classifier, key: Key, *, rounds: int = 200, rate: float = 1e-3) -> Classifier:
    """A copy of the model fine-tuned until it gives every input of the key its class, or for ``rounds`` steps of Adam."""
    backend = classifier._backend
    if not isinstance(backend, TorchBackend):
        raise ModelError(f"{classifier.name} cannot be fine-tuned: only models with weights in torch can carry a watermark.")
    module = copy.deepcopy(backend.module)
    settings = {name: value for name, value in classifier.settings.model_dump().items() if name not in ("shape", "labels")}
    learner = Classifier.from_module(module, classifier.shape, classifier.labels, **settings)
    x, classes = classifier.tensor(key.inputs), torch.from_numpy(key.classes).to(classifier.device)
    module.requires_grad_(True)
    optimiser = torch.optim.Adam(module.parameters(), lr=rate)
    for _ in range(rounds):
        scores = learner.logits(x)
        if bool((scores.argmax(1) == classes).all()):
            break
        optimiser.zero_grad()
        torch.autograd.backward(torch.nn.functional.cross_entropy(scores, classes))
        optimiser.step()
    return Classifier.from_module(module, classifier.shape, classifier.labels, f"{classifier.name}, watermarked", **settings)


def compare_models(
    first: Classifier, second: Classifier, x: np.ndarray, *, runs: int = 100, samples: int = 1000, radius: float = 0.025, seed: int = 0
) -> tuple[np.ndarray, Comparison]:
    """Index ``(2, runs, n)`` of two models around the same inputs in repeated plain runs, and the comparison of all values."""
    values = np.stack([_repeated(classifier, first.tensor(x), runs, samples, radius, seed) for classifier in (first, second)])
    return values, compare(values[0].ravel(), values[1].ravel())


def _repeated(classifier: Classifier, x: Tensor, runs: int, samples: int, radius: float, seed: int) -> np.ndarray:
    rows = []
    for run in range(runs):
        points, _, _ = base_points("plain", x[0].numel(), samples, seed + run, classifier.device)
        scan, _ = scan_inputs(classifier, x, radius, points, samples=samples)
        for _ in scan:
            continue
        rows.append(scan.tally.counts().index)
    return np.stack(rows)
