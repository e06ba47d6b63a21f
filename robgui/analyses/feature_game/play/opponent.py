"""Whole games against a player II who does not help: an opponent, or chance.

Every game is played to its end and dealt anew from its own seed: the moves of each feature are put
in an order drawn from its Gaussian, and the first of them that are still free are its hand. Player
I picks a feature, player II one move of its hand. An opponent takes the one that serves player I
least, so player I picks the feature whose worst move is best; chance takes any of them alike, so
player I picks the best mean. What a move does is predicted from the effect of each move alone,
which is asked first; every position on the way is judged by the model. As soon as all positions
that are left fit into the look-ahead, the rest is enumerated and played exactly.

A game ends when the class changes, or when a quarter of the pixels are changed and it has not. So a
severity is that of a whole game, and how the players play does not depend on the calls allowed:
these only say how many games there are.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

import numpy as np

from robgui.analyses.feature_game.params import FeatureGameParams
from robgui.analyses.feature_game.play.deal import Deal
from robgui.analyses.feature_game.play.endgame import Endgame
from robgui.analyses.feature_game.play.game import EMPTY, State
from robgui.analyses.feature_game.play.record import WINDOW
from robgui.analyses.feature_game.play.tree import Node, backpropagate
from robgui.analyses.feature_game.play.values import Values
from robgui.analyses.feature_game.searching import Search, SearchSetup

#: Games played when the calls suffice.
GAMES = 15
#: Share of the pixels, and fewest pixels, whose change without a change of class ends a game.
LONGEST, SHORTEST = 0.25, 12
#: One-pixel moves whose effect is asked before the first game: all, or the most salient.
SCANNED = 2000
#: Looks at the model in a game that goes on to the end, and positions asked at each.
LOOKS, AT_ONCE = 50, 4
#: Moves asked in one batch of the first look; a stop is answered after each.
_SCAN_AT_ONCE = 64
#: Rounds of a game that the tree shows.
_SHOWN = 12


class OpponentSearch(Search):
    """Games against chance or an opponent, one after the other, each to its end.

    Attributes:
        games: Severity of every game that has ended; inf where the class has not changed.
    """

    def __init__(self, setup: SearchSetup) -> None:
        super().__init__(setup)
        params = setup.params
        self.games: list[float] = []
        self._player = setup.player
        self._values = Values(self._game, setup.goal, setup.oracle.start)
        if isinstance(params, FeatureGameParams):
            self._lookahead = params.lookahead
        else:
            self._lookahead = 0
        self._most = max(SHORTEST, round(LONGEST * len(self._game.image)))
        self._ends: list[State] = []

    def __iter__(self) -> Iterator[None]:
        yield from self._scan()
        # One seed per game, drawn before the first: more calls add games and change none.
        for seed in self._rng.integers(2**63, size=GAMES).tolist():
            if self.record.over():
                return
            end = yield from self._play(seed)
            if end is None:
                return
            self._keep(end)
            yield
        self.record.done = f"all {GAMES} games were played to their end"

    def _scan(self) -> Iterator[None]:
        """Asks what each move does alone, the most salient ones where there are too many."""
        first = self._game.first
        saliency = self._mixture.saliency().ravel()[self._game.pixel[first]]
        # Player II draws from the Gaussians, so these are the moves that mostly come up.
        chosen = first[np.argsort(-saliency, kind="stable")[:SCANNED]].tolist()
        for begin in range(0, len(chosen), _SCAN_AT_ONCE):
            part = chosen[begin : begin + _SCAN_AT_ONCE]
            scores = self._oracle.scores([(option,) for option in part])
            known = np.flatnonzero(~np.isnan(scores[:, 0]))
            self._values.scan([part[place] for place in known], scores[known])
            yield

    def _play(self, seed: int) -> Generator[None, None, State | None]:
        """One whole game: the state that ends it, empty without a change.

        None for want of calls.
        """
        rng = np.random.default_rng(seed)
        deal = Deal(self._game, self._mixture, rng)
        moves: list[tuple[int, int]] = []
        scores = self._oracle.start
        # Asking after every move would spend the budget on moves that change nothing.
        stride = max(1, math.ceil(self._most / LOOKS / AT_ONCE))
        while True:
            rest = Endgame(self._oracle, self._goal, self.record, self._most, self._player)
            exact = yield from rest.play(deal, moves, rng, self._lookahead)
            if exact is not None:
                if rest.complete:
                    return self._ended(moves, exact)
                return None
            begin = len(moves)
            for _ in range(min(AT_ONCE * stride, self._most - begin)):
                move = self._round(deal, scores, rng)
                if move is None:
                    break
                moves.append(move)
            if len(moves) == begin:
                return self._ended(moves, 0)
            won = yield from self._look(moves, begin, stride)
            if won is None:
                return None
            if won:
                return self._ended(moves, won)
            scores = self._oracle.scores([_state(moves, len(moves))])[0]

    def _round(
        self, deal: Deal, scores: np.ndarray, rng: np.random.Generator
    ) -> tuple[int, int] | None:
        """Both players move by what is predicted: the feature and the move; None without any."""
        hands = deal.hands()
        if not hands:
            return None
        options = [option for _, hand in hands for option in hand]
        margins = dict(zip(options, self._predicted(scores, options), strict=True))
        # Theorem 1: against either a deterministic strategy of player I is enough.
        judge = _mean if self._player == "nature" else min
        feature, hand = max(hands, key=lambda one: judge([margins[option] for option in one[1]]))
        if self._player == "nature":
            option = hand[int(rng.integers(len(hand)))]
        else:
            option = min(hand, key=margins.__getitem__)
        deal.take(option)
        return feature, option

    def _predicted(self, scores: np.ndarray, options: list[int]) -> list[float]:
        """The margin expected after each move; one never asked about is expected to do nothing."""
        known = [option for option in options if self._values.knows(option)]
        rows = self._values.rows(known)
        found = dict(zip(known, self._values.predict(scores, rows).tolist(), strict=True))
        if len(known) < len(options):
            nothing = float(self._goal.margins(scores))
            return [found.get(option, nothing) for option in options]
        return [found[option] for option in options]

    def _look(
        self, moves: list[tuple[int, int]], begin: int, stride: int
    ) -> Generator[None, None, int | None]:
        """After how many moves the class first changes, 0 if it does not, None for want of calls.

        Every ``stride`` moves are asked, then the moves between the last two by bisection.
        """
        counts = sorted({*range(begin + stride, len(moves) + 1, stride), len(moves)})
        before = begin
        while counts:
            states = [_state(moves, count) for count in counts]
            scores = self._oracle.scores(states)
            yield
            if np.isnan(scores).any():
                return None
            won = next((n for n, one in zip(counts, states, strict=True) if self._wins(one)), 0)
            if not won or won - before == 1:
                return won
            # The class changed somewhere since the last look: bisect to the first move that did it.
            below = [count for count in counts if count < won]
            before = below[-1] if below else before
            middle = (before + won) // 2
            if before < middle < won:
                counts = [middle, won]
            else:
                counts = []
            if not counts:
                return won
        return 0

    def _wins(self, state: State) -> bool:
        return self.record.wins(state)

    def _ended(self, moves: list[tuple[int, int]], won: int) -> State:
        """The state that ends the game, and the game as a path of the tree."""
        path = [self.root]
        for count in range(1, (won or len(moves)) + 1):
            path += self._walk(path[-1], moves[count - 1], _state(moves, count))
            if count >= _SHOWN:
                break
        end = _state(moves, won) if won else EMPTY
        if won:
            severity = self._game.severity(end)
        else:
            severity = math.inf
        # The reward of Section 3: the inverse of the severity.
        backpropagate(path, 1 / severity if won else 0.0, severity)
        return end

    def _walk(self, parent: Node, move: tuple[int, int], state: State) -> list[Node]:
        """The two nodes of a round below ``parent``; the tree shows what the games have played."""
        feature, option = move
        keypoint = next((node for node in parent.children if node.keypoint == feature), None)
        if keypoint is None:
            keypoint = Node(parent.state, keypoint=feature)
            parent.children.append(keypoint)
        child = next((node for node in keypoint.children if node.option == option), None)
        if child is None:
            child = Node(state, option=option)
            keypoint.children.append(child)
        return [keypoint, child]

    def _keep(self, end: State) -> None:
        """Records a finished game; the example is that of the median game."""
        self.games.append(self._game.severity(end) if end else math.inf)
        self._ends.append(end)
        order = sorted(range(len(self.games)), key=self.games.__getitem__)
        changed = [place for place in order if self._ends[place]]
        if changed:
            # The median game stands for all: the best would be luck, the
            # mean no game that was played.
            middle = order[(len(order) - 1) // 2]
            self.record.settle(self._ends[middle if middle in changed else changed[-1]])
        recent = self.games[-WINDOW:]
        middle_so_far = float(np.quantile(self.games, 0.5, method="inverted_cdf"))
        self.record.game(middle_so_far, self.games[-1], sum(recent) / len(recent))


def _mean(margins: list[float]) -> float:
    return sum(margins) / len(margins)


def _state(moves: list[tuple[int, int]], count: int) -> State:
    return tuple(sorted(option for _, option in moves[:count]))
