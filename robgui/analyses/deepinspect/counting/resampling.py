"""How sure the distances are: a bootstrap over groups of inputs.

Activations are never stored, so inputs cannot be redrawn one by one. Instead every input belongs to
one of a few groups, chosen by its number; the counts of the groups are kept, and groups are drawn
with replacement. The ends of an interval are mirrored at the distance itself (the basic bootstrap):
few inputs make every distance too large, and redrawing adds the same excess once more, which
mirroring removes again.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.deepinspect.counting.kernels import napvd_rounds
from robgui.analyses.deepinspect.params import Norm
from robgui.core.devices import to_device, to_host

#: Groups of inputs.
GROUPS = 32
#: Most counts kept over all groups; larger networks get no intervals.
#: 64 MB in single precision.
MOST = 16_000_000
#: Draws, the fewest that still give an interval, and the work of all of them together.
#: 4e10 multiplications take about three seconds on two cores.
DRAWS, FEWEST_DRAWS, WORK = 200, 60, 4e10
#: Share of the draws inside an interval.
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Intervals:
    """Ends ``(m, m)`` of the 95 % interval of every distance; ``(0, 0)`` if there are none."""

    low: np.ndarray
    high: np.ndarray


#: For networks whose grouped counts would not fit.
NO_INTERVALS = Intervals(np.zeros((0, 0)), np.zeros((0, 0)))


class Grouped:
    """Counts of every group of inputs, on the model's device.

    Attributes:
        counts: ``(GROUPS, m, N)`` members of a class that activate a neuron.
        members: ``(GROUPS, m)`` members of a class.
    """

    def __init__(self, classes: int, neurons: int, device: torch.device) -> None:
        # At most MOST numbers, 64 MB in single precision.
        self.counts = torch.zeros((GROUPS, classes, neurons), device=device)
        self.members = torch.zeros((GROUPS, classes), device=device)

    def add(self, places: np.ndarray, member: Tensor, act: Tensor) -> None:
        """Adds a batch: numbers of the inputs, their classes ``(n, m)``, their active neurons."""
        group = group_of(places)
        weight = member.float()
        # Group by group: one product with a membership (GROUPS, n, m) would do 32 times the work.
        for one in np.unique(group).tolist():
            chosen = to_device(torch.from_numpy(np.flatnonzero(group == one)), act.device)
            self.counts[one].addmm_(weight[chosen].T, act[chosen])
            self.members[one] += weight[chosen].sum(0)

    def absorb(self, counts: np.ndarray, members: np.ndarray) -> None:
        """Adds counts made elsewhere."""
        self.counts += torch.from_numpy(counts).to(self.counts.device)
        self.members += torch.from_numpy(members).to(self.members.device)


def group_of(places: np.ndarray) -> np.ndarray:
    """The group of each input by its number.

    Neighbours are separated, whatever the order of the data.
    """
    # Multiplication by 2^64 over the golden ratio (Knuth's hash); the upper bits are well mixed.
    mixed = (np.asarray(places, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    # Consecutive numbers often belong together (frames of a film, one folder per class), and a
    # block in one group would make the draws depend on the order of the files.
    return np.asarray((mixed >> np.uint64(40)) % np.uint64(GROUPS), dtype=np.int64)


def fits(classes: int, neurons: int) -> bool:
    """Whether counts of this size can be kept for every group and drawn often enough."""
    return GROUPS * classes * neurons <= MOST and _draws(classes, neurons) >= FEWEST_DRAWS


def interval_rounds(
    grouped: Grouped, distance: np.ndarray, norm: Norm
) -> Generator[None, None, Intervals]:
    """The intervals of all distances, in portions."""
    # A fixed seed: the interval of a finished run is the same when it is computed again.
    rng = np.random.default_rng(0)
    (members,) = to_host(grouped.members)
    drawn = []
    for _ in range(_draws(*grouped.counts.shape[1:])):
        # Drawing 32 groups with replacement is a multinomial count of each.
        often = rng.multinomial(GROUPS, np.full(GROUPS, 1 / GROUPS))
        weights = torch.from_numpy(often).to(grouped.counts)
        counts = torch.tensordot(weights, grouped.counts, dims=1)
        # On the host, from numbers read once: asking the device would wait in every draw.
        here = often @ members > 0
        again = yield from napvd_rounds(counts.T, norm, weights @ grouped.members, here)
        drawn.append(again)
    # Quantiles by rank: two ends of 60 draws are the second lowest and the second highest.
    ends = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    with np.errstate(all="ignore"):
        below, above = _quantiles(torch.stack(drawn).cpu().numpy(), ends)
    known = np.isfinite(distance)
    # The basic bootstrap: quantiles of the draws mirrored at the distance itself.
    low = np.where(known, np.maximum(0.0, 2 * distance - above), np.nan)
    high = np.where(known, np.maximum(0.0, 2 * distance - below), np.nan)
    return Intervals(low, high)


def _quantiles(drawn: np.ndarray, ends: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles over the draws; a draw without members of a class says nothing about it."""
    known = np.isfinite(drawn)
    # Unknown draws sort behind all others, so ranks below ``count`` see known ones only.
    ordered = np.sort(np.where(known, drawn, np.inf), axis=0)
    count = known.sum(0)
    # By rank among the draws that know this pair, which may be fewer than all.
    places = [np.clip(np.round(end * (count - 1)), 0, None).astype(np.int64) for end in ends]
    below, above = (np.take_along_axis(ordered, place[None], 0)[0] for place in places)
    return np.where(count > 0, below, np.nan), np.where(count > 0, above, np.nan)


def _draws(classes: int, neurons: int) -> int:
    # A draw costs a Gram product of all classes.
    return int(min(DRAWS, WORK / max(1, neurons * classes * classes)))
