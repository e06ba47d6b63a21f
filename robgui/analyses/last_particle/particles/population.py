"""The running lanes: particles on the device, one number per particle on the host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.particles.beginning import Beginning
from robgui.analyses.last_particle.particles.kernel import Level
from robgui.analyses.last_particle.particles.order import lowest_first
from robgui.analyses.last_particle.particles.streams import Drawn


@dataclass
class Population:
    """The running lanes, row by row.

    Attributes:
        lanes: ``(a,)`` their numbers.
        latent: ``(a, N, dim)`` the particles.
        heights: ``(a, N)`` scores.
        rests: ``(a, N)`` v, see ``kernel``.
        ancestor: ``(a, N)`` first particle that each descends from.
        log_size: ``(a,)`` logarithm of the size of the moves.
        level: ``(a,)`` of the last round.
        plateau: ``(a,)`` killed in a row at this level.
        tied: ``(a,)`` whether a level was ever met twice.
        uniform: ``(a, t + 1, K)`` drawn for the next round: for the choice of parents, and what v
            is made of.
        leaps: ``(a, leaps, K)`` drawn for where leaps lead; no leaps without guide.
        noise: ``(a, stretch, K, dim)`` drawn for the first moves of the next round.
        log_distance: ``(a,)`` see ``guided``.
        log_across: ``(a,)`` the same.
        directions: ``(a, dim)`` the same.
    """

    lanes: np.ndarray
    latent: Tensor
    heights: np.ndarray
    rests: np.ndarray
    ancestor: np.ndarray
    log_size: np.ndarray
    level: np.ndarray
    plateau: np.ndarray
    tied: np.ndarray
    uniform: np.ndarray
    leaps: np.ndarray
    noise: Tensor
    log_distance: np.ndarray
    log_across: np.ndarray
    directions: Tensor

    @classmethod
    def nothing(cls, particles: int, device: torch.device) -> Population:
        """No lane."""
        rows, row = np.zeros((0, particles)), np.zeros(0)
        nowhere = torch.zeros(0, device=device)
        return cls(
            row.astype(np.int64),
            nowhere,
            rows,
            rows,
            rows,
            row,
            row,
            row,
            row.astype(bool),
            rows,
            rows,
            nowhere,
            row,
            row,
            nowhere,
        )

    @classmethod
    def fresh(cls, begun: Beginning, drawn: Drawn, directions: Tensor) -> Population:
        """Lanes before their first round."""
        zero = np.zeros(len(begun.lanes))
        return cls(
            begun.lanes,
            *begun.particles,
            begun.ancestor,
            zero,
            zero - np.inf,
            zero,
            zero.astype(bool),
            *drawn,
            # log of the bound's first distance, e^-2 = 0.14 standard deviations.
            zero - 2.0,
            zero,
            directions,
        )

    @classmethod
    def join(cls, parts: Sequence[Population]) -> Population:
        """All lanes of the parts; at least one part has some."""
        # Empty parts are left out: their tensors have no shape that would fit.
        columns: Iterable[Any] = zip(
            *(part._columns() for part in parts if len(part.lanes)), strict=True
        )
        joined: list[Any] = [
            torch.cat(each) if isinstance(each[0], Tensor) else np.concatenate(each)
            for each in columns
        ]
        return cls(*joined)

    def pick(self, chosen: slice | np.ndarray) -> Population:
        """The lanes at these positions."""
        places = (
            chosen
            if isinstance(chosen, slice)
            else torch.from_numpy(np.flatnonzero(chosen)).to(self.latent.device)
        )
        return Population(
            *(each[places if isinstance(each, Tensor) else chosen] for each in self._columns())
        )

    def _columns(self) -> list[Any]:
        return [getattr(self, each.name) for each in fields(self)]


@dataclass(frozen=True)
class Choice:
    """Who dies in a round, who is copied, and the level to stay above.

    Attributes:
        killed: ``(a, K)`` places.
        parent: ``(a, K)`` places of the survivors that are copied.
        level: ``(a,)`` score of the last that dies.
        rest: ``(a,)`` its v.
    """

    killed: np.ndarray
    parent: np.ndarray
    level: np.ndarray
    rest: np.ndarray

    @classmethod
    def among(cls, population: Population, kill: int) -> Choice:
        """The lowest ``kill`` of every lane die."""
        order = lowest_first(population.heights, population.rests)
        # Survivors are chosen uniformly: floor(u · count) with u below 1 is always a valid place.
        killed, survivors = order[:, :kill], order[:, kill:]
        last = killed[:, -1:]
        picked = (population.uniform[:, 0] * survivors.shape[1]).astype(np.int64)
        return cls(
            killed,
            np.take_along_axis(survivors, picked, 1),
            np.take_along_axis(population.heights, last, 1)[:, 0],
            np.take_along_axis(population.rests, last, 1)[:, 0],
        )

    def bars(self, population: Population) -> Level:
        """The level for the copies, in the form ``Moves`` takes.

        ``(a * K,)``, and one row for each move.

        Only in lanes that have met a level twice does a particle on the level move freely along it.
        In the others it does so with the probability of the rest, as every particle above the level
        comes down to it; this preserves the law too.
        """
        device, kill = population.latent.device, self.killed.shape[1]
        # The first move is judged with the v of the copied particle, later ones with fresh draws.
        first = np.take_along_axis(population.rests, self.parent, 1)[:, None]
        rests = np.concatenate([first, population.uniform[:, 1:-1]], 1).transpose(1, 0, 2)
        level = self.level[:, None]
        # Reaching the next larger number is the same as exceeding
        # the level: one comparison serves both.
        just_above = np.nextafter(level, level.dtype.type(np.inf))
        # Above the level, or on it with a smaller rest: the second coordinate of the order, (score,
        # u) with u = 1 - v.
        bars = np.where(rests < self.rest[:, None], level, just_above).reshape(len(rests), -1)
        held = None
        if population.tied.any():
            held = torch.from_numpy(np.repeat(~population.tied, kill)).to(population.latent)
        return Level(torch.from_numpy(bars).to(device), held)
