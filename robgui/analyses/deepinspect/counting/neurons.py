"""Reads neurons while the model runs: a convolution channel's spatial mean or a linear unit."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from robgui.core.dataset import Dataset, batches
from robgui.core.errors import DataError, ModelError
from robgui.core.model.classifier import Classifier

#: Batches given to the model at once: hooking every layer costs the same for few inputs as for
#: many.
_TOGETHER = 4


@dataclass(frozen=True, slots=True)
class NeuronBatch:
    """The neurons' outputs for one batch of n inputs.

    Attributes:
        places: ``(n,)`` places of the inputs in the dataset.
        scores: ``(n, m)`` outputs of the model.
        layers: Name -> ``(n, k + 2)``: the k neurons' raw outputs, then the lowest and the highest
            value of the whole layer.
    """

    places: np.ndarray
    scores: Tensor
    layers: dict[str, Tensor]

    @property
    def sizes(self) -> list[int]:
        """Neurons of each layer."""
        return [layer.shape[1] - 2 for layer in self.layers.values()]

    def raw(self) -> list[Tensor]:
        """Raw outputs ``(n, k)`` of the neurons, layer by layer."""
        return [layer[:, :-2] for layer in self.layers.values()]

    # The last two columns are the layer's minimum and maximum.

    def scaled(self) -> Tensor:
        """Outputs ``(n, N)`` scaled to 0 … 1 within each layer of each input.

        0 where a layer is constant.
        """
        whole = torch.cat(list(self.layers.values()), 1)
        # One concatenation and three selections, however many layers there are.
        neurons, low, high = (
            whole.index_select(1, columns) for columns in _columns(tuple(self.sizes), whole.device)
        )
        width = high.sub_(low)
        # A constant layer divides by infinity, which makes it 0.
        return neurons.sub_(low).div_(width.masked_fill_(width == 0, math.inf))


@lru_cache(maxsize=8)
def _columns(sizes: tuple[int, ...], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Each neuron's column in a row of all layers, and those of its layer's minimum and maximum."""
    starts = np.cumsum([0, *(size + 2 for size in sizes)])
    neurons = np.concatenate(
        [start + np.arange(size) for start, size in zip(starts, sizes, strict=False)]
    )
    lowest = np.repeat(starts[1:] - 2, sizes)
    first, second, third = (
        torch.from_numpy(places).to(device) for places in (neurons, lowest, lowest + 1)
    )
    return first, second, third


def summary(output: Tensor) -> Tensor:
    """The output of a layer as ``(n, k + 2)``.

    A mean per neuron, then the layer's minimum and maximum.

    With four dimensions the second holds the channels; with fewer, the last holds the units.
    """
    if output.ndim == 4:
        # Section 3.1: a channel is a neuron, its activation the mean over the picture.
        neurons = output.mean((2, 3))
    else:
        if output.ndim == 2:
            neurons = output
        else:
            # Sequences (n, tokens, units): the mean over tokens takes
            # the place of that over pixels.
            neurons = output.flatten(1, -2).mean(1)
    # No flatten, which would copy an image in channels-last order.
    whole = tuple(range(1, output.ndim))
    return torch.cat([neurons, output.amin(whole)[:, None], output.amax(whole)[:, None]], 1).float()


def read(
    classifier: Classifier, dataset: Dataset, *, batch: int, last_layer: bool, first: int = 0
) -> Iterator[NeuronBatch]:
    """Iterates once over all readable inputs from ``first`` on.

    A batch that does not fit into memory is halved.
    """
    if not len(dataset):
        raise DataError("DeepInspect needs inputs; choose some in the gallery or with --select.")
    seen = first > 0
    if first:
        # A continued run skips what the kept counts already contain.
        rest = dataset.subset(range(first, len(dataset)))
    else:
        rest = dataset
    # A batch set by the user is taken as it is.
    for among, x in batches(classifier, rest, batch, together=1 if batch else _TOGETHER):
        seen = True
        places = first + np.asarray(among)
        yield from _read_batch(classifier, places, classifier.tensor(x), last_layer)
    if not seen:
        raise DataError(
            f"None of the {len(dataset):,} inputs of {dataset.name} can be read; look at what the"
            " gallery says about them."
        )


def _read_batch(
    classifier: Classifier, places: np.ndarray, x: Tensor, last_layer: bool
) -> Iterator[NeuronBatch]:
    try:
        scores, layers = classifier.activations(x, summary)
    except MemoryError:
        if len(x) == 1:
            raise ModelError(
                f"{classifier.name}: not enough memory for a single input on {classifier.device}."
            ) from None
        # Counts add up, so two halves give what the whole batch would have given.
        half = len(x) // 2
        yield from _read_batch(classifier, places[:half], x[:half], last_layer)
        yield from _read_batch(classifier, places[half:], x[half:], last_layer)
        return
    yield NeuronBatch(places, scores, _chosen(classifier, layers, len(x), last_layer))


def _chosen(
    classifier: Classifier, layers: dict[str, Tensor], count: int, last_layer: bool
) -> dict[str, Tensor]:
    """The layers to read: those with one row per input, except the last one executed."""
    # A layer with another number of rows (patches, tokens) cannot be assigned to inputs.
    fitting = {name: layer for name, layer in layers.items() if len(layer) == count}
    if not last_layer:
        # The last layer's units are the classes themselves: they would separate every pair.
        fitting = dict(list(fitting.items())[:-1])
    if not fitting:
        raise ModelError(
            f"{classifier.name} has no layer before its last one that can be read input by input;"
            " switch on “Last layer too” (last_layer) to look at that one."
        )
    return fitting


class GrowingPace:
    """Says when derived results are due.

    At once, then late enough for the work to stay a small share.
    """

    def __init__(self, share: float = 0.02, shortest: float = 0.05) -> None:
        self._share = share
        self._shortest = shortest
        self._next = 0.0
        self._began = 0.0

    def due(self) -> bool:
        """True if it is time; the work begins now."""
        self._began = time.monotonic()
        # The clock starts here, and ``made`` measures from it.
        return self._began >= self._next

    def made(self) -> None:
        """Notes that the work is done; the longer it took, the longer until the next time."""
        now = time.monotonic()
        self._next = now + max(self._shortest, (now - self._began) / self._share)


def members(scores: Tensor, multi_label: bool) -> Tensor:
    """Predicted labels ``(n, m)`` bool.

    The highest score, or every score above 0 (probability above ½) for a multi-label model.
    """
    if multi_label:
        # A logit above 0 is a probability above one half.
        return scores > 0
    return torch.nn.functional.one_hot(scores.argmax(1), scores.shape[1]).bool()
