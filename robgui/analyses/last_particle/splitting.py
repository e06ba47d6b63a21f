"""Many last-particle tests at once: every model call is a full batch of moves, finished lanes leave, waiting ones enter.

A *test* asks whether one failure probability is below the critical one. It consists of R *lanes*, independent
populations of N particles whose counts are added. All lanes at work advance in step: kill the lowest K of each
lane, replace them by copies of survivors moved t times above the level.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.kernel import Bound, Moves, Streams, moved, resized
from robgui.core.errors import ModelError

#: The plateau guard: so many killings at an unchanged level, with so few moves expected among what is left of it, and not
#: one particle above it. Without the last condition one run in ten is given up on a score in steps of a tenth of a
#: standard deviation, and nearly all in steps of one; with it .1 % and 45 %, and false passes stay below the risk.
_PLATEAU_KILLED, _PLATEAU_MOVES = 3, 3.0


class Score(Protocol):
    """The margin of failure of a latent point; fails where it is above 0."""

    def bind(self, tests: Tensor) -> Bound:
        """The score of latent points whose i-th row belongs to test ``tests[i]``; used for many calls."""
        ...


@dataclass(frozen=True)
class Setup:
    """The numbers of a run.

    Attributes:
        dim: Latent dimensions.
        tests: How many tests.
        particles: N.
        kill: K.
        steps: t.
        replicas: R.
        m: Killings that validate.
        seed: Start of the random numbers.
        rows: Particles per model call at most.
        trace: Keep the levels of every round.
        chosen: The tests to be run; None for all. What a test does depends on its number, not on which others are run.
    """

    dim: int
    tests: int
    particles: int
    kill: int
    steps: int
    replicas: int
    m: int
    seed: int
    rows: int
    trace: bool = True
    chosen: tuple[int, ...] | None = None


@dataclass
class Lane:
    """What is known of one lane on the host.

    Attributes:
        killed: Particles killed at or below 0.
        failing: All its particles fail.
        coarse: The plateau guard stopped it.
        moved: Particles replaced.
        stuck: Those of them that did not move at all.
        ancestors: Distinct first particles that the present ones descend from.
        levels: One for each round that replaced particles.
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
    levels: list[float] = field(default_factory=list)
    acceptance: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    heights: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass
class _State:
    """The lanes at work, row by row: latent ``(a, N, dim)``, the rest ``(a, N)`` or ``(a,)``."""

    lanes: np.ndarray
    latent: Tensor
    heights: Tensor
    rests: Tensor
    ancestor: Tensor
    log_size: Tensor
    level: Tensor
    plateau: Tensor

    def pick(self, kept: Tensor) -> _State:
        tensors = (self.latent, self.heights, self.rests, self.ancestor, self.log_size, self.level, self.plateau)
        return _State(self.lanes[kept.cpu().numpy()], *(tensor[kept] for tensor in tensors))

    @classmethod
    def join(cls, parts: Sequence[_State]) -> _State:
        names = ("latent", "heights", "rests", "ancestor", "log_size", "level", "plateau")
        return cls(np.concatenate([part.lanes for part in parts]), *(torch.cat([getattr(part, name) for part in parts]) for name in names))


class Splitting:
    """Runs all tests; iterate ``rounds`` and look at ``lanes`` at any time.

    Attributes:
        lanes: ``tests * replicas`` lanes, those of a test next to each other.
        failures: Test -> latent ``(dim,)`` of a failing particle, the likeliest of its lane.
        calls: ``(tests,)`` model calls of each test.
        ended: ``(tests,)`` which tests are decided.
    """

    def __init__(self, score: Score, setup: Setup, device: torch.device) -> None:
        self._score, self._setup, self._device = score, setup, device
        self._streams = Streams(setup.seed, device)
        self._waiting = deque(range(setup.tests) if setup.chosen is None else setup.chosen)
        self._ready: deque[_State] = deque()
        none = np.zeros(0, dtype=np.int64)
        shape = (0, setup.particles)
        nothing, rows = torch.zeros(shape, dtype=torch.float64, device=device), torch.zeros(0, dtype=torch.float64, device=device)
        self._state = _State(none, torch.zeros((*shape, setup.dim), device=device), nothing, nothing, nothing.long(), rows, rows, rows)
        self.lanes = [Lane() for _ in range(setup.tests * setup.replicas)]
        self.failures: dict[int, Tensor] = {}
        self.calls = np.zeros(setup.tests, dtype=np.int64)
        self.ended = np.zeros(setup.tests, dtype=bool)

    @property
    def progress(self) -> tuple[int, int]:
        """Killings made, those of decided tests counted in full, and the most there can be."""
        s = self._setup
        killed = self.killed.sum(1)
        return int(np.where(self.ended, s.m, np.minimum(killed, s.m)).sum()), s.tests * s.m

    @property
    def killed(self) -> np.ndarray:
        """``(tests, replicas)`` killed so far."""
        return np.array([lane.killed for lane in self.lanes], dtype=np.int64).reshape(-1, self._setup.replicas)

    def rounds(self) -> Iterator[None]:
        """Works until every test is decided; yields after every model call."""
        while True:
            self._retire()
            while (yield from self._admit()):
                self._retire()
            if not len(self._state.lanes):
                return
            killed, survivors, level = self._select()
            if len(self._state.lanes):
                yield from self._replace(killed, survivors, level)

    def _retire(self) -> None:
        """Lets lanes go whose test has reached m, and lanes that fail: fewer than K of their particles are at or below 0."""
        state, s = self._state, self._setup
        below = (state.heights <= 0).sum(1).cpu().numpy()
        for place in np.flatnonzero(below < s.kill):
            lane = self.lanes[state.lanes[place]]
            lane.failing = True
            lane.killed += int(below[place])
        leaving = (below < s.kill) | (self.killed.sum(1) >= s.m)[state.lanes // s.replicas]
        if leaving.any():
            self._leave(leaving)

    def _leave(self, leaving: np.ndarray) -> None:
        """Takes lanes out of the batch, and with the last lane of a test the test itself."""
        state = self._state
        for place in np.flatnonzero(leaving):
            self._write_down(int(place))
            self._keep_failure(int(place))
            self._streams.close(int(state.lanes[place]))
        kept = torch.from_numpy(~leaving).to(self._device)
        tests = np.unique(state.lanes[leaving] // self._setup.replicas)
        self._state = state.pick(kept)
        still = self._state.lanes // self._setup.replicas
        self.ended[[test for test in tests if test not in still]] = True

    def look(self, test: int) -> None:
        """Brings ``heights`` and ``ancestors`` of the lanes of a test up to date; those of ended lanes are."""
        for place in np.flatnonzero(self._state.lanes // self._setup.replicas == test):
            self._write_down(int(place))

    def _write_down(self, place: int) -> None:
        lane = self.lanes[self._state.lanes[place]]
        lane.heights = self._state.heights[place].cpu().numpy()
        lane.ancestors = len(np.unique(self._state.ancestor[place].cpu().numpy()))

    def _keep_failure(self, place: int) -> None:
        """Keeps the failing particle nearest to no noise, which is the likeliest."""
        test = int(self._state.lanes[place]) // self._setup.replicas
        fails = self._state.heights[place] > 0
        if test in self.failures or not bool(fails.any()):
            return
        size = torch.where(fails, self._state.latent[place].square().sum(1), float("inf"))
        self.failures[test] = self._state.latent[place, int(size.argmin())].clone()

    def _admit(self) -> Generator[None, None, bool]:
        """Fills the batch up with waiting tests, first scores being made for many lanes at once; says whether any came."""
        s = self._setup
        room = max(s.replicas, s.rows // s.kill)
        came = False
        while True:
            working = len(self._state.lanes)
            if working + s.replicas > room or not (self._waiting or self._ready):
                return came
            came = True
            if not self._ready:
                yield from self._start(max(1, min(len(self._waiting), s.rows // (s.particles * s.replicas))))
            entering = [self._ready.popleft() for _ in range(min(len(self._ready), (room - working) // s.replicas))]
            self._state = _State.join([self._state, *entering])

    def _start(self, count: int) -> Iterator[None]:
        """Draws and scores the first particles of ``count`` tests."""
        s = self._setup
        tests = np.array([self._waiting.popleft() for _ in range(count)])
        lanes = (tests[:, None] * s.replicas + np.arange(s.replicas)).ravel()
        for lane in lanes:
            self._streams.open(int(lane))
        latent = self._streams.normal(lanes.tolist(), torch.empty((len(lanes), s.particles, s.dim), device=self._device))
        rests = self._streams.uniform(lanes.tolist(), s.particles)
        flat, owner = latent.flatten(0, 1), torch.from_numpy(np.repeat(lanes // s.replicas, s.particles)).to(self._device)
        parts: list[Tensor] = []
        for first in range(0, len(flat), s.rows):
            parts.append(self._scored(flat[first : first + s.rows], owner[first : first + s.rows]))
            yield
        self.calls[tests] += s.particles * s.replicas
        self._ready.extend(self._fresh(lanes, latent, torch.cat(parts).reshape(len(lanes), -1), rests))

    @torch.inference_mode()
    def _scored(self, latent: Tensor, owner: Tensor) -> Tensor:
        heights = self._score.bind(owner)(latent).double()
        check(heights)
        return heights

    def _fresh(self, lanes: np.ndarray, latent: Tensor, heights: Tensor, rests: Tensor) -> Iterator[_State]:
        """One state for every test, so that a test enters with all its lanes."""
        R = self._setup.replicas
        for first in range(0, len(lanes), R):
            part = slice(first, first + R)
            zero = torch.zeros(R, dtype=torch.float64, device=self._device)
            ancestor = torch.arange(self._setup.particles, device=self._device).repeat(R, 1)
            yield _State(lanes[part], latent[part], heights[part], rests[part], ancestor, zero, zero - torch.inf, zero)

    def _select(self) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Finds the lowest K of each lane, all at or below 0, and the level; lets lanes on a plateau go.

        Returns:
            Places of the killed ``(a, K)`` and of the survivors ``(a, N - K)``, and the level with its rest, each ``(a,)``.
        """
        s, state = self._setup, self._state
        order = lowest_first(state.heights, state.rests)
        lowest = state.heights.gather(1, order[:, : s.kill])
        level, rest = lowest[:, -1], state.rests.gather(1, order[:, s.kill - 1 : s.kill])[:, 0]
        on_level = (lowest == level[:, None]).sum(1)
        state.plateau = torch.where(level == state.level, state.plateau, 0) + on_level
        state.level = level
        above = (state.heights > level[:, None]).any(1).double()
        levels, rests, plateau, left = torch.stack([level, rest, state.plateau, above]).cpu().numpy()
        coarse = (plateau >= _PLATEAU_KILLED) & (rests * s.steps * plateau < _PLATEAU_MOVES) & (left == 0)
        leaving = self._with_replicas(coarse)
        for place, number in enumerate(state.lanes):
            lane = self.lanes[number]
            lane.coarse = bool(coarse[place])
            lane.killed += s.kill
            if s.trace and not leaving[place]:
                lane.levels.append(float(levels[place]))
                lane.counts.append(lane.killed)
        if leaving.any():
            kept = torch.from_numpy(~leaving).to(self._device)
            order, level, rest = order[kept], level[kept], rest[kept]
            self._leave(leaving)
        return order[:, : s.kill], order[:, s.kill :], (level, rest)

    def _with_replicas(self, coarse: np.ndarray) -> np.ndarray:
        """A lane on a plateau decides its test: all lanes of the test leave."""
        tests = self._state.lanes // self._setup.replicas
        return np.asarray(np.isin(tests, tests[coarse]))

    def _replace(self, killed: Tensor, survivors: Tensor, level: tuple[Tensor, Tensor]) -> Iterator[None]:
        """Replaces the killed by moved copies of survivors."""
        s, state = self._setup, self._state
        lanes = state.lanes.tolist()
        uniform = self._streams.uniform(lanes, s.steps + 1, s.kill)
        parent = survivors.gather(1, (uniform[:, 0] * survivors.shape[1]).long())
        row = torch.arange(len(lanes), device=self._device)[:, None]
        size = state.log_size.exp()
        owner = torch.from_numpy(np.repeat(state.lanes // s.replicas, s.kill)).to(self._device)
        moves = Moves(
            self._score.bind(owner),
            state.latent[row, parent].flatten(0, 1),
            state.heights[row, parent].flatten(),
            state.rests[row, parent].flatten(),
            level[0].repeat_interleave(s.kill),
            level[1].repeat_interleave(s.kill),
            size.repeat_interleave(s.kill)[:, None],
        )
        yield from moved(moves, self._streams, lanes, size.tolist(), s.steps, uniform[:, 1:])
        check(torch.stack(moves.scores))
        state.latent[row, killed] = moves.latent.reshape(len(lanes), s.kill, -1)
        state.heights[row, killed] = moves.heights.reshape(-1, s.kill)
        state.rests[row, killed] = moves.rests.reshape(-1, s.kill)
        state.ancestor[row, killed] = state.ancestor[row, parent]
        self._account(moves)

    def _account(self, moves: Moves) -> None:
        """Steers the size of the moves and writes down how the round went."""
        s, state = self._setup, self._state
        accepted = torch.stack(moves.accepted).reshape(s.steps, -1, s.kill)
        acceptance = accepted.double().mean((0, 2))
        state.log_size = resized(state.log_size, acceptance)
        shares, stuck = torch.stack([acceptance, (~accepted.any(0)).sum(1).double()]).cpu().numpy()
        for place, lane in enumerate(state.lanes):
            record = self.lanes[lane]
            record.moved += s.kill
            record.stuck += int(stuck[place])
            if s.trace:
                record.acceptance.append(float(shares[place]))
        np.add.at(self.calls, state.lanes // s.replicas, s.kill * s.steps)


def lowest_first(heights: Tensor, rests: Tensor) -> Tensor:
    """Places of the particles of each lane ordered by (score, u), u being 1 - rest."""
    by_u = rests.argsort(dim=1, descending=True)
    return by_u.gather(1, heights.gather(1, by_u).argsort(dim=1, stable=True))


def check(scores: Tensor) -> None:
    """Refuses scores that are not numbers: nothing lies above or below them."""
    if bool(torch.isnan(scores).any()):
        raise ModelError(
            "The score of a noisy input is not a number (NaN); check the model's weights, mean and std, or the score function."
        )
