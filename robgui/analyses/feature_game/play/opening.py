"""The opening of the default search: what does each one-pixel move do?"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator

import numpy as np

from robgui.analyses.feature_game.play.game import Game, Goal
from robgui.analyses.feature_game.play.large.painting import Painting, patches_of, state_of
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord
from robgui.analyses.feature_game.play.refine import margins_of, refined
from robgui.analyses.feature_game.play.values import Values
from robgui.analyses.feature_game.searching import SearchSetup

#: All one-pixel moves are tried when they take at most this share of the calls.
WHOLE = 0.5
#: Of the moves of every second pixel this share is tried, and this number of classes is aimed at
#: when they are chosen. On six digits no pixel of the best example was among the others.
BESIDE, AIMED = 0.45, 4
#: Of what painting leaves, this share of the calls goes to exchange before single moves are tried;
#: all of it while the example has more pixels than ``FEW``: no few single moves will do there.
EXCHANGED, FEW = 0.7, 24
#: Where no painting of the whole image changes the class, as for a class that means "nothing", this
#: share of the calls goes to painting single keypoints, and this number of examples is refined.
PATCHED, REFINED = 0.15, 2
#: After that, this share of what is left goes to moves by saliency, and the same share to each of
#: two rounds around the best of them.
SAMPLED, ROUNDS = 0.12, 2
#: Such a round tries the neighbours of this share of the known moves, the best ones.
BEST = 0.05
#: Moves asked between two looks at the result.
_AT_ONCE = 64


def opening(
    setup: SearchSetup,
    values: Values,
    record: SearchRecord,
    exchange: Callable[[float], Iterable[None]],
) -> Iterator[None]:
    """Scans one-pixel moves into ``values`` and offers every example among them to ``record``.

    In a large image it paints first; ``exchange`` makes smaller what that has found.
    """
    oracle, goal, mixture, rng = setup.oracle, setup.goal, setup.mixture, setup.rng
    first = oracle.game.first
    calls = oracle.left
    yield from _scan(oracle, goal, values, record, first[np.isin(first, oracle.known_singles())])
    if record.over():
        return
    if len(first) - len(values.options) <= WHOLE * calls:
        yield from _small(oracle, goal, values, record)
        return
    saliency = mixture.saliency().ravel()[oracle.game.pixel]
    if oracle.game.norm == "l0":
        if not record.nearest:  # Gradients may have found an example.
            yield from Painting(setup.apart(), record)
        if record.nearest:
            # The features whose pixels made the example are rewarded (the
            # mutable saliency of Section 2).
            owners = mixture.owners().ravel()[oracle.game.pixel[list(record.nearest)]]
            mixture.reward(owners, 1.0)
            yield from exchange(EXCHANGED)
            if len(record.nearest) > FEW:
                # Still far from few: single moves would not help, so all calls go on exchanging.
                yield from exchange(1.0)
        else:
            count = max(16, int(PATCHED * calls))
            yield from _patches(setup, record, saliency, count)
        yield from _scan(oracle, goal, values, record, np.setdiff1d(record.best, values.options))
    count = max(16, int(SAMPLED * (oracle.left if record.nearest else calls)))
    yield from _scan(oracle, goal, values, record, _by_saliency(saliency[first], first, count, rng))
    for _ in range(ROUNDS):
        if record.over():
            return
        yield from _scan(oracle, goal, values, record, _around_best(oracle, goal, values, count))


def _small(oracle: Oracle, goal: Goal, values: Values, record: SearchRecord) -> Iterator[None]:
    """The one-pixel moves of a small image that promise something.

    Under l0 every second pixel is tried, as on a chessboard, then ``BESIDE`` of the other moves:
    those beside the moves that help most. If two pixels change the class, the rest is tried too:
    one may do.
    """
    game = oracle.game
    if game.norm == "l0":
        width = game.shape[2]
        # Neighbouring pixels do alike, so the tried half tells where
        # the other half is worth trying.
        dark = (game.pixel // width + game.pixel % width) % 2 == 0
        yield from _scan(oracle, goal, values, record, np.flatnonzero(dark))
        if record.over():
            return
        other = np.flatnonzero(~dark)
        order = np.argsort(-_beside(game, values)[other], kind="stable")
        yield from _scan(oracle, goal, values, record, other[order[: int(BESIDE * len(other))]])
        record.surveyed = True
    else:
        yield from all_moves(oracle, goal, values, record)


def _beside(game: Game, values: Values) -> np.ndarray:
    """``(M,)`` the rank of the best known move in the same colour beside each option.

    Moves are ranked for the class that each serves best.
    """
    table = game.by_colour()
    height, width = game.shape[1:]
    rows = np.arange(len(values.options))
    best = np.zeros(len(game.pixel))
    for aim in values.aims()[:AIMED]:
        gains = np.full(len(game.pixel) + 1, -np.inf)  # the last for pixels without the option
        gains[values.options] = values.gains(rows, aim)
        picture = gains[table].reshape(height, width, -1)
        grid = np.pad(picture, ((1, 1), (1, 1), (0, 0)), constant_values=-np.inf)
        near = np.maximum.reduce(
            [grid[:-2, 1:-1], grid[2:, 1:-1], grid[1:-1, :-2], grid[1:-1, 2:]]
        ).reshape(len(table), -1)
        promise = np.zeros(len(game.pixel))
        promise[table[table >= 0]] = near[table >= 0]
        # Ranks, since gains towards different classes have different scales.
        best = np.maximum(best, promise.argsort(kind="stable").argsort(kind="stable"))
    return best


def all_moves(oracle: Oracle, goal: Goal, values: Values, record: SearchRecord) -> Iterator[None]:
    """Tries every one-pixel move that has not been tried."""
    first = oracle.game.first
    yield from _scan(oracle, goal, values, record, first[~np.isin(first, values.options)])
    if values_known(values, first):
        record.all_singles_known()


def _patches(
    setup: SearchSetup, record: SearchRecord, saliency: np.ndarray, count: int
) -> Generator[None, None, None]:
    """Paints whole keypoints.

    Refines the smallest example among them and makes pixels of promising patches more salient.
    """
    oracle, goal, mixture = setup.oracle, setup.goal, setup.mixture
    patches = [state_of(patch) for patch in patches_of(oracle.game, mixture, count)]
    margins = yield from margins_of(oracle, goal, patches)
    if not len(margins):
        return
    best = float(goal.margins(oracle.start))
    for patch, margin in zip(patches, margins.tolist(), strict=True):
        # A patch that closes a tenth of the gap doubles the chance of its pixels.
        saliency[list(patch)] *= 1 + 10 * max(0.0, margin - best) / max(abs(best), 1e-9)
    won = sorted((patch for patch in patches if record.wins(patch)), key=len)
    for patch in won[:REFINED]:
        final = yield from refined(oracle, goal, patch)
        mixture.reward(
            mixture.owners().ravel()[oracle.game.pixel[list(final)]],
            record.reward(record.iteration(final)),
        )


def values_known(values: Values, options: np.ndarray) -> bool:
    """Whether all these options have been tried."""
    return bool(np.isin(options, values.options).all())


def _scan(
    oracle: Oracle, goal: Goal, values: Values, record: SearchRecord, options: np.ndarray
) -> Iterator[None]:
    for begin in range(0, len(options), _AT_ONCE):
        part = options[begin : begin + _AT_ONCE].tolist()
        scores = oracle.scores([(option,) for option in part])
        known = np.flatnonzero(~np.isnan(scores[:, 0]))
        values.scan([part[place] for place in known], scores[known])
        margins = goal.margins(scores[known])
        if len(known) and margins.max() > oracle.sure:
            record.offer((part[int(known[margins.argmax()])],))
        yield
        if record.over():
            return


def _by_saliency(
    saliency: np.ndarray, options: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Different options, drawn in proportion to the saliency of their pixels (Gumbel's trick)."""
    # Gumbel noise on log-saliency: the largest sums are a draw without replacement by saliency.
    keys = np.log(np.maximum(saliency, 1e-12)) + rng.gumbel(size=len(saliency))
    return np.asarray(options[np.argsort(-keys, kind="stable")[:count]])


def _around_best(oracle: Oracle, goal: Goal, values: Values, count: int) -> np.ndarray:
    """Options not yet tried around the best ones known, the better ones' neighbours first."""
    game = oracle.game
    height, width = game.shape[1:]
    rows = np.arange(len(values.options))
    order = np.argsort(-values.predict(oracle.start, rows), kind="stable")
    pixels = game.pixel[values.options[order[: max(4, int(BEST * len(order)))]]]
    rank = np.full(height * width, len(pixels))
    y, x = pixels // width, pixels % width
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            inside = (y + dy >= 0) & (y + dy < height) & (x + dx >= 0) & (x + dx < width)
            # A pixel beside several good ones takes the rank of the best.
            np.minimum.at(rank, ((y + dy) * width + x + dx)[inside], np.flatnonzero(inside))
    first = game.first[~np.isin(game.first, values.options)]
    near = first[rank[game.pixel[first]] < len(pixels)]
    return np.asarray(near[np.argsort(rank[game.pixel[near]], kind="stable")[:count]])
