"""Results of semantic maps, regions and the safe share of the range."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robgui.analyses.semantic.params import IMAGE
from robgui.analyses.semantic.scene.scene import SceneAxis


def _none(*shape: int, dtype: type = float) -> np.ndarray:
    """Default of a field that a result of the first edition lacks."""
    return np.zeros(shape, dtype=dtype)


#: Classes listed in a Sight.
TOP = 5


@dataclass(frozen=True, slots=True)
class Sight:
    """What a network sees at a place of a scene.

    Attributes:
        name: What to call the scene.
        image: ``(c, h, w)`` float32 in [0, 1], as the network sees it.
        classes: The best classes, the best first, with their ``names`` and ``shares``.
        axes: All parameters of the scene.
        usual: Names of those that vary by default.
        notes: What was changed while a mesh was read.
    """

    name: str
    image: np.ndarray
    classes: tuple[int, ...]
    names: tuple[str, ...]
    shares: tuple[float, ...]
    axes: tuple[SceneAxis, ...]
    usual: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Traps:
    """P traps, worst first: spots of low score inside a connected region of high score.

    Attributes:
        at: ``(P, n)`` where the score is lowest, in the units of the axes.
        score: ``(P,)`` the score there.
        wall: ``(P,)`` mean score of the cells around the trap.
        cells: ``(P,)`` cells of the map with a score below the wall.
        top1: ``(P,)`` class the network sees there.
        network: ``(P,)`` place among the networks.
        shape: ``(P,)`` place among the shapes.
        images: ``(I, c, h, w)`` float32 in [0, 1], what the network saw at the first I of them.
    """

    at: np.ndarray
    score: np.ndarray
    wall: np.ndarray
    cells: np.ndarray
    top1: np.ndarray
    network: np.ndarray
    shape: np.ndarray
    images: np.ndarray


@dataclass(frozen=True, slots=True)
class MapResult:
    """Scores of a class over one or two parameters, for M networks and K shapes.

    Nan where nothing is known yet.

    Rows (H) are the second axis, columns (W) the first; a map over one axis has a single row. A
    cell that is not yet computed shows the value of the coarser cell that it lies in.

    Attributes:
        axes: The one or two parameters that vary, with the ranges used.
        x: ``(W,)`` values of the first axis.
        y: ``(H,)`` values of the second axis; ``(1,)`` nan without one.
        score: ``(H, W)`` mean over networks and shapes: the map itself when there is one of each,
            else the DSM.
        top1: ``(H, W)`` class the first network sees in the first shape, -1 where nothing is known.
        scores: ``(M, K, H, W)`` score of every network on every shape.
        tops: ``(M, K, H, W)`` their classes, -1 where nothing is known.
        computed: ``(M, K, H, W)`` bool, whether a cell itself has been computed.
        target: ``(K,)`` class whose score is shown for each shape, -1 while it is not known.
        networks: ``(M,)`` names.
        shapes: ``(K,)`` names.
        specs: ``(K,)`` what ``scene_of`` makes each of them from again.
        labels: Class names.
        scene_axes: All parameters of the first scene.
        values: ``(len(scene_axes),)`` where they stand; the varied ones are overwritten.
        traps: Filled when the map is complete.
        model_calls: Images that the networks have seen.
        top_scores: ``(M, K, H, W)`` score of the class on top, nan where nothing is known; empty
            in results of the first edition.
    """

    axes: tuple[SceneAxis, ...]
    x: np.ndarray
    y: np.ndarray
    score: np.ndarray
    top1: np.ndarray
    scores: np.ndarray
    tops: np.ndarray
    computed: np.ndarray
    target: np.ndarray
    networks: tuple[str, ...]
    shapes: tuple[str, ...]
    specs: tuple[str, ...]
    labels: tuple[str, ...]
    scene_axes: tuple[SceneAxis, ...]
    values: np.ndarray
    traps: Traps
    model_calls: int
    top_scores: np.ndarray = field(default_factory=lambda: _none(0, 0, 0, 0))


@dataclass(frozen=True, slots=True)
class RegionsResult:
    """S regions (every start with every method) in n parameters after T steps.

    S is 0 while the scene is looked at first.

    On a periodic axis a bound may lie outside the range: -30 to 30 of 0 to 360 is one region across
    the seam.

    Attributes:
        axes: The n parameters that vary, with the ranges used.
        low: ``(S, n)`` lower bounds.
        high: ``(S, n)`` upper bounds.
        trace: ``(S, T + 1, 2, n)`` float32, the bounds after every step, first those at the start.
        loss: ``(S, T)`` float32, the loss that each step began with.
        method: ``(S,)`` box, naive, oir_b or oir_w.
        start: ``(S, n)`` where each region grew from.
        start_number: ``(S,)`` number of that start.
        start_score: ``(S,)`` score there.
        start_top1: ``(S,)`` class there.
        grown: ``(S,)`` bool, whether it was let grow: a start without the class is not.
        converged: ``(S,)`` bool, whether all its bounds have come to rest.
        hit_domain: ``(S,)`` bool, whether a bound is at the end of its range.
        never_grew: ``(S,)`` bool, whether it is no larger than it was.
        volume: ``(S,)`` share of the whole range that it fills.
        inside_mean: ``(S,)`` mean score inside; nan until the growing is over.
        inside_var: ``(S,)`` variance of the score inside.
        holds: ``(S,)`` bool, whether mean and variance are as eps_m and eps_v ask.
        warnings: What is wrong with starts, one sentence each.
        inside_points: ``(S, E, n)`` a few points inside; E is 0 until the growing is over.
        inside_pictures: ``(S, E, h, w, 3)`` uint8, small pictures of them.
        inside_scores: ``(S, E)`` their scores.
        inside_top1: ``(S, E)`` their classes.
        outside_points: ``(S, E, n)`` a few points just outside; the rest as inside.
        outside_pictures: ``(S, E, h, w, 3)`` uint8.
        outside_scores: ``(S, E)``.
        outside_top1: ``(S, E)``.
        map_x: ``(W,)`` values of the first axis of a coarse map to draw on.
        map_y: ``(H,)`` values of its second axis; ``(1,)`` nan with one axis, ``(0,)`` with more
            than two.
        map_score: ``(H, W)`` that map.
        network: Name of the network.
        shape: Name of the scene or of the input.
        labels: Class names.
        target: Class whose score it is.
        scene_axes: All parameters of the scene.
        values: ``(len(scene_axes),)`` where they stand; the varied ones are overwritten.
        model_calls: Images that the network has seen.
        worst_images: ``(I, c, h, w)`` float32 in [0, 1], the images behind the findings.
        worst_points: ``(I, n)`` where they are.
        worst_scores: ``(I,)`` their scores.
        worst_top1: ``(I,)`` their classes.
        worst_region: ``(I,)`` the region they lie in.
        inside_lost: ``(S,)`` poses inside, drawn after the growing, at which the class is not on
            top; -1 while that is not known. Empty in results of the first edition.
        inside_total: ``(S,)`` how many poses were drawn; 0 while that is not known.
        inside_most: ``(S,)`` share of lost poses that the test of a box does not rule out, early
            stop and the choice of the box included (95 % for all boxes together); nan for regions
            that are grown otherwise and before the test.
        seen: Class that the network gives the input as it is; -1 where that was not asked.
    """

    axes: tuple[SceneAxis, ...]
    low: np.ndarray
    high: np.ndarray
    trace: np.ndarray
    loss: np.ndarray
    method: tuple[str, ...]
    start: np.ndarray
    start_number: np.ndarray
    start_score: np.ndarray
    start_top1: np.ndarray
    grown: np.ndarray
    converged: np.ndarray
    hit_domain: np.ndarray
    never_grew: np.ndarray
    volume: np.ndarray
    inside_mean: np.ndarray
    inside_var: np.ndarray
    holds: np.ndarray
    warnings: tuple[str, ...]
    inside_points: np.ndarray
    inside_pictures: np.ndarray
    inside_scores: np.ndarray
    inside_top1: np.ndarray
    outside_points: np.ndarray
    outside_pictures: np.ndarray
    outside_scores: np.ndarray
    outside_top1: np.ndarray
    map_x: np.ndarray
    map_y: np.ndarray
    map_score: np.ndarray
    network: str
    shape: str
    labels: tuple[str, ...]
    target: int
    scene_axes: tuple[SceneAxis, ...]
    values: np.ndarray
    model_calls: int
    worst_images: np.ndarray
    worst_points: np.ndarray
    worst_scores: np.ndarray
    worst_top1: np.ndarray
    worst_region: np.ndarray
    inside_lost: np.ndarray = field(default_factory=lambda: _none(0, dtype=int))
    inside_total: np.ndarray = field(default_factory=lambda: _none(0, dtype=int))
    inside_most: np.ndarray = field(default_factory=lambda: _none(0))
    seen: int = -1


@dataclass(frozen=True, slots=True)
class SrvrResult:
    """Volume ratio of M networks over K shapes, P starts and Q methods in n parameters.

    Attributes:
        srvr: ``(M,)`` mean share of the range that a region fills; nan before the first region is
            done.
        srvr_error: ``(M,)`` standard error of that mean over shapes and starts.
        by_method: ``(M, Q)`` the same for each method alone.
        volume: ``(M, K, P, Q)`` share of every region; nan where it is not done.
        low: ``(M, K, P, Q, n)`` lower bounds.
        high: ``(M, K, P, Q, n)`` upper bounds.
        converged: ``(M, K, P, Q)`` bool.
        hit_domain: ``(M, K, P, Q)`` bool.
        grew: ``(M, K, P, Q)`` bool.
        start_score: ``(M, K, P)`` score at each start.
        start_top1: ``(M, K, P)`` class at each start, -1 where unknown.
        starts: ``(P, n)`` the starts, the same for every shape and network.
        regions: ``(M,)`` regions done so far.
        never_grew: ``(M,)`` how many never grew …
        bad_starts: ``(M,)`` … of these, because the class is not seen at their start.
        hits: ``(M,)`` how many hit the end of a range.
        unconverged: ``(M,)`` how many did not come to rest.
        target: ``(K,)`` class of each shape.
        networks: ``(M,)`` names.
        shapes: ``(K,)`` names.
        methods: ``(Q,)`` naive, oir_b, oir_w.
        labels: Class names.
        axes: The n parameters, with the ranges used.
        model_calls: Images that the networks have seen.
    """

    srvr: np.ndarray
    srvr_error: np.ndarray
    by_method: np.ndarray
    volume: np.ndarray
    low: np.ndarray
    high: np.ndarray
    converged: np.ndarray
    hit_domain: np.ndarray
    grew: np.ndarray
    start_score: np.ndarray
    start_top1: np.ndarray
    starts: np.ndarray
    regions: np.ndarray
    never_grew: np.ndarray
    bad_starts: np.ndarray
    hits: np.ndarray
    unconverged: np.ndarray
    target: np.ndarray
    networks: tuple[str, ...]
    shapes: tuple[str, ...]
    methods: tuple[str, ...]
    labels: tuple[str, ...]
    axes: tuple[SceneAxis, ...]
    model_calls: int


def network_map(result: MapResult, network: int) -> np.ndarray:
    """The mean map ``(H, W)`` of one network over the shapes (the paper's NSM)."""
    return np.asarray(result.scores[network].mean(0))


def image_place(specs: tuple[str, ...], shape: int) -> int:
    """Number of the input behind a shape, among the inputs of a run; -1 for a mesh."""
    if specs[shape] == IMAGE:
        return specs[:shape].count(IMAGE)
    return -1


def pieces(axis: SceneAxis, low: float, high: float) -> list[tuple[float, float]]:
    """The parts of a region along an axis that lie in its range.

    Two if it crosses the seam of a periodic axis.
    """
    period = axis.high - axis.low
    if not axis.periodic:
        return [(max(low, axis.low), min(high, axis.high))]
    # All the way around: where it begins means nothing.
    if high - low >= period:
        return [(axis.low, axis.high)]
    # Bounds may have wandered whole turns away while growing.
    begin = axis.low + (low - axis.low) % period
    end = begin + (high - low)
    if end <= axis.high:
        return [(begin, end)]
    return [(begin, axis.high), (axis.low, end - period)]
