"""Many last-particle tests at once, in full batches; finished lanes leave, waiting ones enter.

A *test* asks whether one failure probability is below the critical one. It consists of R *lanes*,
independent populations of N particles whose counts are added. All running lanes advance in step:
kill the lowest K of each lane, and replace them by copies of survivors moved t times above the
level.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.cost import plain_draws
from robgui.analyses.last_particle.particles.beginning import Draws
from robgui.analyses.last_particle.particles.guided import (
    WALKED,
    Guide,
    GuidedMoves,
    Leaps,
    beyond,
    resteered,
)
from robgui.analyses.last_particle.particles.kernel import (
    TARGET,
    Moves,
    heights_after,
    resized,
)
from robgui.analyses.last_particle.particles.lanes import Lanes
from robgui.analyses.last_particle.particles.population import Choice, Population
from robgui.analyses.last_particle.particles.setup import Margins, Score, Setup, check
from robgui.analyses.last_particle.particles.streams import Rounds, Streams
from robgui.core.devices import to_host

#: The plateau guard: killings at an unchanged level, with fewer moves than the second expected
#: among what is left of it, and not one particle above it. Without the last condition one run in
#: ten is given up on a score in steps of a tenth of a standard deviation, and nearly all in steps
#: of one; with it .1 % and 45 %, and false passes stay below the risk.
_PLATEAU_KILLED, _PLATEAU_MOVES = 3, 3.0


class Splitting:
    """Runs all tests; iterate ``rounds`` and read ``lanes`` at any time.

    Attributes:
        lanes: ``tests * replicas`` lanes, those of a test next to each other.
        failures: Test -> latent ``(dim,)`` of a failing particle, the likeliest of its lane.
        calls: ``(tests,)`` model calls of each test.
        ended: ``(tests,)`` which tests are decided.
    """

    def __init__(
        self, score: Score, setup: Setup, device: torch.device, guide: Guide | None = None
    ) -> None:
        self._scores, self._setup, self._device = Margins(score, device), setup, device
        self._guide, self._spread = guide, score.spread
        self._streams = Streams(setup.seed, device, score.spread)
        if guide is None:
            self._leaps, draws = 0, setup.particles
        else:
            self._leaps = -(-setup.steps // 2)
            draws = plain_draws(setup.particles, setup.kill, setup.steps)
        self._rounds = Rounds(self._streams, setup.dim, setup.steps, setup.kill, self._leaps)
        self._waiting = deque(range(setup.tests) if setup.chosen is None else setup.chosen)
        self._ready: deque[Population] = deque()
        self._state = Population.nothing(setup.particles, device)
        self.lanes = Lanes(setup.tests * setup.replicas, trace=setup.trace)
        self.failures: dict[int, Tensor] = {}
        self.calls = np.zeros(setup.tests, dtype=np.int64)
        self.ended = np.zeros(setup.tests, dtype=bool)
        self._draws = Draws(self._scores, self._streams, setup, draws, self.lanes, self.calls)

    @property
    def progress(self) -> tuple[int, int]:
        """Killings made, with decided tests counted in full, and the most there can be."""
        s = self._setup
        killed = self.killed.sum(1)
        return int(np.where(self.ended, s.m, np.minimum(killed, s.m)).sum()), s.tests * s.m

    @property
    def killed(self) -> np.ndarray:
        """``(tests, replicas)`` killed so far."""
        return self.lanes.killed.reshape(-1, self._setup.replicas)

    def rounds(self) -> Iterator[None]:
        """Runs until every test is decided; yields every few model calls."""
        try:
            while True:
                self._retire()
                while (yield from self._admit()):
                    self._retire()
                if not len(self._state.lanes):
                    return
                choice = self._choose()
                if len(self._state.lanes):
                    yield from self._replace(choice)
        finally:
            self._rounds.close()

    def _retire(self) -> None:
        """Retires lanes whose test has reached m, and lanes that fail.

        A lane fails once fewer than K of its particles are at or below 0.
        """
        state, s = self._state, self._setup
        below = (state.heights <= 0).sum(1)
        failing = below < s.kill
        self.lanes.failing[state.lanes] = failing
        self.lanes.killed[state.lanes[failing]] += below[failing]
        leaving = failing | (self.killed.sum(1) >= s.m)[state.lanes // s.replicas]
        if leaving.any():
            self._leave(leaving)

    def _leave(self, leaving: np.ndarray) -> None:
        """Removes lanes from the batch, and a test with its last lane."""
        state = self._state
        for place in np.flatnonzero(leaving):
            self._write_down(int(place))
            self._keep_failure(int(place))
            self._streams.close(int(state.lanes[place]))
        tests = np.unique(state.lanes[leaving] // self._setup.replicas)
        self._state = state.pick(~leaving)
        still = self._state.lanes // self._setup.replicas
        self.ended[[test for test in tests if test not in still]] = True

    def look(self, test: int) -> None:
        """Updates ``heights`` and ``ancestors`` of a test's lanes.

        Those of ended lanes are current.
        """
        for place in np.flatnonzero(self._state.lanes // self._setup.replicas == test):
            self._write_down(int(place))

    def _write_down(self, place: int) -> None:
        lane = int(self._state.lanes[place])
        self.lanes.heights[lane] = self._state.heights[place].astype(np.float64)
        self.lanes.ancestors[lane] = len(np.unique(self._state.ancestor[place]))

    def _keep_failure(self, place: int) -> None:
        """Keeps the failing particle nearest to no noise, which is the likeliest."""
        test = int(self._state.lanes[place]) // self._setup.replicas
        fails = np.flatnonzero(self._state.heights[place] > 0)
        if test in self.failures or not len(fails):
            return
        latent = self._state.latent[place][torch.from_numpy(fails).to(self._device)]
        self.failures[test] = latent[int(latent.square().sum(1).argmin())].clone()

    def _admit(self) -> Generator[None, None, bool]:
        """Fills the batch with waiting tests, scoring first particles for many lanes at once.

        Returns whether any entered.
        """
        s = self._setup
        room = max(s.replicas, s.rows // s.kill)
        came = False
        while True:
            working = len(self._state.lanes)
            if working + s.replicas > room or not (self._waiting or self._ready):
                return came
            came = True
            if not self._ready:
                yield from self._start(
                    max(1, min(len(self._waiting), s.rows // (s.particles * s.replicas)))
                )
            entering = [
                self._ready.popleft()
                for _ in range(min(len(self._ready), (room - working) // s.replicas))
            ]
            self._state = Population.join([self._state, *entering])

    def _start(self, count: int) -> Iterator[None]:
        """Draws and scores the first particles of ``count`` tests."""
        s = self._setup
        tests = np.array([self._waiting.popleft() for _ in range(count)])
        lanes = (tests[:, None] * s.replicas + np.arange(s.replicas)).ravel()
        for lane in lanes.tolist():
            self._streams.open(lane)
        begun = yield from self._draws.first(lanes)
        directions = yield from self._directions(tests)
        drawn = self._rounds.first(lanes.tolist())
        fresh = Population.fresh(begun, drawn, directions)
        self._ready.extend(
            fresh.pick(slice(first, first + s.replicas))
            for first in range(0, len(lanes), s.replicas)
        )

    def _directions(self, tests: np.ndarray) -> Generator[None, None, Tensor]:
        """The guide's directions for every lane of the tests; empty without a guide."""
        replicas = self._setup.replicas
        if self._guide is None:
            return torch.zeros((len(tests) * replicas, 0), device=self._device)
        self.calls[tests] += self._guide.calls
        found = yield from self._guide.directions(torch.from_numpy(tests).to(self._device))
        return found.repeat_interleave(replicas, 0)

    def _choose(self) -> Choice:
        """Chooses who dies and who is copied; retires lanes on a plateau.

        Algorithm 1, lines 5 and 6; Algorithm 2, line 1. All who die are at or below 0.
        """
        s, state = self._setup, self._state
        choice = Choice.among(state, s.kill)
        coarse = self._on_plateau(choice)
        self.lanes.coarse[state.lanes] = coarse
        self.lanes.killed[state.lanes] += s.kill
        if not coarse.any():
            return choice
        self._leave(self._with_replicas(coarse))
        return Choice.among(self._state, s.kill)

    def _on_plateau(self, choice: Choice) -> np.ndarray:
        """Which lanes ``(a,)`` the plateau guard stops."""
        state, level = self._state, choice.level[:, None]
        on_level = (np.take_along_axis(state.heights, choice.killed, 1) == level).sum(1)
        same = choice.level == state.level
        if self._guide is not None:  # A copy that never moved is no sign of a plateau.
            on_level = np.where(self.lanes.still[state.lanes], 0, on_level)
        state.plateau = np.where(same, state.plateau, 0) + on_level
        self.lanes.rounds[state.lanes] += 1
        self.lanes.repeated[state.lanes] += same
        state.tied = state.tied | (state.plateau > 1)
        state.level = choice.level
        few_left = choice.rest * self._setup.steps * state.plateau < _PLATEAU_MOVES
        return np.asarray(
            (state.plateau >= _PLATEAU_KILLED) & few_left & ~(state.heights > level).any(1)
        )

    def _with_replicas(self, coarse: np.ndarray) -> np.ndarray:
        """Adds the other lanes of each test: a lane on a plateau decides its test."""
        tests = self._state.lanes // self._setup.replicas
        return np.asarray(np.isin(tests, tests[coarse]))

    def _replace(self, choice: Choice) -> Iterator[None]:
        """Replaces the killed by moved copies of survivors (Algorithm 1, line 11: Gen(L_k, 1))."""
        s, state = self._setup, self._state
        row = np.arange(len(state.lanes))[:, None]
        killed, parent = (
            torch.from_numpy((row * s.particles + who).ravel()).to(self._device)
            for who in (choice.killed, choice.parent)
        )
        particles = state.latent.view(-1, s.dim)  # The same numbers, overwritten below.
        parents = np.take_along_axis(state.heights, choice.parent, 1).ravel()
        moves, size = self._moves(particles.index_select(0, parent), parents, choice)
        noise = self._rounds.noise(state.lanes.tolist(), size, state.noise)
        going = True
        while going:
            with self._scores.together():
                going = moves.steps(noise)
            yield
        particles.index_copy_(0, killed, moves.latent)
        scores, weights = to_host(torch.stack(moves.scores), moves.accepted)
        accepted = weights > 0
        heights = heights_after(parents, scores, accepted).reshape(-1, s.kill)
        last = state.uniform[:, -1]
        state.heights[row, choice.killed] = heights
        state.rests[row, choice.killed] = np.where(
            heights == choice.level[:, None], last * choice.rest[:, None], last
        )
        state.ancestor[row, choice.killed] = state.ancestor[row, choice.parent]
        state.uniform, state.leaps, state.noise = self._rounds.coming
        accepted = accepted.reshape(s.steps, -1, s.kill)
        self._account(scores, accepted)
        if isinstance(moves, GuidedMoves):
            (before,) = to_host(torch.stack(moves.before))
            self._steer_leaps(before.reshape(self._leaps, -1, s.kill), accepted[::2])

    def _moves(
        self, latent: Tensor, parents: np.ndarray, choice: Choice
    ) -> tuple[Moves, np.ndarray]:
        """The moves of copies that start at ``latent``, and s ``(a,)`` of their noise.

        ``parents (a * K,)`` are their scores.
        """
        s, state = self._setup, self._state
        bound = self._scores.bound(np.repeat(state.lanes // s.replicas, s.kill))
        heights, bars = torch.from_numpy(parents).to(self._device), choice.bars(state)
        size = np.exp(state.log_size)
        each = np.repeat(size, s.kill)
        if self._guide is None:
            return Moves(bound, latent, heights, bars, each), size
        return GuidedMoves(bound, latent, heights, bars, each, self._leaping(choice)), size

    def _leaping(self, choice: Choice) -> Leaps:
        """Where copies may leap: beyond a bound just before the last particle that died."""
        state, spread = self._state, self._spread
        last = torch.from_numpy(choice.killed[:, -1]).to(self._device)
        died = state.latent[torch.arange(len(last), device=self._device), last]
        (place,) = to_host(torch.linalg.vecdot(state.directions, died).double())
        bound = place / spread - np.exp(state.log_distance)
        places = beyond(bound[:, None, None], state.leaps).transpose(1, 0, 2)
        drawn = torch.from_numpy(places.reshape(self._leaps, -1) * spread)
        return Leaps(
            state.directions.repeat_interleave(self._setup.kill, 0),
            self._each(bound * spread),
            drawn.to(self._device, died.dtype),
            self._each(np.exp(state.log_across)),
        )

    def _each(self, values: np.ndarray) -> Tensor:
        """Expands numbers of lanes ``(a,)`` to their moving particles ``(a * K,)``."""
        return torch.from_numpy(np.repeat(values, self._setup.kill)).to(self._device)

    def _steer_leaps(self, before: np.ndarray, accepted: np.ndarray) -> None:
        """Adjusts the leaps to how those of a round went, ``(leaps, a, K)``."""
        state = self._state
        state.log_distance, state.log_across = resteered(
            state.log_distance, state.log_across, before[:, :, 0], accepted[:, :, 0]
        )

    def _account(self, scores: np.ndarray, accepted: np.ndarray) -> None:
        """Adjusts the size of the moves and records the round."""
        s, state = self._setup, self._state
        check(scores)
        walked, target = accepted, TARGET
        if self._guide is not None:
            walked, target = accepted[1::2], WALKED
        acceptance = walked.mean((0, 2))
        state.log_size = resized(state.log_size, acceptance, target)
        self.lanes.moved[state.lanes] += s.kill
        still = np.asarray(~accepted.any(0))
        self.lanes.stuck[state.lanes] += still.sum(1)
        self.lanes.still[state.lanes] = still.any(1)
        self.lanes.add_round(state.lanes, state.level, acceptance)
        np.add.at(self.calls, state.lanes // s.replicas, s.kill * s.steps)
