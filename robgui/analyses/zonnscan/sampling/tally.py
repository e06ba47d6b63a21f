"""Counts samples as they pass.

The index of a zone is E[H_C(M(U))] (Definition 1 of the paper): the mean entropy of the outputs,
with the logarithm to base C. Entropies come from log-softmax, so a confidence of 1 - 1e-12 still
counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

import numpy as np
import torch
from scipy import special
from torch import Tensor

from robgui.core.devices import to_host

#: Samples whose classes are kept, so a panel can show them with their pictures.
SHOWN = 8
#: exp(-200) is 0 in float32: below it a term p·log p is 0, and the bound keeps 0·inf out.
_LOWEST_LOG = -200.0


@dataclass(frozen=True, slots=True)
class Reading:
    """Outputs of a batch: ``confidence (n, C)``, ``entropy (n,)`` in [0, 1], ``top (n, 1)``.

    A multi-label model votes for every label above one half, any other for its top class alone.
    """

    confidence: Tensor
    entropy: Tensor
    top: Tensor
    multi_label: bool

    @property
    def votes(self) -> Tensor:
        """``(n, C)`` of 0 and 1."""
        if self.multi_label:
            return (self.confidence > 0.5).to(self.confidence.dtype)
        return torch.zeros_like(self.confidence).scatter_(1, self.top, 1.0)


def read_scores(scores: Tensor, multi_label: bool) -> Reading:
    """Confidences, entropies and classes of scores ``(n, C)``.

    With several labels the entropy is the mean of theirs.
    """
    top = scores.argmax(1, keepdim=True)
    if multi_label:
        # Each label is a choice between two, so base 2; the mean over labels lies in [0, 1], too.
        log_p, log_q = (
            torch.nn.functional.logsigmoid(scores),
            torch.nn.functional.logsigmoid(-scores),
        )
        terms = log_p.exp() * log_p.clamp_min(_LOWEST_LOG) + log_q.exp() * log_q.clamp_min(
            _LOWEST_LOG
        )
        return Reading(log_p.exp(), terms.mean(1) / -math.log(2), top, multi_label)
    # H_C, the entropy with the logarithm to base C (Section II): Definition 1 is its mean over the
    # zone.
    # Class by class: over the few numbers of a row torch computes one at a time, nine times slower.
    log_p = scores.t().contiguous().log_softmax(0)
    confidence = log_p.exp()
    entropy = log_p.clamp_min_(_LOWEST_LOG).mul_(confidence).sum(0).div_(-math.log(len(log_p)))
    return Reading(confidence.t(), entropy, top, multi_label)


def entropy_of(confidence: np.ndarray, multi_label: bool) -> np.ndarray:
    """Entropy in [0, 1] of mean outputs ``(…, C)``: H(E[p])."""
    # Less the index this is the mutual information: how much the samples disagree, rather than
    # doubt. A zone cut by a sharp boundary has much of it and an index near 0.
    p = np.clip(confidence, 0, 1)
    if multi_label:
        return np.asarray((special.entr(p) + special.entr(1 - p)).mean(-1) / math.log(2))
    return np.asarray(special.entr(p).sum(-1) / math.log(p.shape[-1]))


@dataclass(frozen=True, slots=True)
class Counts:
    """A Tally on the host: one row per zone."""

    samples: np.ndarray
    lane_sums: np.ndarray
    squares: np.ndarray
    cubes: np.ndarray
    confidence: np.ndarray
    votes: np.ndarray
    crossed: np.ndarray
    shown: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))

    def of(self, zones: np.ndarray) -> Counts:
        """The rows of these zones, in order."""
        rows = (getattr(self, one.name)[zones] for one in fields(self))
        return Counts(*rows)

    @property
    def index(self) -> np.ndarray:
        """Mean entropy ``(Z,)``; nan where nothing was sampled yet."""
        return ratio(self.lane_sums.sum(1), self.samples)

    @property
    def replicates(self) -> np.ndarray:
        """Mean entropy in each lane ``(Z, lanes)``."""
        return ratio(self.lane_sums, self.samples[:, None] // self.lane_sums.shape[1])

    @property
    def crossing(self) -> np.ndarray:
        """Share of samples of another class ``(Z,)``."""
        return ratio(self.crossed, self.samples)


class Tally:
    """Sums over the samples of Z zones, kept on the device until a Step asks for them.

    Args:
        zones: Z.
        classes: C.
        lanes: How many samples belong together, as in ``points``.
        cap: Most samples per zone.
        home: ``(Z or 1, C)`` votes of the inputs themselves; another vote is a crossing.
        multi_label: As in ModelSettings.
    """

    def __init__(
        self, zones: int, classes: int, lanes: int, cap: int, home: Tensor, multi_label: bool
    ) -> None:
        self.samples = np.zeros(zones, dtype=np.int64)
        # One bit per sample is kept, the samples are not: those that
        # crossed are drawn again by number.
        self.crossed = torch.zeros((zones, cap), dtype=torch.bool, device=home.device)
        self.shown = torch.full((zones, min(SHOWN, cap)), -1, device=home.device)
        self._lanes = lanes
        self._classes = classes
        self._home = (home if multi_label else home.argmax(1, keepdim=True)).expand(zones, -1)
        self._multi_label = multi_label
        # One tensor for all sums: a Step reads it with one transfer.
        # Double precision, since a million entropies near 0 are summed.
        self._sums = torch.zeros(
            (zones, lanes + 3 + 2 * classes), dtype=torch.float64, device=home.device
        )
        self._read: Counts | None = None

    def add(self, numbers: list[int], zones: Tensor, start: int, scores: Tensor) -> None:
        """Counts scores ``(len(zones) · n, C)`` of samples ``start …`` in these zones.

        ``numbers`` names the zones on the host.
        """
        self._read = None
        reading = read_scores(scores, self._multi_label)
        rows = entropies = reading.entropy.double().view(len(numbers), -1, self._lanes)
        top = reading.top.view(len(numbers), -1)
        votes, crossed = self._votes(zones, reading, top)
        if self._lanes > 1:
            # Samples of a row depend on each other; the spread is taken over rows, which do not.
            rows = entropies.mean(2, keepdim=True)
        parts = [
            entropies.sum(1),
            rows.square().sum(1),
            rows.pow(3).sum(1),
            reading.confidence.view(len(numbers), -1, self._classes).sum(1, dtype=torch.float64),
            votes,
            crossed.sum(1, keepdim=True),
        ]
        self._sums[zones] += torch.cat(parts, 1)  # No zone occurs twice.
        self.crossed[:, start : start + crossed.shape[1]].index_copy_(0, zones, crossed)
        self.samples[numbers] += crossed.shape[1]
        if start < self.shown.shape[1]:
            end = min(self.shown.shape[1], start + top.shape[1])
            self.shown[:, start:end].index_copy_(0, zones, top[:, : end - start])

    def _votes(self, zones: Tensor, reading: Reading, top: Tensor) -> tuple[Tensor, Tensor]:
        """Votes ``(len(zones), C)`` and which samples ``(len(zones), n)`` cross.

        ``top`` has the shape of the latter.
        """
        home = self._home[zones]
        if self._multi_label:
            votes = reading.votes.view(*top.shape, self._classes)
            return votes.sum(1, dtype=torch.float64), (votes != home[:, None]).any(2)
        votes = torch.zeros((len(top), self._classes), dtype=torch.float64, device=top.device)
        return (
            votes.scatter_add_(1, top, torch.ones_like(votes[:, :1]).expand(top.shape)),
            top != home,
        )

    def counts(self) -> Counts:
        """Everything so far, in one transfer; no transfer if nothing was added since."""
        if self._read is None:
            self._read = self._counts()
        return self._read

    def _counts(self) -> Counts:
        sums, shown = to_host(self._sums, self.shown)
        lanes, classes = self._lanes, self._classes
        return Counts(
            samples=self.samples.copy(),
            lane_sums=sums[:, :lanes].copy(),
            squares=sums[:, lanes],
            cubes=sums[:, lanes + 1],
            confidence=ratio(sums[:, lanes + 2 : lanes + 2 + classes], self.samples[:, None]),
            votes=ratio(sums[:, lanes + 2 + classes : -1], self.samples[:, None]),
            crossed=sums[:, -1].copy(),
            shown=shown,
        )


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Division that gives nan, without a warning, if ``below`` is not positive."""
    quotient: np.ndarray = np.divide(
        above,
        below,
        out=np.full(np.broadcast_shapes(above.shape, below.shape), np.nan),
        where=below > 0,
    )
    return quotient
