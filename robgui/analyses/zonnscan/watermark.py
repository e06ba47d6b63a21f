"""Watermarks (Section III-D of the paper) as plain functions.

A watermark key (Le Merrer, Pérez and Trédan, "Adversarial frontier stitching") holds adversarial
inputs and inputs near the boundary that keep their class; fine-tuning puts the adversarial ones
back into their class and so moves the boundary, which the index sees.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from robgui.analyses.zonnscan.populations import Comparison, adversarial_twins, compare, scan_inputs
from robgui.analyses.zonnscan.sampling.points import base_points
from robgui.core.devices import to_host
from robgui.core.errors import DataError, ModelError
from robgui.core.model.backend import TorchBackend
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import host_generator, host_integers

#: Inputs per step of fine-tuning whose answers should not change.
KEPT = 64


@dataclass(frozen=True, slots=True)
class Key:
    """A watermark key.

    Attributes:
        inputs: ``(n, *shape)`` the attacked inputs.
        classes: ``(n,)`` their true classes.
        adversarial: ``(n,)`` bool, which of them fool the model now.
        numbers: ``(n,)`` from which of the given inputs each was made.
    """

    inputs: np.ndarray
    classes: np.ndarray
    adversarial: np.ndarray
    numbers: np.ndarray


def make_key(
    classifier: Classifier,
    x: np.ndarray,
    classes: np.ndarray,
    size: int = 100,
    eps: float = 0.1,
    batch: int = 0,
) -> Key:
    """Attacks the inputs; half of the key changed class, the other half did not.

    Only inputs that the model gets right are used; a twin that kept its class is near the boundary
    and correct.
    """
    start = classifier.tensor(x)
    true = torch.from_numpy(np.asarray(classes, dtype=np.int64)).to(classifier.device)
    # Twins of inputs that are wrong already would say nothing about the boundary.
    right = classifier.infer(start, batch).argmax(1) == true
    twins = adversarial_twins(classifier, start, true, eps, batch)
    fooled = classifier.infer(twins, batch).argmax(1) != true
    changed, kept = (
        np.flatnonzero(each).tolist() for each in to_host(right & fooled, right & ~fooled)
    )
    # Half and half, as in frontier stitching: true adversaries and false ones.
    half = size // 2
    if len(changed) < half or len(kept) < size - half:
        raise DataError(
            f"A key of {size} needs {half} inputs that the attack changes and {size - half} that it"
            f" does not; with eps = {eps:g} there are {len(changed)} and {len(kept)}: choose more"
            " inputs or another eps."
        )
    # In the order of the data: the key does not depend on scores.
    chosen = changed[:half] + kept[: size - half]
    (made,) = to_host(twins[chosen])
    return Key(
        made,
        np.asarray(classes, dtype=np.int64)[chosen],
        np.arange(size) < half,
        np.asarray(chosen),
    )


def embed(
    classifier: Classifier,
    key: Key,
    *,
    rounds: int = 200,
    rate: float = 1e-3,
    kept: np.ndarray | None = None,
) -> Classifier:
    """A copy of the model fine-tuned until it gives every key input its class.

    At most ``rounds`` steps of Adam. Its answers to the inputs ``kept`` are held in place.
    """
    stitching = Stitching(classifier, key, rounds=rounds, rate=rate, kept=kept)
    for _ in stitching:
        continue
    return stitching.marked()


class Stitching:
    """Fine-tuning of a copy, one step per iteration; the model itself is never touched.

    Args:
        classifier: The model to be marked.
        key: What the copy should learn.
        rounds: Most steps of Adam.
        rate: Its learning rate.
        kept: ``(n, *shape)`` inputs whose answers should not change; without any the accuracy
            suffers.
        seed: Which of them are held in which round.
    """

    def __init__(
        self,
        classifier: Classifier,
        key: Key,
        *,
        rounds: int = 200,
        rate: float = 1e-3,
        kept: np.ndarray | None = None,
        seed: int = 0,
    ) -> None:
        backend = classifier.backend
        if not isinstance(backend, TorchBackend):
            raise ModelError(
                f"{classifier.name} cannot be fine-tuned: only models with weights in torch can"
                " carry a watermark."
            )
        self._classifier = classifier
        # The model itself is never touched: a copy learns.
        self._twin = backend.around(_copy_of_module(backend.module))
        if not self._learns():
            self._twin = _read_again(classifier)
        # Without a digest: the weights change with every step and belong to no record yet.
        self._learner = self._wrapped("")
        self._x, self._classes = (
            classifier.tensor(key.inputs),
            torch.from_numpy(key.classes).to(classifier.device),
        )
        self._kept = classifier.tensor(key.inputs[:0] if kept is None else kept)
        # Of the model before marking: what the copy should go on answering.
        self._answers = classifier.probs(self._kept)
        self._generator = host_generator(seed)
        self._rounds, self._rate = rounds, rate

    def _learns(self) -> bool:
        """Whether the copy answers from its own weights."""
        _set_learning(self._twin.module, True)
        # One pass tells whether the copy's weights are really used.
        middle = torch.full((1, *self._classifier.shape), 0.5, device=self._classifier.device)
        own = self._wrapped("").logits(middle).requires_grad
        _set_learning(self._twin.module, False)
        return own

    def __iter__(self) -> Iterator[None]:
        weights = _weights(self._twin.module)
        _set_learning(self._twin.module, True)
        optimiser = torch.optim.Adam(weights, lr=self._rate)
        for _ in range(self._rounds):
            scores = self._learner.logits(self._x)
            # Further steps would move the boundary more than the mark needs.
            if bool((scores.argmax(1) == self._classes).all()):
                break
            optimiser.zero_grad()
            torch.autograd.backward(
                # The key's classes, plus staying where it was on ordinary inputs.
                torch.nn.functional.cross_entropy(scores, self._classes) + self._drift()
            )
            optimiser.step()
            yield

    def _drift(self) -> Tensor | float:
        """How far the answers to some of the inputs to be kept have moved."""
        if not len(self._kept):
            return 0.0
        # Drawn on the host, so a GPU holds the same inputs in place.
        some = host_integers(len(self._kept), KEPT, self._generator).to(self._kept.device)
        return torch.nn.functional.cross_entropy(
            self._learner.logits(self._kept[some]), self._answers[some]
        )

    def marked(self) -> Classifier:
        """The copy as it is now."""
        digest = hashlib.sha256()
        _set_learning(self._twin.module, False)
        # A digest of the weights: the marked copy is another model to every record.
        for weight in to_host(*_weights(self._twin.module)):
            digest.update(weight.tobytes())
        return self._wrapped(digest.hexdigest())

    def _wrapped(self, content: str) -> Classifier:
        return Classifier(
            self._twin,
            self._classifier.settings,
            name=f"{self._classifier.name}, watermarked",
            content=content,
        )


def _copy_of_module(module: nn.Module) -> nn.Module:
    if any(True for _ in module.parameters()):
        return copy.deepcopy(module)
    twin = copy.copy(module)  # An exported graph: its nodes are shared, its weights are buffers.
    twin._buffers = {
        name: None if tensor is None else tensor.clone() for name, tensor in module._buffers.items()
    }
    return twin


def _read_again(classifier: Classifier) -> TorchBackend:
    """The model read from its file again.

    A translated graph calls its layers by reference, and a copy of it would too.
    """
    from robgui.core.loading import load

    if classifier.path is not None:
        backend = load(
            classifier.path, device=classifier.device, **classifier.settings.model_dump()
        ).backend
        if isinstance(backend, TorchBackend):
            return backend
    raise ModelError(
        f"{classifier.name} cannot be fine-tuned: its graph cannot be copied; export the model as"
        " .pt2 and load that."
    )


def _set_learning(module: nn.Module, on: bool) -> None:
    for weight in _weights(module):
        weight.requires_grad_(on)


def _weights(module: nn.Module) -> list[Tensor]:
    """The weights that learn: the parameters.

    For an exported graph, which has none, the matrices and kernels but no batch statistics.
    """
    return [*module.parameters()] or [
        t for t in module.buffers() if t.ndim > 1 and t.is_floating_point()
    ]


def compare_models(
    first: Classifier,
    second: Classifier,
    x: np.ndarray,
    *,
    runs: int = 100,
    samples: int = 1000,
    radius: float = 0.025,
    seed: int = 0,
) -> tuple[np.ndarray, Comparison]:
    """Index ``(2, runs, n)`` of two models around the same inputs in repeated plain runs.

    Also the comparison of all values.
    """
    repeated = Repeated((first, second), x, runs=runs, samples=samples, radius=radius, seed=seed)
    for _ in repeated:
        continue
    return repeated.index, compare(repeated.index[0].ravel(), repeated.index[1].ravel())


class Repeated:
    """Repeated plain runs of the index around the same inputs under two models.

    Iterating does the work.

    Attributes:
        index: ``(2, runs, n)``, nan if there is none yet.
        calls: Samples the models have seen.
        total: Samples they will have seen.
    """

    def __init__(
        self,
        models: tuple[Classifier, Classifier],
        x: np.ndarray,
        *,
        runs: int,
        samples: int,
        radius: float,
        seed: int = 0,
        batch: int = 0,
    ) -> None:
        self.index = np.full((2, runs, len(x)), np.nan)
        self.calls, self.total = 0, 2 * runs * len(x) * samples
        self._models, self._x = models, x
        self._samples, self._radius, self._seed, self._batch = samples, radius, seed, batch

    def __iter__(self) -> Iterator[None]:
        for run in range(self.index.shape[1]):
            # Model by model within a run: a stopped check has whole pairs.
            for m, classifier in enumerate(self._models):
                x, before = classifier.tensor(self._x), self.calls
                points, _, _ = base_points(
                    # The same points for both models and other ones in each run: differences are
                    # paired.
                    "plain",
                    x[0].numel(),
                    self._samples,
                    self._seed + run,
                    classifier.device,
                )
                scan, _ = scan_inputs(
                    classifier, x, self._radius, points, samples=self._samples, batch=self._batch
                )
                for _ in scan:
                    self.calls = before + int(scan.tally.samples.sum())
                    yield
                self.index[m, run] = scan.tally.counts().index
