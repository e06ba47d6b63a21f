"""The random numbers of particles: each lane's own, whoever draws them and wherever they lie."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from robgui.analyses.last_particle.particles.kernel import heights_after
from robgui.analyses.last_particle.particles.streams import Rounds, Streams

CPU = torch.device("cpu")
#: Dimensions for which a round of ten moves takes stretches of three, and one for all moves.
LARGE, SMALL = 2700, 5
SIZES = np.array([0.5, 2.0, 1.0])


class Watched(Streams):
    """Tells when it has drawn."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, CPU, 1.0)
        self.drawn = threading.Semaphore(0)

    def fill(self, lanes: Sequence[int], out: Tensor, sizes: Sequence[float]) -> None:
        super().fill(lanes, out, sizes)
        self.drawn.release()


def opened(lanes: Sequence[int], seed: int = 4) -> Watched:
    streams = Watched(seed)
    for lane in lanes:
        streams.open(lane)
    return streams


@torch.inference_mode()
def used(lanes: Sequence[int], dim: int, kill: int, rounds: int) -> list[Tensor]:
    """The noise of all moves ``(lanes * K, dim)``, read once the next stretch has been drawn."""
    streams = opened(lanes)
    made = Rounds(streams, dim, 10, kill)
    noise = made.first(lanes).noise
    streams.drawn.acquire()
    stretch = noise.shape[1]
    seen: list[Tensor] = []
    for _ in range(rounds):
        for move, each in enumerate(made.noise(lanes, SIZES[: len(lanes)], noise)):
            if move % stretch == 0:
                streams.drawn.acquire()
            seen.append(each.clone())
        noise = made.coming.noise
    made.close()
    return seen


@pytest.mark.parametrize(("dim", "kill"), [(LARGE, 1), (LARGE // 2, 2), (SMALL, 1), (SMALL, 3)])
def test_a_stretch_in_use_is_not_written_over_by_the_next(dim: int, kill: int) -> None:
    lanes, streams = [0, 3, 7], opened([0, 3, 7])
    stretch = min(10, 8192 // (kill * dim))
    expected: list[Tensor] = []
    for _ in range(3):
        for first in range(0, 10, stretch):
            count = min(stretch, 10 - first)
            drawn = streams.normal(lanes, count, kill, dim).double()
            factors = torch.from_numpy(SIZES / np.sqrt(1 + SIZES**2)).reshape(-1, 1, 1, 1)
            moves = (drawn * factors).transpose(0, 1).flatten(1, 2)
            expected.extend(moves.unbind())
    ours = used(lanes, dim, kill, 3)
    assert len(ours) == len(expected) == 30
    for ours_now, theirs in zip(ours, expected, strict=True):
        torch.testing.assert_close(ours_now.double(), theirs, rtol=1e-6, atol=1e-6)


def test_a_lane_draws_the_same_beside_others() -> None:
    alone, beside = used([3], LARGE, 1, 2), used([3, 8], LARGE, 1, 2)
    for one, two in zip(alone, beside, strict=True):
        assert torch.equal(one, two[:1])


def test_heights_are_those_of_the_last_accepted_proposal() -> None:
    start = np.array([-1.0, -2.0, -3.0, -4.0], dtype=np.float32)
    scores = np.arange(12, dtype=np.float32).reshape(3, 4)
    accepted = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=bool)
    after = heights_after(start, scores, accepted)
    assert after.tolist() == [-1, 1, 6, 11]
    assert after.dtype == np.float32
