"""Counts of one pass: how often members of a class activate each neuron, and the labels."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np
import torch

from robgui.analyses.deepinspect.counting.kernels import napvd_rounds
from robgui.analyses.deepinspect.counting.neurons import NeuronBatch, members
from robgui.analyses.deepinspect.counting.parts import TallyPart
from robgui.analyses.deepinspect.counting.resampling import GROUPS, Grouped, fits
from robgui.analyses.deepinspect.counting.truth import Type2Tally, type1conf
from robgui.analyses.deepinspect.params import InspectParams
from robgui.core.dataset import Dataset, align
from robgui.core.devices import to_host
from robgui.core.errors import ModelError
from robgui.core.model.classifier import Classifier


class InspectionSums:
    """Everything that one streaming pass adds up, on the model's device.

    Memory O(neurons x classes).

    Attributes:
        counts: ``(T, m, N)`` float32 members of a class that activate a neuron, for each of T
            thresholds; whole numbers, exact up to 16 million inputs. Empty before the first batch.
        active: ``(T,)`` activations in all.
        seen: Inputs so far.
        upto: The place after the last of them; all before it were read or cannot be.
        layers: Names of the layers.
        layer_sizes: Neurons of each.
        grouped: The counts of the first threshold by groups of inputs, for intervals; None if they
            were not asked for or would be too many.
    """

    def __init__(
        self,
        classifier: Classifier,
        dataset: Dataset,
        thresholds: Sequence[float],
        *,
        intervals: bool = False,
        first: int = 0,
    ) -> None:
        """``first`` is the number of the first input in the whole that these are part of."""
        self._multi_label = classifier.settings.multi_label
        self._thresholds = thresholds
        self._device = device = classifier.device
        self._name = classifier.name
        self._m = m = classifier.classes
        fitting = align(classifier, dataset)
        # Labels enter here and leave through ``conf`` and ``accuracy``
        # only; counting never reads them.
        self.true, self.true_matrix = _truth(fitting, m, self._multi_label)
        self.counts = torch.zeros((len(thresholds), m, 0), device=device)
        self.active = torch.zeros(len(thresholds), dtype=torch.float64, device=device)
        self.seen = self.upto = 0
        self.grouped: Grouped | None = None
        self._intervals, self._first = intervals, first
        self.layers: tuple[str, ...] = ()
        self.layer_sizes = np.zeros(0, dtype=np.int64)
        self._members = torch.zeros(m, device=device)
        self._predicted = torch.full((len(dataset),), -1, dtype=torch.int32, device=device)
        # One bit per class and input: 1,000 classes of 50,000 inputs are 6 MB instead of 50.
        self._bits = np.zeros(
            (len(dataset), -(-m // 8)) if self._multi_label else (0, 0), dtype=np.uint8
        )
        self._type2 = Type2Tally(m, device)
        self._finite = torch.ones((), dtype=torch.bool, device=device)
        self._read: tuple[int, tuple[np.ndarray, ...]] = (-1, ())

    def add(self, reading: NeuronBatch) -> None:
        """Adds a batch."""
        if not self.layers:
            self.layers, self.layer_sizes = (
                tuple(reading.layers),
                np.array(reading.sizes, dtype=np.int64),
            )
            self.counts = torch.zeros(
                (len(self._thresholds), self._m, int(self.layer_sizes.sum())), device=self._device
            )
            self._make_groups()
        # Checked on the device and read with the next numbers: asking now
        # would wait for it in each batch.
        self._finite &= torch.isfinite(reading.scores).all()
        scaled = reading.scaled()
        top = reading.scores.argmax(1)
        if self._multi_label:
            member = members(reading.scores, self._multi_label)
        else:
            member = None
        for counts, active, threshold in zip(
            self.counts, self.active, self._thresholds, strict=True
        ):
            # Strictly above, as in Section 3.1; a constant layer scales to 0 and never counts.
            act = (scaled > threshold).float()
            active += act.sum()
            if member is not None:
                counts.addmm_(member.T.float(), act)
            else:
                counts.index_add_(0, top, act)  # The same sum, without the zeros of member.
        if self.grouped is not None:
            if member is None:
                own = members(reading.scores, False)
            else:
                own = member
            act = (scaled > self._thresholds[0]).float()
            self.grouped.add(reading.places + self._first, own, act)
        if member is None:  # bincount would ask for the largest class first.
            # Members are those that the model predicts: the prediction side never sees a label.
            self._members.index_add_(0, top, torch.ones_like(top, dtype=self._members.dtype))
        else:
            self._members += member.sum(0)
        places = torch.from_numpy(reading.places).to(self._device)
        self._predicted[places] = top.to(torch.int32)
        if member is not None:
            self._bits[reading.places] = np.packbits(member.cpu().numpy(), axis=1)
            if self.true_matrix is not None:
                self._type2.add(
                    torch.from_numpy(self.true_matrix[reading.places]).to(self._device), member
                )
        self.seen += len(reading.places)
        self.upto = int(reading.places[-1]) + 1

    def _make_groups(self) -> None:
        if self._intervals and fits(self._m, self.neurons):
            self.grouped = Grouped(self._m, self.neurons, self._device)

    def part(self) -> TallyPart:
        """Everything it has counted, on the host, for ``absorb``."""
        self._refuse(bool(self._finite))
        nothing = torch.zeros((0, 0), device=self._device)
        if self.grouped is None:
            counts = nothing
            group_members = nothing
        else:
            counts = self.grouped.counts
            group_members = self.grouped.members
        return TallyPart(
            counts=self.counts.cpu().numpy(),
            active=self.active.cpu().numpy(),
            seen=self.seen,
            layers=self.layers,
            layer_sizes=self.layer_sizes,
            members=self._members.cpu().numpy(),
            predicted=self.predicted(),
            bits=self.bits(),
            type2=self._type2.counts(),
            group_counts=counts.cpu().numpy(),
            group_members=group_members.cpu().numpy(),
        )

    def kept(self) -> TallyPart:
        """What it has counted up to here, as a copy: the tally keeps counting."""
        whole = self.part()
        return replace(
            whole,
            # On the host ``cpu().numpy()`` shares memory with the counts.
            counts=whole.counts.copy(),
            active=whole.active.copy(),
            members=whole.members.copy(),
            predicted=whole.predicted[: self.upto].copy(),
            bits=whole.bits[: self.upto].copy(),
            group_counts=whole.group_counts.copy(),
            group_members=whole.group_members.copy(),
        )

    @property
    def size(self) -> int:
        """Bytes of the counts."""
        if self.grouped is None:
            groups = 0
        else:
            groups = self.grouped.counts.nbytes
        return int(self.counts.nbytes + groups + self._predicted.nbytes + self._bits.nbytes)

    def takes(self, part: TallyPart) -> bool:
        """Whether the counts fit this network and the first inputs of these data."""
        m, neurons = self._m, int(part.layer_sizes.sum())
        grouped = (GROUPS, m, neurons) if self._intervals and fits(m, neurons) else (0, 0)
        rows = len(part.predicted)
        return (
            part.counts.shape == (len(self._thresholds), m, neurons)
            and part.active.shape == (len(self._thresholds),)
            and part.members.shape == (m,)
            and part.group_counts.shape == grouped
            and part.group_members.shape == grouped[:2]
            and part.type2.shape == (2, m, m)
            and part.bits.shape == (min(rows, len(self._bits)), self._bits.shape[1])
            # More rows than inputs: the dataset has shrunk since.
            and 0 < part.seen <= rows <= len(self._predicted)
            # A file may have been damaged or made by another network; a
            # wrong class would index outside.
            and bool(((part.predicted >= -1) & (part.predicted < m)).all())
        )

    def absorb(self, part: TallyPart, start: int) -> None:
        """Adds what was counted over the inputs from place ``start`` on."""
        if not self.layers:
            self.layers, self.layer_sizes = part.layers, part.layer_sizes
            self.counts = torch.zeros(part.counts.shape, device=self._device)
            self._make_groups()
        self.counts += torch.from_numpy(part.counts).to(self._device)
        self.active += torch.from_numpy(part.active).to(self._device)
        self._members += torch.from_numpy(part.members).to(self._device)
        self._predicted[start : start + len(part.predicted)] = torch.from_numpy(part.predicted).to(
            self._device
        )
        if self._multi_label:
            self._bits[start : start + len(part.bits)] = part.bits
        if self.grouped is not None and part.group_counts.size:
            self.grouped.absorb(part.group_counts, part.group_members)
        self._type2.absorb(part.type2)
        self.seen += part.seen
        self.upto = start + len(part.predicted)

    @property
    def neurons(self) -> int:
        """How many there are."""
        return self.counts.shape[2]

    @property
    def labelled(self) -> bool:
        """Whether there is a truth to compare with."""
        if self._multi_label:
            return self.true_matrix is not None
        return self.true is not None

    def members(self) -> np.ndarray:
        """Predicted members ``(m,)`` of each class."""
        finite, counted, _, _ = self._numbers()
        self._refuse(bool(finite))
        return counted.astype(np.int64)

    def predicted(self) -> np.ndarray:
        """Predicted class ``(n,)`` of each input, the likeliest one.

        -1 where it has not been read.
        """
        return self._numbers()[2]

    def activity(self) -> np.ndarray:
        """Activations in all ``(T,)``, for each threshold."""
        return self._numbers()[3]

    def _numbers(self) -> tuple[np.ndarray, ...]:
        """Whether scores are finite, members, predicted classes and activations.

        Read together, and again only after something is added.
        """
        if self._read[0] != self.seen:
            there = self._finite, self._members, self._predicted, self.active
            self._read = self.seen, to_host(*there)
        return self._read[1]

    def bits(self) -> np.ndarray:
        """All predicted classes of a multi-label model, packed; ``(0, 0)`` otherwise."""
        return self._bits.copy()

    def true_bits(self) -> np.ndarray:
        """All true classes for a multi-label model, packed; ``(0, 0)`` otherwise."""
        if self.true_matrix is None:
            return np.zeros((0, 0), np.uint8)
        return np.packbits(self.true_matrix, axis=1)

    def accuracy(self) -> float:
        """Share of inputs whose likeliest class is true, of those seen and labelled.

        Nan without labels.
        """
        predicted = self.predicted()
        if self._multi_label and self.true_matrix is not None:
            seen = np.flatnonzero(predicted >= 0)
            if len(seen):
                return float(self.true_matrix[seen, predicted[seen]].mean())
            return math.nan
        if self._multi_label or self.true is None:
            return math.nan
        known = (predicted >= 0) & (self.true >= 0)
        if known.any():
            return float((predicted[known] == self.true[known]).mean())
        return math.nan

    def without(self) -> int:
        """Inputs for which a multi-label model predicts no class."""
        if self._multi_label:
            return int((~self._bits.any(1) & (self.predicted() >= 0)).sum())
        return 0

    def conf(self) -> np.ndarray:
        """True confusion ``(m, m)`` so far, ``(0, 0)`` without labels."""
        if not self.labelled:
            return np.zeros((0, 0))
        if self._multi_label:
            return self._type2.conf()
        assert self.true is not None
        return type1conf(self.true, self.predicted(), self._m)

    def rho(self, dtype: type[np.floating], place: int = 0) -> np.ndarray:
        """Activation probabilities ``(N, m)`` of a threshold, nan for a class without members."""
        shares = (
            self.counts[place] / torch.where(self._members > 0, self._members, math.nan)[:, None]
        )
        return shares.cpu().numpy().T.astype(dtype)

    def napvd_rounds(
        self, params: InspectParams, place: int = 0
    ) -> Generator[None, None, np.ndarray]:
        """The distances ``(m, m)`` of a threshold, in portions."""
        here = self.members() > 0
        distance = yield from napvd_rounds(self.counts[place].T, params.norm, self._members, here)
        return distance.cpu().numpy()

    def _refuse(self, finite: bool) -> None:
        if not finite:
            raise ModelError(
                f"{self._name} returns scores that are not finite numbers; check its weights, mean"
                " and std."
            )


def _truth(
    dataset: Dataset, m: int, multi_label: bool
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """True classes: ``(n,)`` if single-label, 0/1 ``(n, m)`` if multi-label, None if unknown."""
    labels = dataset.labels
    known = labels is not None and bool(((labels >= 0) & (labels < m)).any())
    if not multi_label:
        if labels is not None and known:
            return (np.where(labels < m, labels, -1).astype(np.int32), None)
        return (None, None)
    if dataset.label_matrix is not None:
        return None, dataset.label_matrix.astype(bool)
    # A single label says which class is there, not that the others are absent, unless all have one.
    if labels is None or not known or (labels < 0).any():
        return None, None
    return None, labels[:, None] == np.arange(m)
