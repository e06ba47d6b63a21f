"""Algorithm 1 as published: for the preset ``paper`` and a player II who does not help.

Selection walks down by upper confidence bounds. Expansion gives the leaf a child for each keypoint,
with a pixel drawn from the keypoint's Gaussian and a random instruction, and scores all in one
batch. A simulation plays on at random from each of them, all in lockstep: player I picks a keypoint
by response, player II is nature. Rewards go back to the root. When the time of a move is over,
player I takes the keypoint with the best mean reward, player II answers according to its kind, and
the game goes on from there until the class changes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator

import numpy as np

from robgui.analyses.feature_game.params import Player
from robgui.analyses.feature_game.play.game import EMPTY, State
from robgui.analyses.feature_game.play.random_play import Play, RandomPlay, between
from robgui.analyses.feature_game.play.refine import refined
from robgui.analyses.feature_game.play.tree import Node, backpropagate, choose, select, widened
from robgui.analyses.feature_game.searching import Search, SearchSetup

#: Moves after which a random play is given up.
LONGEST = 200
#: Keypoints that become children of a leaf, the weightiest, and pixels of each; a player II who
#: chooses needs some to choose from.
BREADTH: dict[Player, tuple[int, int]] = {
    "cooperative": (16, 1),
    "nature": (6, 3),
    "adversarial": (6, 3),
}
#: Lengths of a random play that are looked at first when it is not followed move by move.
_LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, LONGEST)
#: Tries to draw a pixel that can still be changed before a keypoint counts as exhausted.
_DRAWS = 20


class PublishedSearch(Search):
    """One search with any player II.

    With a cooperative player II every example seen counts. With the others only the end of the game
    played move by move does, unrefined: that is the severity player I can force. Their simulations
    are not followed move by move, which saves most of the calls: a whole random play is drawn and
    the length at which it wins is found by bisection.
    """

    def __init__(self, setup: SearchSetup) -> None:
        super().__init__(setup)
        self._now = self.root
        self._player = setup.player
        if setup.params.distance is None:
            self._farthest = math.inf
        else:
            self._farthest = setup.params.distance
        self._at: dict[int, list[int]] = {}
        self._pixels: list[int] = self._game.pixel.tolist()
        for option in self._game.first.tolist():
            self._at.setdefault(self._pixels[option], []).append(option)
        self._chances = setup.mixture.prior.cumsum()
        # Made when first drawn from: 256 keypoints times all pixels would be large.
        self._within: dict[int, np.ndarray] = {}
        # A guess until the first plays have ended; it only shares out the calls.
        self._length = 8.0

    def __iter__(self) -> Iterator[None]:
        while not self.record.over():
            yield from self._search_move()
            if not self._move():
                break
            if self._ended(self._now.state):
                self.record.iteration(self._now.state)
                if self._player != "cooperative":
                    return
                self._now = self.root
        if self._player != "cooperative" and not self.record.best:
            yield from self._play_out()

    def _search_move(self) -> Iterator[None]:
        """Searches until tc2 is met: time, iterations, or this move's share of the calls."""
        # tc2 of Algorithm 1; tc1, the end of the whole search, is ``record.over``.
        began, calls, left = time.monotonic(), self._oracle.calls, self._oracle.left
        iterations = 0
        while not self.record.over():
            yield from self._iterate()
            iterations += 1
            if self._params.move_seconds and time.monotonic() - began >= self._params.move_seconds:
                return
            if not self._params.move_seconds and iterations >= self._params.move_iterations:
                return
            # A game against an opponent must reach its end, so a move gets only its share of the
            # calls.
            if self._player != "cooperative" and self._oracle.calls - calls >= left / (
                1 + self._length
            ):
                return

    def _iterate(self) -> Iterator[None]:
        path = self._select()
        plays = self._expand(path)
        self.record.idle(not plays)
        if not plays:
            won = self.record.wins(path[-1].state)
            backpropagate(
                path, self.record.reward(self._game.severity(path[-1].state)) if won else 0.0
            )
            return
        ends = yield from (
            self._followed(plays) if self._player == "cooperative" else self._drawn(plays)
        )
        best = min((end for end in ends if end), key=self._game.severity, default=EMPTY)
        if self._player == "cooperative":
            if best and self._params.refine:
                best = yield from refined(self._oracle, self._goal, best)
            self.record.iteration(best)
        else:
            self.record.draw(self._game.severity(best) if best else math.inf)
        self._reward(plays, ends)

    def _reward(self, plays: list[Play], ends: list[State]) -> None:
        """Backpropagation; rewards are measured by the least severity seen so far."""
        # Section 3 rewards a play with 1/severity. Divided by the best one, rewards lie in [0, 1],
        # where UCB's bonus neither swamps them nor is lost beside them.
        severities = [self._game.severity(end) if end else math.inf for end in ends]
        least = min(self.root.best, self.record.severity, *severities)
        for play, severity in zip(plays, severities, strict=True):
            if math.isfinite(severity) and severity > 0:
                reward = least / severity
            else:
                reward = 0.0
            if self._now is self.root:
                path = play.path
            else:
                path = [self.root, *play.path]
            backpropagate(path, reward, severity)
            self._mixture.reward(
                np.array(
                    [node.keypoint for node in play.path if node.keypoint >= 0], dtype=np.int64
                ),
                reward,
            )

    def _select(self) -> list[Node]:
        """The path from the present state to a leaf, or to a keypoint with room for a child."""
        path = [self._now]
        while path[-1].children:
            keypoint = select(path[-1], self._score)
            path.append(keypoint)
            if len(keypoint.children) < widened(keypoint.visits, 1.0):
                return path
            path.append(select(keypoint, self._score))
        return path

    def _expand(self, path: list[Node]) -> list[Play]:
        """New children of the leaf: pixels of each keypoint, or one more of the last keypoint."""
        leaf = path[-1]
        if leaf.keypoint >= 0:
            child = self._child(leaf) or select(leaf, self._score)
            return [Play([*path, child], child.state)]
        if self._ended(leaf.state):
            return []
        keypoints, pixels = BREADTH[self._player]
        weights = self._mixture.weights
        plays = []
        for k in np.argsort(-weights, kind="stable")[:keypoints].tolist():
            parent = Node(leaf.state, keypoint=k, prior=float(weights[k]))
            children = [
                child for child in (self._child(parent) for _ in range(pixels)) if child is not None
            ]
            plays += [Play([*path, parent, child], child.state) for child in children]
            leaf.children += [parent] if children else []
        return plays

    def _child(self, keypoint: Node) -> Node | None:
        """One more child of a keypoint; None if the drawn pixel has one already or none is left."""
        option = self._draw(keypoint.state, keypoint.keypoint)
        if option < 0 or any(child.option == option for child in keypoint.children):
            return None
        child = Node(
            self._game.play(keypoint.state, option),
            option=option,
            prior=1 / (1 + len(keypoint.children)),
        )
        keypoint.children.append(child)
        return child

    def _draw(self, state: State, keypoint: int) -> int:
        """Nature's choice: a changeable pixel from the keypoint's Gaussian, and an instruction.

        It is -1 if none is left.
        """
        return self._first_free(
            self._chances_within(keypoint), {self._pixels[option]: option for option in state}
        )

    def _chances_within(self, keypoint: int) -> np.ndarray:
        """The distribution function over the pixels of a keypoint."""
        if keypoint not in self._within:
            self._within[keypoint] = self._mixture.within(keypoint).ravel().cumsum()
        return self._within[keypoint]

    def _first_free(self, chances: np.ndarray, used: dict[int, int]) -> int:
        """The first pixel drawn that can still change, with one of its instructions.

        ``used`` has the options in place by pixel.
        """
        for pixel in np.searchsorted(chances, self._rng.random(_DRAWS) * chances[-1]).tolist():
            options = self._reachable(pixel, used.get(pixel, -1))
            if options:
                return options[int(self._rng.integers(len(options)))]
        return -1

    def _reachable(self, pixel: int, chosen: int) -> list[int]:
        """The options of a pixel that one move reaches when ``chosen`` is in place."""
        if chosen < 0:
            return self._at.get(pixel, [])
        further = int(self._game.stronger[chosen])
        if further >= 0:
            return [further]
        return []

    def _followed(self, plays: list[Play]) -> Generator[None, None, list[State]]:
        """Plays all games on at random in lockstep, move by move.

        The winning state of each, or the empty one.
        """
        states = [play.state for play in plays]
        for _ in range(LONGEST):
            self._oracle.scores(states)
            yield
            alive = [i for i, state in enumerate(states) if not self._ended(state)]
            if not alive or not self._oracle.left:
                break
            for i in alive:
                states[i] = self._random_move(states[i])
        return [state if self.record.wins(state) else EMPTY for state in states]

    def _drawn(self, plays: list[Play]) -> Generator[None, None, list[State]]:
        """Draws a whole random play for each and finds the length at which it wins.

        The winning states, or the empty one.
        """
        games = [self._random_play(play.state) for play in plays]
        lengths = [sorted({min(length, game.length) - 1 for length in _LENGTHS}) for game in games]
        ends: list[State] = [EMPTY] * len(plays)
        while any(lengths):
            self._oracle.scores(
                [
                    game.after(at)
                    for game, looked in zip(games, lengths, strict=True)
                    for at in looked
                ]
            )
            yield
            for i, (game, looked) in enumerate(zip(games, lengths, strict=True)):
                won = next(
                    (place for place, at in enumerate(looked) if self.record.wins(game.after(at))),
                    None,
                )
                if won is not None:
                    ends[i] = game.after(looked[won])
                lengths[i] = between(looked, won)
        moves = [len(end) - len(self._now.state) for end in ends if end]
        if moves:
            self._length = float(np.mean(moves))
        return ends

    def _random_play(self, state: State) -> RandomPlay:
        """Draws the moves of one random play from a state on."""
        used = {self._pixels[option]: option for option in state}
        moves: list[int] = []
        keypoints = np.searchsorted(self._chances, self._rng.random(LONGEST) * self._chances[-1])
        for keypoint in keypoints.tolist():
            option = self._first_free(self._chances_within(keypoint), used)
            if option < 0:
                break
            moves.append(option)
            used[self._pixels[option]] = option
        return RandomPlay(self._game, state, moves)

    def _random_move(self, state: State) -> State:
        """Player I picks a keypoint by response, player II is nature.

        The state itself when nothing can be changed.
        """
        option = self._draw(
            state, int(np.searchsorted(self._chances, self._rng.random() * self._chances[-1]))
        )
        if option >= 0:
            return self._game.play(state, option)
        return state

    def _ended(self, state: State) -> bool:
        """Whether the game is over: won, too far away, or unknown for want of calls."""
        if not state:
            return False
        return (
            not self._oracle.knows(state)
            or self._game.severity(state) > self._farthest
            or self.record.wins(state)
        )

    def _move(self) -> bool:
        """Both players move: I takes the best keypoint, II answers; False when there is no move."""
        keypoints = [child for child in self._now.children if child.children]
        if not keypoints:
            return False
        # Of equal means the one visited more often: it is known better.
        keypoint = max(keypoints, key=lambda child: (child.mean, child.visits))
        within = self._mixture.within(keypoint.keypoint).ravel()
        weights = np.array([within[self._game.pixel[child.option]] for child in keypoint.children])
        self._now = choose(keypoint.children, self._player, weights, self._rng)
        return True

    def _play_out(self) -> Iterator[None]:
        """The rest of a game for which the calls did not suffice, at random, from the reserve."""
        game = self._random_play(self._now.state)
        # About twenty looks, which the reserve can pay for.
        states = [game.after(count) for count in range(0, game.length, max(1, game.length // 20))]
        self._oracle.scores(states, urgent=True)
        yield
        won = next((state for state in states if self.record.wins(state)), EMPTY)
        if won:
            self.record.iteration(won)
