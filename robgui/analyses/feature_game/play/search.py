"""The default search: a Monte Carlo tree search that learns first and repairs what it finds.

It differs from the paper's Algorithm 1, which is in ``published``, in this:

1. Opening: one batched scan of one-pixel moves (those that promise something in a small image). In
   a large one many pixels are painted at once and thinned out (``painting``), then exchanged for
   fewer (``exchange``); when few are left, the moves the saliency favours and the neighbours of the
   best are scanned. Each move's effect on every class is kept and shared by all keypoints and
   states.
2. The prior of the tree comes from these effects and from the mixture; children are added by
   progressive widening.
3. A simulation aims at one class and asks, move by move, the few options with the best predicted
   margins instead of one at random; the effects are corrected by each answer.
4. Each example is refined. Then the search looks for one with a pixel less: it drops the pixel that
   costs least and swaps the others (``refine``). By turns with the tree, new starts are drawn from
   the moves that close the gap most.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

import numpy as np

from robgui.analyses.feature_game.play.finer import Work
from robgui.analyses.feature_game.play.game import EMPTY, State
from robgui.analyses.feature_game.play.ladder import AIMS, LadderSearch
from robgui.analyses.feature_game.play.large.exchange import Exchange
from robgui.analyses.feature_game.play.opening import all_moves, opening
from robgui.analyses.feature_game.play.oracle import RESERVE
from robgui.analyses.feature_game.play.refine import Repair, margins_of, refined
from robgui.analyses.feature_game.play.slope import Slope
from robgui.analyses.feature_game.play.tree import Node, backpropagate, select, widened
from robgui.analyses.feature_game.searching import SearchSetup

#: Options asked at each move of a simulation.
WIDTH = 16
#: Options added from beside the pixels changed so far: in a large image those never asked about,
#: in a small one those in the same colour.
NEIGHBOURS, ALIKE = 12, 8
#: States drawn for a new start.
DRAWN = 24
#: Calls for each pixel of the best example that are kept to take back what is not needed.
KEPT = 2
#: A simulation that needs more moves than this takes several at a time.
LONG = 16


class GuidedSearch(LadderSearch):
    """One search with a cooperative player II."""

    def __init__(self, setup: SearchSetup) -> None:
        super().__init__(setup)
        self._repairs = Repair(self._oracle, self._goal, self._values, self.record, self._rng)
        self._exchanging: Exchange | None = None
        self._owner = setup.mixture.owners().ravel()[self._game.pixel]

    def __iter__(self) -> Iterator[None]:
        if self._params.gradients and self._game.norm == "l0":
            yield from Slope(self._oracle, self._goal, self.record)
        yield from opening(self._setup, self._values, self.record, self._exchange)
        aims = self._values.aims() if len(self._values.options) else []
        if not aims:
            return
        if self._game.norm == "l0":
            yield from self._by_pixels(aims)
        else:
            yield from self._by_steps(aims)
        yield

    def _exchange(self, share: float) -> Exchange:
        if self._exchanging is None:
            self._exchanging = Exchange(self._setup.apart(), self.record, self.root)
        if share == 1:
            # Exchange takes back by itself what is not needed.
            self._oracle.keep(0)
        return self._exchanging.again(share)

    def _by_pixels(self, aims: list[int]) -> Work:
        """As few pixels as possible: greedy play, refinement and swaps, then the tree.

        Where single moves do not promise fewer pixels than the best example has, exchange goes on.
        """
        if self.record.best and not self.record.surveyed and not self._promising(aims[0]):
            yield from self._exchange(1.0)
        for aim in aims[:AIMS]:
            if self.record.over():
                return
            yield from self._ladder(aim, 0.0)
            yield from self._iterate([self.root], aim)
        if self.record.best and self._params.refine:
            yield from self._repair(self.record.best)
        turn = 0
        while not self.record.over():
            before = self._oracle.calls
            # An example no larger than the best takes no more.
            self._oracle.keep(KEPT * len(self.record.best) or RESERVE)
            yield from self._again(
                aims[min(len(aims) - 1, int(self._rng.geometric(0.5)) - 1)], turn
            )
            self.record.idle(self._oracle.calls == before)
            turn += 1

    def _again(self, aim: int, turn: int) -> Work:
        """One more try: by turns from drawn states and from a leaf of the tree."""
        if len(self.record.best) == 2 and self.record.surveyed and not self.record.scanned:
            yield from all_moves(self._oracle, self._goal, self._values, self.record)
        elif turn % 2 == 0 and self.record.surveyed and self.record.best and self._params.refine:
            yield from self._draw(aim)
        else:
            final = yield from self._iterate(self._descend(), aim)
            if final and self._params.refine and not self.record.over():
                yield from self._repair(final)

    def _promising(self, aim: int) -> bool:
        """Whether it would take fewer pixels than the best example has if effects added up."""
        rows = np.arange(len(self._values.options))
        return self._values.needed(rows, aim, self._oracle.start) < len(self.record.best)

    def _iterate(self, path: list[Node], aim: int) -> Generator[None, None, State]:
        """One iteration from the leaf of a path: simulation, refinement, backpropagation.

        Returns its example, if any.
        """
        final = yield from self._simulate(path[-1].state, aim)
        if final and self._params.refine:
            final = yield from refined(self._oracle, self._goal, final)
        severity = self.record.iteration(final)
        reward = self.record.reward(severity)
        backpropagate(path, reward, severity)
        if final:
            self._mixture.reward(self._owner[list(final)], reward)
        return final

    def _descend(self) -> list[Node]:
        """Selection and expansion: walks down the tree and adds one node where widening allows."""
        path = [self.root]
        while len(path) < 2 * max(1, len(self.record.best) - 2) + 1:
            node = path[-1]
            if not node.children:
                node.children = self._keypoints(node.state)
            if not node.children:
                break
            keypoint = select(node, self._score)
            path.append(keypoint)
            if keypoint.untried is None:
                keypoint.untried = self._ranked(node.state, keypoint.keypoint)
            if keypoint.untried and len(keypoint.children) < widened(keypoint.visits):
                option = keypoint.untried.pop()
                child = Node(
                    self._game.play(node.state, option),
                    option=option,
                    prior=1 / (1 + len(keypoint.children)),
                )
                keypoint.children.append(child)
                path.append(child)
                break
            if not keypoint.children:  # exchange has met features of which no option is known
                break
            path.append(select(keypoint, self._score))
        return path

    def _keypoints(self, state: State) -> list[Node]:
        """A child per keypoint with a known option; mixture and values share its prior equally."""
        rows = self._values.free(state)
        if not len(rows) or not self._oracle.knows(state):
            return []
        predicted = self._values.predict(self._oracle.scores([state])[0], rows)
        promise = np.full(len(self._mixture.prior), -np.inf)
        np.maximum.at(promise, self._owner[self._values.options[rows]], predicted)
        there = np.flatnonzero(np.isfinite(promise))
        scale = max(float(promise[there].std()), 1e-9)
        sharp = np.exp((promise[there] - promise[there].max()) / scale)
        weights = self._mixture.weights[there]
        prior = 0.5 * sharp / sharp.sum() + 0.5 * weights / max(float(weights.sum()), 1e-12)
        return [
            Node(state, keypoint=int(k), prior=float(p)) for k, p in zip(there, prior, strict=True)
        ]

    def _ranked(self, state: State, keypoint: int) -> list[int]:
        """The known options of a keypoint, the most promising last."""
        rows = self._values.free(state)
        rows = rows[self._owner[self._values.options[rows]] == keypoint]
        predicted = self._values.predict(self._oracle.scores([state])[0], rows)
        return [
            int(option)
            for option in self._values.options[rows[np.argsort(predicted, kind="stable")]]
        ]

    def _simulate(self, state: State, aim: int) -> Generator[None, None, State]:
        """Plays on from a state towards a class, always with the best of a few options.

        Empty when it takes too long.
        """
        longest = len(self.record.best) + 1 if self.record.best else self._game.image.shape[0]
        scores = self._oracle.scores([state])[0]
        while len(state) < longest and not math.isnan(scores[0]) and self._oracle.left:
            rows = self._values.free(state)
            if not len(rows):
                break
            rows = rows[np.argsort(-self._values.gains(rows, aim), kind="stable")[:WIDTH]]
            options = self._values.options[rows].tolist() + self._neighbours(state)
            states = [self._game.play(state, option) for option in options]
            answers = self._oracle.scores(states)
            yield
            state, scores = self._advance(state, scores, aim, options, states, answers)
            if self.record.wins(state):
                return state
        return EMPTY

    def _neighbours(self, state: State) -> list[int]:
        """A few options beside the pixels of the state, by chance.

        In a large image those never asked about. In a small one those in the colour of the pixel
        beside them: they often do more together than either promises alone.
        """
        if self._game.norm != "l0":
            return []
        if self.record.surveyed:
            beside, most = self._alike(state), ALIKE
        else:
            beside, most = self._unknown(state), NEIGHBOURS
        return [beside[i] for i in self._rng.permutation(len(beside))[:most].tolist()]

    def _alike(self, state: State) -> list[int]:
        """The options above, below, left and right of the state's, in the same colour."""
        width = self._game.shape[2]
        pixels = self._game.pixel[list(state)]
        used = set(pixels.tolist())
        found: dict[int, None] = {}
        for option, pixel in zip(state, pixels.tolist(), strict=True):
            sides = [pixel - width, pixel + width]
            sides += [pixel - 1] * (pixel % width > 0) + [pixel + 1] * ((pixel + 1) % width > 0)
            for place in sides:
                if 0 <= place < len(self._game.image) and place not in used:
                    value = self._game.value[option]
                    same = [
                        one for one in self._at(place) if (self._game.value[one] == value).all()
                    ]
                    found.update(dict.fromkeys(same))
        return list(found)

    def _unknown(self, state: State) -> list[int]:
        """The options never asked about on and beside the pixels of the state."""
        height, width = self._game.shape[1:]
        pixels = self._game.pixel[list(state)]
        near = {
            int(p + dy * width + dx)
            for p in pixels
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
            if 0 <= p % width + dx < width
        }
        near = {p for p in near if 0 <= p < height * width} - set(pixels.tolist())
        return [
            option for p in sorted(near) for option in self._at(p) if not self._values.knows(option)
        ]

    def _at(self, pixel: int) -> list[int]:
        """The options of a pixel; those of L0 are stored pixel by pixel."""
        begin, end = np.searchsorted(self._game.pixel, (pixel, pixel + 1)).tolist()
        return list(range(begin, end))

    def _advance(
        self,
        state: State,
        scores: np.ndarray,
        aim: int,
        options: list[int],
        states: list[State],
        answers: np.ndarray,
    ) -> tuple[State, np.ndarray]:
        """The state after the best option, or after several good ones when the way is long."""
        asked = ~np.isnan(answers[:, 0])
        if not asked.any():
            return state, answers[0]
        self._values.learn(options, scores, answers)
        closer = np.where(asked, answers[:, aim] - answers[:, self._goal.original], -np.inf)
        margins = np.where(asked, self._goal.margins(answers), -np.inf)
        if margins.max() > self._oracle.sure:
            best = int(margins.argmax())
        else:
            best = int(closer.argmax())
        gain = float(closer[best] - (scores[aim] - scores[self._goal.original]))
        # Far from the goal, one move at a time spends the calls on the way: take several.
        steps = int(-closer[best] / max(gain, 1e-9)) // LONG if gain > 0 else 0
        if steps < 2 or margins[best] > self._oracle.sure:
            return states[best], answers[best]
        several = state
        for place in np.argsort(-closer, kind="stable")[: min(steps, len(options) // 2)].tolist():
            several = self._game.play(several, options[place])
        return several, self._oracle.scores([several])[0]

    def _repair(self, final: State) -> Work:
        """Looks for examples with a pixel less, each from the one before."""
        while better := (yield from self._repairs.fewer(final)):
            final = yield from refined(self._oracle, self._goal, better)
            severity = self.record.iteration(final)
            reward = self.record.reward(severity)
            self._mixture.reward(self._owner[list(final)], reward)
            backpropagate([self.root], reward, severity)
            if self.record.over():
                return

    def _draw(self, aim: int) -> Work:
        """Repairs the best of some states that have a pixel less than the best example.

        The moves that close the gap most repair it, each time by other guesses of what they do.

        That is a start far from the best example for a tenth of the calls of a simulation.
        """
        size = len(self.record.best) - 1
        orders = [self._order(aim, 1.0, 1)[:size] for _ in range(DRAWN)]
        states = list(dict.fromkeys(tuple(sorted(order)) for order in orders if len(order) == size))
        if not states or not size:
            return
        margins = yield from margins_of(self._oracle, self._goal, states)
        best = states[int(margins.argmax())]
        self.record.iteration(best)
        yield from self._repair(best)
