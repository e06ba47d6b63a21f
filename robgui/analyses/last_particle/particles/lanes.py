"""What the host knows about every lane: counts, verdicts, and the history of its levels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True)
class Lane:
    """The current state of one lane.

    Attributes:
        killed: Particles killed at or below 0.
        failing: All its particles fail.
        coarse: The plateau guard stopped it.
        moved: Particles replaced.
        stuck: Those of them that never moved.
        ancestors: Distinct first particles that the present ones descend from.
        rounds: Rounds so far.
        repeated: Those of them whose level was that of the round before.
        levels: One for each round that replaced particles; empty unless traced.
        acceptance: The same.
        counts: The same, killed so far.
        heights: ``(N,)`` scores of the present particles, once ended or looked at.
    """

    killed: int = 0
    failing: bool = False
    coarse: bool = False
    moved: int = 0
    stuck: int = 0
    ancestors: int = 0
    rounds: int = 0
    repeated: int = 0
    levels: tuple[float, ...] = ()
    acceptance: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    heights: np.ndarray = field(default_factory=lambda: np.zeros(0))


class Lanes:
    """All lanes, those of a test next to each other; a slice gives ``Lane``s.

    Attributes:
        killed: ``(lanes,)``; this and the following as in ``Lane``.
        failing: ``(lanes,)``.
        coarse: ``(lanes,)``.
        moved: ``(lanes,)``.
        stuck: ``(lanes,)``.
        ancestors: ``(lanes,)``.
        rounds: ``(lanes,)``.
        repeated: ``(lanes,)``.
        still: ``(lanes,)`` whether a particle of the last round never moved.
        heights: Lane -> ``(N,)``.

    Args:
        count: How many.
        trace: Keep the levels of every round.
    """

    def __init__(self, count: int, *, trace: bool) -> None:
        self.killed, self.moved, self.stuck, self.ancestors, self.rounds, self.repeated = (
            np.zeros(count, dtype=np.int64) for _ in range(6)
        )
        self.failing, self.coarse, self.still = (np.zeros(count, dtype=bool) for _ in range(3))
        self.heights: dict[int, np.ndarray] = {}
        if trace:
            self._rounds: list[list[tuple[float, float, int]]] | None = [[] for _ in range(count)]
        else:
            self._rounds = None

    def add_round(self, lanes: np.ndarray, levels: np.ndarray, acceptance: np.ndarray) -> None:
        """Records a round that replaced particles of ``lanes``."""
        # A table has thousands of lanes, and shows none of their levels.
        if self._rounds is None:
            return
        for lane, level, accepted in zip(
            lanes.tolist(), levels.tolist(), acceptance.tolist(), strict=True
        ):
            self._rounds[lane].append((level, accepted, int(self.killed[lane])))

    def __getitem__(self, chosen: slice) -> list[Lane]:
        return [self._lane(lane) for lane in range(*chosen.indices(len(self.killed)))]

    def _lane(self, lane: int) -> Lane:
        if self._rounds:
            rounds = self._rounds[lane]
        else:
            rounds = []
        if rounds:
            levels, acceptance, counts = zip(*rounds, strict=True)
        else:
            levels, acceptance, counts = ((), (), ())
        return Lane(
            killed=int(self.killed[lane]),
            failing=bool(self.failing[lane]),
            coarse=bool(self.coarse[lane]),
            moved=int(self.moved[lane]),
            stuck=int(self.stuck[lane]),
            ancestors=int(self.ancestors[lane]),
            rounds=int(self.rounds[lane]),
            repeated=int(self.repeated[lane]),
            levels=levels,
            acceptance=acceptance,
            counts=counts,
            heights=self.heights.get(lane, np.zeros(0)),
        )
