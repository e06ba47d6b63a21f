"""Semantic maps: over which poses, lights and rotations the class survives, and its traps.

Hamdi and Ghanem, "Towards Analyzing Semantic Robustness of Deep Neural Networks": the network
semantic map (NSM, Section 4.2, Figures 1, 2 and 4) is the score of a class over one or two
parameters; its mean over networks and shapes is the data semantic map (DSM, Section 4.4, Figure 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.semantic.maps.grid import (
    AT_ONCE,
    FOLLOWED_FROM,
    MapRound,
    along_borders,
    axis_values,
    check_size,
    levels,
    map_units,
)
from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.maps.trap_list import FoundTrap, no_traps, record, traps_in
from robgui.analyses.semantic.result import MapResult
from robgui.analyses.semantic.scene.pictures import affordable
from robgui.analyses.semantic.scene.space import open_spaces, target_classes, usual_class
from robgui.core.dataset import Dataset
from robgui.core.devices import to_host
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: Fewest cells that decide the class of a mesh.
_DECIDING = 24
#: Traps whose pictures are kept in the result.
_MOST_IMAGES = 8


@dataclass(frozen=True, slots=True)
class MapPart:
    """Some cells of the maps.

    Attributes:
        where: ``(n,)`` their places in the flat array of all cells.
        scores: ``(n,)`` score of the class.
        tops: ``(n,)`` class on top.
        top_scores: ``(n,)`` its score.
        target: ``(K,)`` class of every shape.
    """

    where: np.ndarray
    scores: np.ndarray
    tops: np.ndarray
    top_scores: np.ndarray
    target: np.ndarray


def map_part(
    classifiers: tuple[Classifier, ...], dataset: Dataset | None, params: MapParams, part: range
) -> Iterator[Step[MapPart | None]]:
    """Computes some of the cells, in the same model calls as the whole: bit for bit the same."""
    plan, pace = _Map(classifiers, dataset, params), Pace()
    own = plan.share(part, map_units(params, 0 if dataset is None else len(dataset)))
    done, total = 0, sum(len(block.cells.cells) for block in own)
    for block in plan.fill_only(own):
        if block is not None:
            done += len(block.cells.cells)
        if pace.due():
            yield Step(done, total, None)
    yield Step(total, total, plan.part(own))


def merge_maps(
    classifiers: tuple[Classifier, ...],
    dataset: Dataset | None,
    params: MapParams,
    parts: Sequence[MapPart],
) -> MapResult:
    """Merges the parts; traps are searched in the whole, because one may lie across two parts."""
    plan = _Map(classifiers, dataset, params)
    for part in parts:
        plan.absorb(part)
    plan.look_for_traps()
    return plan.step().result


def semantic_map(
    classifiers: tuple[Classifier, ...], dataset: Dataset | None, params: MapParams
) -> Iterator[Step[MapResult]]:
    """Maps every shape for every network, all of them coarsely first, then finer and finer."""
    plan = _Map(classifiers, dataset, params)
    pace = Pace()
    for _ in plan.fill():
        if pace.due():
            yield plan.step()
    plan.look_for_traps()
    yield plan.step(last=True)


@dataclass(frozen=True, slots=True)
class _Block:
    """The cells of one model call."""

    network: int
    shape: int
    cells: MapRound


class _Map:
    """Everything a map knows while it is made; ``step`` shows it at any moment."""

    def __init__(
        self, classifiers: tuple[Classifier, ...], dataset: Dataset | None, params: MapParams
    ) -> None:
        self._classifiers, self._params = classifiers, params
        self._spaces = open_spaces(classifiers, dataset, params)
        first = self._spaces[0][0]
        self._axes = first.axes
        self._x = axis_values(self._axes[0], params)
        self._y = axis_values(self._axes[1], params) if len(self._axes) > 1 else np.array([np.nan])
        size = len(self._y), len(self._x)
        self._shape = (len(classifiers), len(self._spaces[0]), *size)
        check_size(size, self._shape[0] * self._shape[1])
        self._scores = np.full(self._shape, np.nan, dtype=np.float32)
        self._tops = np.full(self._shape, -1, dtype=np.int32)
        self._top_scores = np.full(self._shape, np.nan, dtype=np.float32)
        self._computed = np.zeros(self._shape, dtype=bool)
        self._kept: list[list[tuple[int, MapRound, Tensor]]] = [[] for _ in self._spaces[0]]
        self._calls = 0
        self._target = [one.number for one in target_classes(classifiers[0], dataset, params)]
        self._decided = [target >= 0 for target in self._target]
        if not params.target:
            self._calls += sum(self._decided)
        self._traps = no_traps(len(self._axes), classifiers[0].shape)

    def fill(self) -> Iterator[None]:
        """Computes every cell, or those along borders; yields after each batch.

        With a time limit the borders come first: there the map is least certain.
        """
        if self._params.cells == "borders" or self._params.max_seconds:
            yield from self._follow_borders()
        if self._params.cells == "borders":
            return
        for level in levels(*self._shape[2:]):
            for shape in range(self._shape[1]):
                for block in self._blocks(shape, level):
                    if self._lacks(block):
                        yield from self._fill(block)
                        yield
                self._decide(shape)

    def _follow_borders(self) -> Iterator[None]:
        """A coarse grid, then only cells beside a different class, finer and finer."""
        for level in levels(*self._shape[2:]):
            for shape in range(self._shape[1]):
                if level.stride >= FOLLOWED_FROM:
                    yield from self._fill_all(self._blocks(shape, level))
                    self._decide(shape)
                    continue
                for network in range(self._shape[0]):
                    while len((part := self._border(network, shape, level.stride)).cells):
                        blocks = self._blocks(shape, part)
                        own = (block for block in blocks if block.network == network)
                        yield from self._fill_all(own)
                self._decide(shape)

    def _border(self, network: int, shape: int, stride: int) -> MapRound:
        """Cells along the border of the target class, once it is known."""
        target, tops = self._target[shape], self._tops[network, shape]
        if target >= 0:
            tops = tops == target
        return along_borders(tops, self._computed[network, shape], stride)

    def _fill_all(self, blocks: Iterable[_Block]) -> Iterator[None]:
        for block in blocks:
            yield from self._fill(block)
            yield

    def _lacks(self, block: _Block) -> bool:
        """Whether a cell of the block is not computed yet."""
        cells = block.cells.cells
        known = self._computed[block.network, block.shape, cells[:, 0], cells[:, 1]]
        return not bool(known.all())

    def share(self, part: range, units: int) -> list[_Block]:
        """The blocks of some of ``units`` equal shares, shape after shape.

        A part touches few shapes.
        """
        rounds = levels(*self._shape[2:])
        blocks = [
            block
            for shape in range(self._shape[1])
            for level in rounds
            for block in self._blocks(shape, level)
        ]
        return blocks[part.start * len(blocks) // units : part.stop * len(blocks) // units]

    def fill_only(self, own: Sequence[_Block]) -> Iterator[_Block | None]:
        """Computes these blocks, and before them what decides the class of their shapes.

        Yields each block, and None after other batches.
        """
        for shape in sorted({block.shape for block in own}):
            for level in levels(*self._shape[2:]):
                if self._decided[shape]:
                    break
                for block in self._blocks(shape, level):
                    yield from (None for _ in self._fill(block))
                    yield None
                self._decide(shape)
        for block in own:
            if self._lacks(block):
                yield from (None for _ in self._fill(block))
            yield block

    def part(self, own: Sequence[_Block]) -> MapPart:
        """What is known of these blocks."""
        places = [
            np.ravel_multi_index(
                (block.network, block.shape, block.cells.cells[:, 0], block.cells.cells[:, 1]),
                self._shape,
            )
            for block in own
        ]
        where = np.concatenate([np.zeros(0, dtype=np.int64), *places])
        scores, tops, top_scores = (
            array.ravel()[where] for array in (self._scores, self._tops, self._top_scores)
        )
        return MapPart(where, scores, tops, top_scores, np.array(self._target, dtype=np.int64))

    def absorb(self, part: MapPart) -> None:
        """Takes cells that were computed elsewhere."""
        self._scores.ravel()[part.where] = part.scores
        self._tops.ravel()[part.where] = part.tops
        self._top_scores.ravel()[part.where] = part.top_scores
        self._computed.ravel()[part.where] = True
        self._calls += len(part.where)
        # -1 means not decided; a part that has decided outranks one that has not.
        self._target = [
            max(known, told) for known, told in zip(self._target, part.target.tolist(), strict=True)
        ]

    def step(self, *, last: bool = False) -> Step[MapResult]:
        """The complete picture now; the last one has everything asked for."""
        done = int(self._computed.sum())
        return Step(done, done if last else self._computed.size, self._result())

    def look_for_traps(self) -> None:
        """Finds the traps of every map and, if there are several, of their mean."""
        # Rows of the arrays are the second axis, columns the first.
        turns = (len(self._axes) > 1 and self._axes[1].periodic, self._axes[0].periodic)
        found = traps_in(self._scores, self._tops, self._computed, self._params, turns)
        places = [(one.trap.row, one.trap.column) for one in found]
        at = self._points(np.array(places, dtype=np.int64).reshape(-1, 2))
        self._traps = record(found, at, self._images(at, found))

    def _images(self, at: np.ndarray, found: Sequence[FoundTrap]) -> np.ndarray:
        """What the network saw at the first traps; as many as are of one size."""
        size = self._classifiers[0].shape
        images: list[np.ndarray] = []
        for place in range(min(len(at), affordable(size, _MOST_IMAGES))):
            space = self._spaces[max(0, found[place].network)][max(0, found[place].shape)]
            if space.classifier.shape != size:
                break
            images += to_host(space.images(torch.from_numpy(at[place : place + 1])))
        if images:
            return np.concatenate(images)
        return np.zeros((0, *size), dtype=np.float32)

    def _points(self, cells: np.ndarray) -> np.ndarray:
        """Cells ``(k, 2)`` as points ``(k, n)`` in the units of the axes."""
        columns = [self._x[cells[:, 1]], self._y[cells[:, 0]]]
        return np.stack(columns[: len(self._axes)], 1)

    def _blocks(self, shape: int, level: MapRound) -> Iterator[_Block]:
        """The cells of one round as every network is shown them."""
        for network, spaces in enumerate(self._spaces):
            size = min(spaces[shape].classifier.batch(self._params.batch), AT_ONCE)
            for start in range(0, len(level.cells), size):
                yield _Block(
                    network, shape, MapRound(level.stride, level.cells[start : start + size])
                )

    def _fill(self, block: _Block) -> Iterator[None]:
        space = self._spaces[block.network][block.shape]
        points = torch.from_numpy(self._points(block.cells.cells)).double()
        shares = yield from space.probs(points, self._params.batch)
        self._calls += len(points)
        if not self._decided[block.shape]:
            self._kept[block.shape].append((block.network, block.cells, shares))
        self._write(block.network, block.shape, block.cells, shares)

    def _write(self, network: int, shape: int, part: MapRound, shares: Tensor) -> None:
        sure, tops = (values.numpy() for values in shares.max(1))
        target = self._target[shape]
        scores = np.full(len(tops), np.nan) if target < 0 else shares[:, target].numpy()
        whole, top = self._scores[network, shape], self._tops[network, shape]
        top_score, known = self._top_scores[network, shape], self._computed[network, shape]
        for (row, column), *cell in zip(part.cells, scores, tops, sure, strict=True):
            block = slice(row, row + part.stride), slice(column, column + part.stride)
            # A coarse value never covers a cell that was computed.
            free = ~known[block]
            for values, value in zip((whole, top, top_score), cell, strict=True):
                values[block][free] = value
            whole[row, column], top[row, column], top_score[row, column] = cell
        self._computed[network, shape, part.cells[:, 0], part.cells[:, 1]] = True

    def _decide(self, shape: int) -> None:
        """Takes the most frequent top class for a mesh, until enough cells make it sure."""
        if self._decided[shape]:
            return
        shares = torch.cat([part for _, _, part in self._kept[shape]])
        self._target[shape] = usual_class(shares.argmax(1), shares)
        for network, part, kept in self._kept[shape]:
            self._write(network, shape, part, kept)
        if self._computed[0, shape].sum() >= _DECIDING or self._computed[:, shape].all():
            self._decided[shape] = True
            self._kept[shape].clear()

    def _result(self) -> MapResult:
        first = self._spaces[0]
        # Copies throughout: cells are written on after the Step was given away.
        scores = self._scores.copy()
        return MapResult(
            axes=self._axes,
            x=self._x,
            y=self._y,
            # The DSM where there are several networks or shapes (Section 4.4).
            score=scores.mean((0, 1)),
            top1=self._tops[0, 0].copy(),
            scores=scores,
            tops=self._tops.copy(),
            computed=self._computed.copy(),
            target=np.array(self._target, dtype=np.int64),
            networks=tuple(classifier.name for classifier in self._classifiers),
            shapes=tuple(space.name for space in first),
            specs=tuple(space.spec for space in first),
            labels=tuple(self._classifiers[0].labels),
            scene_axes=tuple(first[0].scene.axes),
            values=first[0].values,
            traps=self._traps,
            model_calls=self._calls,
            top_scores=self._top_scores.copy(),
        )
