"""Fewer pixels on a large image: a few better ones come in, and more of the weaker ones go.

At the border of the class a pixel more or less moves the margin by something that can be measured,
although it moves the scores of the unmodified image by next to nothing. A round tries pixels on top
of the best example, takes the best of them together, tries which of the old ones can be spared, and
takes back as many as still leave the class changed. Every example that is accepted is smaller than
the one before, or as small and surer.

While the example is large, groups of pixels are tried instead of single ones, about ``GROUPS`` of
them whatever its size: a round costs as much on thousands of pixels as on fifty. What a group
costs is shared out over its pixels; each round groups them in another way, so what a single pixel
costs becomes known.

New pixels are looked for in several ways (``sites``). None of them is best in every image, so each
gets the calls that it has earned (``arms``): the tree too.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from robgui.analyses.feature_game.play.game import State
from robgui.analyses.feature_game.play.large.arms import Arms
from robgui.analyses.feature_game.play.large.sites import WAYS, Sites, Way
from robgui.analyses.feature_game.play.record import SearchRecord
from robgui.analyses.feature_game.play.slope import best_options
from robgui.analyses.feature_game.play.tree import Node, backpropagate
from robgui.analyses.feature_game.searching import SearchSetup

#: Groups into which a large example is divided. One with fewer than twice as many pixels is
#: exchanged pixel by pixel.
GROUPS = 32
#: Groups tried in a round; of single pixels half as many as the example has, within these bounds.
FEWEST, MOST = 16, 64
#: Groups tried for each one that comes in.
ONE_OF = 6
#: What a changed pixel is worth is measured once; of the cheapest a part is measured again.
AGAIN = 2
#: How many go is bisected down to this share of the example.
EXACT = 0.01
#: Rounds in a row without a smaller example that end it.
PATIENCE = 4
#: States asked between two looks at the result.
_AT_ONCE = 32

Margins = Generator[None, None, np.ndarray]
#: The way a group was found, its feature, and its options.
Tried = tuple[Way, Node, State]


class Exchange:
    """Makes the best example smaller; iterating does the work."""

    def __init__(self, setup: SearchSetup, record: SearchRecord, root: Node) -> None:
        oracle, goal, rng = setup.oracle, setup.goal, setup.rng
        self._oracle = oracle
        self._game = oracle.game
        self._goal = goal
        self._record = record
        self._root = root
        self._rng = rng
        # With these, gradients propose pixels, and features only count them.
        self._gradients = setup.params.gradients
        self._last_call = oracle.calls + oracle.left
        self._state = record.nearest
        self._margin = float(goal.margins(oracle.scores([record.nearest])[0]))
        self._losses: dict[int, float] = {}
        self._turn = 0
        self._sites = Sites(self._game, setup.mixture, root, setup.score, rng)
        self._arms: Arms[Way] = Arms(WAYS, rng.spawn(1)[0])

    def __iter__(self) -> Generator[None, None, None]:
        failed = 0
        while failed < PATIENCE and len(self._state) > 1 and not self._over():
            before = len(self._state)
            yield from self.one_round()
            if len(self._state) < before:
                failed = 0
            else:
                failed = failed + 1

    def again(self, share: float) -> Exchange:
        """The same, which knows what its pixels are worth, with a share of the calls left now."""
        self._last_call = self._oracle.calls + int(share * self._oracle.left)
        if len(self._record.nearest) < len(self._state):
            self._state = self._record.nearest
            self._margin = float(self._goal.margins(self._oracle.scores([self._state])[0]))
        return self

    def _over(self) -> bool:
        return self._record.over() or self._oracle.calls >= self._last_call

    def one_round(self) -> Generator[None, None, None]:
        """Some better pixels come in, more of the weaker ones go."""
        group = max(1, len(self._state) // GROUPS)
        added = yield from self._better(group)
        # First more pixels, then fewer: at the border of the class a
        # swap of one for one seldom pays.
        larger = self._with(added)
        parts = self._parts(larger, group)
        margins = yield from self._margins([larger, *(_less(larger, set(one)) for one in parts)])
        # For want of calls: half-known losses would mislead the next round.
        if not np.isfinite(margins).all():
            return
        margin = float(margins[0])
        for part, left in zip(parts, margins[1:].tolist(), strict=True):
            self._learn(part, margin - left)
        yield from self._spare(larger, margin)

    def _better(self, group: int) -> Generator[None, None, State]:
        """The best of the groups that are tried, by their gain for each new pixel."""
        count = FEWEST if group > 1 else _bounded(len(self._state))
        tried = self._candidates(count, group)
        states = [self._with(options) for _, _, options in tried]
        margins = yield from self._margins(states)
        gains = margins - self._margin
        new = np.array([max(1, len(state) - len(self._state)) for state in states])
        # Per pixel: a group that gains twice as much with four times the pixels is the worse one.
        rates = gains / new
        best = np.argsort(-rates, kind="stable")[: max(1, len(tried) // ONE_OF)].tolist()
        chosen = [place for place in best if gains[place] > 0]
        for place in np.flatnonzero(np.isfinite(margins)).tolist():
            way, node, _ = tried[place]
            backpropagate([self._root, node], float(place in chosen))
            self._arms.learn(way, float(place in chosen))
        added: dict[int, int] = {}
        for place in chosen:
            options = tried[place][2]
            self._losses.update(dict.fromkeys(options, float(gains[place]) / len(options)))
            for option in options:
                added.setdefault(int(self._game.pixel[option]), option)
        return tuple(added.values())

    def _parts(self, larger: State, group: int) -> list[State]:
        """Options to take back to see their cost: single ones, unknown first, or all in groups."""
        if group > 1:
            self._turn += 1
            return self._grouped(np.array(larger), group)
        unknown = [option for option in larger if option not in self._losses]
        known = sorted(set(larger) - set(unknown), key=lambda option: self._losses[option])
        count = _bounded(len(self._state))
        tried = [unknown[place] for place in self._rng.permutation(len(unknown))[:count].tolist()]
        tried += known[: max(0, count // AGAIN - len(tried))]
        return [(option,) for option in tried]

    def _grouped(self, options: np.ndarray, group: int) -> list[State]:
        """Groups of options: in turn those that lie together, any, and those that cost alike."""
        chance = self._rng.random(len(options))
        match self._turn % 3:
            case 1:
                width = self._game.shape[2]
                side = max(1, int((group * len(self._game.image) / len(options)) ** 0.5))
                # A shifted grid in each round: pixels that were neighbours
                # across a border come together.
                dy, dx = self._rng.integers(0, side, 2).tolist()
                pixel = self._game.pixel[options]
                y, x = (pixel // width + dy) // side, (pixel % width + dx) // side
                order = np.lexsort((chance, x, y))
            case 2:
                order = np.argsort(chance)
            case _:
                losses = np.array([self._losses.get(one, 0.0) for one in options.tolist()])
                order = np.lexsort((chance, losses))
        parts = np.array_split(options[order], max(2, len(options) // group))
        return [tuple(part.tolist()) for part in parts]

    def _learn(self, part: State, loss: float) -> None:
        """Shares out what taking back a group costs, on top of what is known of its pixels."""
        believed = [self._losses.get(option, loss / len(part)) for option in part]
        # What the group cost beyond the sum of beliefs is spread evenly, as its owner is unknown.
        wrong = (loss - sum(believed)) / len(part)
        self._losses.update(
            {option: one + wrong for option, one in zip(part, believed, strict=True)}
        )

    def _candidates(self, count: int, group: int) -> list[Tried]:
        """Options that are not in the example, with the way they came and their feature."""
        self._sites.around(self._state)
        if self._gradients:
            return self._by_gradient(count, group)
        found: dict[State, tuple[Way, Node]] = {}
        lent: list[Node] = []
        inside = set(self._state)
        for _ in range(4 * count):
            way = self._arms.pick()
            node, drawn = self._sites.drawn(way, group)
            node.visits += 1  # A virtual loss, so that a round does not try one feature alone.
            lent.append(node)
            options = tuple(one for one in drawn if one not in inside)
            if options:
                # A draw may repeat; asked once, it belongs to the way that drew it first.
                found.setdefault(options, (way, node))
            if len(found) == count:
                break
        for node in lent:
            node.visits -= 1
        return [(way, node, options) for options, (way, node) in found.items()]

    def _by_gradient(self, count: int, group: int) -> list[Tried]:
        best = best_options(self._oracle, self._goal, self._state)[: count * group]
        parts = [best[begin : begin + group] for begin in range(0, len(best), group)]
        return [("feature", self._sites.owner(part[0]), tuple(part.tolist())) for part in parts]

    def _spare(self, larger: State, margin: float) -> Generator[None, None, None]:
        """Takes back as many options as still leave the class changed.

        Those that cost least by what is known go first; how many is guessed as if losses added up,
        then bisected.
        """
        known = [option for option in larger if option in self._losses]
        order = sorted(known, key=lambda option: self._losses[option])
        losses = np.cumsum([self._losses[option] for option in order])
        # One pixel must stay: without any the class is the original.
        low, high = 0, min(len(order), len(larger) - 1) + 1
        middle = min(max(1, int((losses < margin).sum())), high - 1)
        best: tuple[State, float] = (larger, margin)
        while high - low > max(1, EXACT * len(larger)):
            state = _less(larger, set(order[:middle]))
            (found,) = yield from self._margins([state])
            if not np.isfinite(found):
                break
            # Not just above 0: in another batch a margin within rounding could be lost again.
            if found > self._oracle.sure:
                low, best = middle, (state, float(found))
            else:
                high = middle
            middle = (low + high) // 2
        state, found = best
        fewer = len(state) < len(self._state)
        if fewer or (len(state) == len(self._state) and found > self._margin):
            self._state, self._margin = state, found

    def _margins(self, states: list[State]) -> Margins:
        """Margins ``(n,)``; -inf where there were no calls left.

        The smallest that wins is offered to the record; the others are forgotten.
        """
        parts = [np.zeros(0)]
        for begin in range(0, len(states), _AT_ONCE):
            asked = states[begin : begin + _AT_ONCE]
            scores = self._oracle.tried(asked)
            margins = self._goal.margins(scores)
            parts.append(np.where(np.isnan(margins), -np.inf, margins))
            won = np.flatnonzero(parts[-1] > self._oracle.sure).tolist()
            least = min(won, key=lambda place: len(asked[place]), default=None)
            if least is not None and len(asked[least]) < len(self._record.nearest):
                self._oracle.remember(asked[least], scores[least])
                self._record.iteration(asked[least])
            yield
        return np.concatenate(parts)

    def _with(self, options: State) -> State:
        """The example with these options in place of others of the same pixels."""
        pixels = set(self._game.pixel[list(options)].tolist())
        kept = [one for one in self._state if self._game.pixel[one] not in pixels]
        return tuple(sorted([*kept, *options]))


def _bounded(size: int) -> int:
    return min(MOST, max(FEWEST, size // 2))


def _less(state: State, options: set[int]) -> State:
    return tuple(other for other in state if other not in options)
