"""What a feature game gives: frozen dataclasses of arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from robgui.analyses.feature_game.params import Norm, Player

#: Fewer games than this give no number.
FEWEST_GAMES = 3


@dataclass(frozen=True, slots=True)
class Severity:
    """How far an example is from its image, values being from 0 to 1.

    Nan where there is no example.

    Attributes:
        l0_pixels: Changed pixels.
        l0_dims: Changed numbers: a colour pixel has three.
        l1: Sum of all changes.
        l2: Root of the sum of their squares.
        linf: Largest change.
    """

    l0_pixels: float
    l0_dims: float
    l1: float
    l2: float
    linf: float

    def by(self, norm: Norm) -> float:
        """The one that the norm counts."""
        return {"l0": self.l0_pixels, "l1": self.l1, "l2": self.l2, "linf": self.linf}[norm]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one search: one kind of player II and one target.

    Attributes:
        player: Who player II was.
        target: Class to reach; -1: any other.
        found_class: Class of the example; -1 without any.
        severity: Of the example.
        changed: ``(P, 2)`` x and y of the changed pixels.
        values: ``(P, c)`` uint8, what they became.
        confidence: ``(C,)`` outputs for the example; for the image if there is none.
        model_calls: Images shown to the model for this search.
        first_calls: Calls until the first example; 0 without any.
        seconds: Time it took.
        iterations: Iterations of the tree search.
        ended: Why it ended, in words.
        optimal: No example of these moves can be less severe.
        step: Step, from 0 to 1, down to which the changes were made finer; nan where they were not.
        games: ``(G,)`` severity of every whole game against chance or an opponent, inf where the
            class never changed; empty for other searches. The example is that of the middle game.
    """

    player: Player
    target: int
    found_class: int
    severity: Severity
    changed: np.ndarray
    values: np.ndarray
    confidence: np.ndarray
    model_calls: int
    first_calls: int
    seconds: float
    iterations: int
    ended: str
    optimal: bool
    step: float = float("nan")
    games: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile of the games; nan for fewer than three."""
        if len(self.games) < FEWEST_GAMES:
            return math.nan, math.nan, math.nan
        # Games that never changed the class are inf: only observed values may be returned.
        low, middle, high = np.quantile(self.games, (0.25, 0.5, 0.75), method="inverted_cdf")
        return float(low), float(middle), float(high)


@dataclass(frozen=True, slots=True)
class GameTree:
    """The N nodes of the partial game tree that matter most, root first.

    Parents come before their children.

    A node of player I is a state, one of player II a state and the keypoint that player I has
    picked.

    Attributes:
        parent: ``(N,)`` row of the parent; -1 for the root.
        depth: ``(N,)`` moves of both players from the root.
        keypoint: ``(N,)`` the keypoint picked, for a node that player I has led to; -1 otherwise.
        pixel: ``(N, 2)`` x and y of the pixel changed, for a node that player II has led to; -1
            otherwise.
        value: ``(N, c)`` int16, what the pixel became; -1 otherwise.
        visits: ``(N,)`` how often it was passed.
        reward: ``(N,)`` mean reward, from 0 to 1; nan without visits.
        best: ``(N,)`` least severity seen below it; nan without any.
        nodes: How many nodes the whole tree has.
    """

    STORED_AS: ClassVar[str] = "Tree"

    parent: np.ndarray
    depth: np.ndarray
    keypoint: np.ndarray
    pixel: np.ndarray
    value: np.ndarray
    visits: np.ndarray
    reward: np.ndarray
    best: np.ndarray
    nodes: int


@dataclass(frozen=True, slots=True)
class SteepnessEvidence:
    """What the search has seen of the network's steepness; evidence, no guarantee.

    Attributes:
        lipschitz: Largest change of the confidence in the image's class per unit of L1 distance,
            over all pairs seen.
        gap: Smallest fall of that confidence at which the class changed; nan where it never did.
        pairs: Pairs of image and changed image it was taken over.
        singles: How many of the one-pixel moves were tried.
        moves: How many one-pixel moves there are.
    """

    STORED_AS: ClassVar[str] = "Evidence"

    lipschitz: float
    gap: float
    pairs: int
    singles: int
    moves: int

    @property
    def tau(self) -> float:
        """The step that the paper's Theorem 4 would ask for: 2 gap / lipschitz."""
        if self.lipschitz > 0:
            return 2 * self.gap / self.lipschitz
        return float("nan")


@dataclass(frozen=True, slots=True)
class Persistence:
    """The image and its example, turned and scaled (the paper's Figure 5).

    Attributes:
        angles: ``(A,)`` degrees, anticlockwise.
        scales: ``(S,)`` factors.
        rotated_class: ``(2, A)`` classes of the image and of the example at each angle.
        scaled_class: ``(2, S)`` the same at each scale.
        rotated_kept: Share of the angles at which the image keeps its class and the example does
            not have it; nan without any.
        scaled_kept: The same for scales.
    """

    angles: np.ndarray
    scales: np.ndarray
    rotated_class: np.ndarray
    scaled_class: np.ndarray
    rotated_kept: float
    scaled_kept: float


@dataclass(frozen=True, slots=True)
class FeatureGameResult:
    """The game on one image of shape ``(c, h, w)`` with K keypoints and C classes.

    The example shown is the best of all outcomes with a cooperative player II, if there is one.

    Attributes:
        keypoints: ``(K, 4)`` x, y, size (a diameter) and response.
        keypoint_source: SIFT, SIFT without edge threshold, or grid.
        saliency: ``(h, w)`` the mixture as the search has re-weighted it; sums to 1.
        initial_saliency: ``(h, w)`` the mixture before the first move.
        weights: ``(K,)`` weight of every keypoint now.
        best: ``(c, h, w)`` the least severe example, in [0, 1]; the image itself while there is
            none.
        changed: ``(P, 2)`` x and y of its changed pixels.
        severity: Of the best example.
        history: ``(T, 3)`` severity per iteration: best so far, current, mean of the last ten; nan
            before the first.
        history_calls: ``(T,)`` model calls of the search so far at each iteration.
        tree: The partial game tree.
        original: Class of the unmodified image.
        target: Class to reach; -1: any other, or all of them.
        found_class: Class of the best example; -1 without any.
        model_calls: Images shown to the model.
        seconds: Time since the start.
        input: ``(c, h, w)`` the image as the game sees it: rounded to 8 bits.
        input_name: What the dataset calls it.
        true_class: Its class as the dataset says; -1 when unknown.
        labels: Class names.
        confidence: ``(C,)`` outputs for the image.
        found_confidence: ``(C,)`` outputs for the best example; for the image while there is none.
        player: Player II of the search under way or of the last one.
        outcomes: The searches that have ended, and the one under way, in order.
        searches: How many there will be.
        evidence: Steepness seen.
        persistence: The example turned and scaled; None while unknown.
        remark: Anything the user should know, in words.
        exact_class: Class of the image before rounding to 8 bits; -1 when that is ``original`` too.
    """

    keypoints: np.ndarray
    keypoint_source: str
    saliency: np.ndarray
    initial_saliency: np.ndarray
    weights: np.ndarray
    best: np.ndarray
    changed: np.ndarray
    severity: Severity
    history: np.ndarray
    history_calls: np.ndarray
    tree: GameTree
    original: int
    target: int
    found_class: int
    model_calls: int
    seconds: float
    input: np.ndarray
    input_name: str
    true_class: int
    labels: tuple[str, ...]
    confidence: np.ndarray
    found_confidence: np.ndarray
    player: Player
    outcomes: tuple[Outcome, ...]
    searches: int
    evidence: SteepnessEvidence
    persistence: Persistence | None
    remark: str
    exact_class: int = -1


@dataclass(frozen=True, slots=True)
class FeatureGameBatchResult:
    """Games on N images; nan or -1 where a game has not been played or found nothing.

    Attributes:
        severity: ``(N, 5)`` changed pixels, changed numbers, L1, L2, Linf of each best example.
        found_class: ``(N,)`` classes of the examples.
        predicted: ``(N,)`` classes of the images.
        true_class: ``(N,)`` as the dataset says; -1 when unknown.
        confidence_before: ``(N,)`` the model's confidence in the class of each image.
        confidence_after: ``(N,)`` its confidence in the class of each example.
        calls: ``(N,)`` model calls of each game.
        first_calls: ``(N,)`` calls until the first example.
        seconds: ``(N,)`` time of each game.
        played: ``(N,)`` bool, whether the game has been played.
        skipped: ``(N,)`` bool, left out: the image already has the target class.
        keys: What the dataset calls each image.
        numbers: ``(N,)`` place of each image among those given.
        thumbnails: ``(N, 2, h, w, 3)`` uint8, each image and its example.
        worst: ``(W,)`` the least severe examples, least first, as places in these arrays.
        worst_inputs: ``(W, c, h, w)`` the images of these.
        worst_examples: ``(W, c, h, w)`` the examples of these.
        mean: Mean severity of the examples found.
        median: Their median severity.
        target: Class to reach; -1: any other.
        model_calls: Images shown to the model.
        labels: Class names.
        dataset: What the data are called; empty in older results.
        available: How many images there are to choose from; 0 in older results.
    """

    severity: np.ndarray
    found_class: np.ndarray
    predicted: np.ndarray
    true_class: np.ndarray
    confidence_before: np.ndarray
    confidence_after: np.ndarray
    calls: np.ndarray
    first_calls: np.ndarray
    seconds: np.ndarray
    played: np.ndarray
    skipped: np.ndarray
    keys: tuple[str, ...]
    numbers: np.ndarray
    thumbnails: np.ndarray
    worst: np.ndarray
    worst_inputs: np.ndarray
    worst_examples: np.ndarray
    mean: float
    median: float
    target: int
    model_calls: int
    labels: tuple[str, ...]
    dataset: str = ""
    available: int = 0
