"""Results of the three DeepInspect analyses: all that a panel, figure or report needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a ranking of class pairs finds the true errors; only known with labels.

    Pairs count where both classes have predicted members and the truth is known.

    Attributes:
        pairs: How many pairs count.
        true_pairs: ``(T, 2)`` classes whose true error is above mean + cut-off std, worst first.
        reported: How many of the counting pairs are reported by the cut-off.
        hits: How many of these are true.
        precision: hits / reported; nan when nothing is reported.
        recall: hits / T; nan when nothing is true.
        top_reported: The same three for the top per cent of pairs.
        top_hits: See above.
        top_precision: See above.
        top_recall: See above.
        aucec: Area under the cost-effectiveness curve; nan when nothing is true. Random order gives
            ½.
        aucec_mode: The same for the distances of the last layer's weights; nan when these cannot be
            seen.
        aucec_optimal: The same for the perfect order.
        gain_random: aucec / ½ - 1.
        gain_mode: aucec / aucec_mode - 1; nan when MODE is not known.
        cost: ``(K,)`` share of pairs inspected, rising from 0 to 1.
        found: ``(K,)`` share of true errors found by then.
        found_mode: ``(K,)`` the same for MODE; nan when not known.
        found_optimal: ``(K,)`` the same for the perfect order.
        spearman: Rank correlation of suspicion and truth over the pairs, 1 is perfect; nan when one
            of them is constant.
        spearman_p: Its p value.
    """

    pairs: int
    true_pairs: np.ndarray
    reported: int
    hits: int
    precision: float
    recall: float
    top_reported: int
    top_hits: int
    top_precision: float
    top_recall: float
    aucec: float
    aucec_mode: float
    aucec_optimal: float
    gain_random: float
    gain_mode: float
    cost: np.ndarray
    found: np.ndarray
    found_mode: np.ndarray
    found_optimal: np.ndarray
    spearman: float
    spearman_p: float


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A reported pair worth showing.

    Attributes:
        kind: ``class`` (one that the labels say is often wrong), ``confusion``, ``bias`` or
            ``input`` (one that the model is sure of and gets wrong).
        first: A class.
        second: The other one; of ``class``, the one it is mostly taken for.
        third: For bias, the third class over which the two differ most; -1 otherwise.
        places: ``(k,)`` inputs in the picture, wrong ones first, as places among those given.
        wrong: How many of these the model gets wrong between the two classes.
        picture: ``(h, w, 3)`` uint8, the inputs side by side.
        input: ``(1, *shape)`` the first wrong one in [0, 1]; ``(0, *shape)`` without any.
        confidence: Of ``input``, how sure the model is; else nan.
    """

    STORED_AS: ClassVar[str] = "Exhibit"

    kind: str
    first: int
    second: int
    third: int
    places: np.ndarray
    wrong: int
    picture: np.ndarray
    input: np.ndarray
    confidence: float = math.nan


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A targeted feature game from an input of one class of a pair to the other class.

    Attributes:
        first: Class that the model gives the input.
        second: Class to reach.
        place: The input, as a place among those given.
        pixels: Pixels that turn it; nan where none were found.
        calls: Model calls of the game.
    """

    first: int
    second: int
    place: int
    pixels: float
    calls: int


@dataclass(frozen=True, slots=True)
class DeepInspectResult:
    """Classes against classes, for m classes, N neurons and n inputs.

    Matrices ``(m, m)`` are symmetric with 0 on the diagonal, and nan in rows and columns of a class
    without predicted members. Pairs are unordered, ``a < b``; no pair in a list has a nan score.
    Inputs are numbered by their place among those given.

    Attributes:
        classes: ``m`` class names.
        counts: ``(m,)`` predicted members of each class.
        empty: ``(E,)`` classes without predicted members, which are in no pair.
        layers: Names of the layers looked at, in order of execution.
        layer_sizes: ``(L,)`` neurons of each; neuron j of ``rho`` belongs to the layer that
            ``cumsum`` of this tells.
        rho: ``(N, m)`` share of a class's members that activate a neuron, float16 above four
            million values; nan for an empty class. ``(0, m)`` in unfinished Steps above one million
            values, and above 128 million always.
        napvd: ``(m, m)`` distance of two classes; small means confused.
        avg_bias: ``(m, m)`` how differently two classes stand to third ones; large means biased.
            nan with fewer than three classes.
        mode: ``(m, m)`` Euclidean distance of the classes' weights in the last layer; ``(0, 0)``
            when they cannot be seen.
        confusion_limit: mean - cut-off std of napvd: a pair below it is reported; nan when there is
            no pair.
        confusion_pairs: ``(P, 2)`` reported pairs, most confused first.
        confusion_top: ``(Q, 2)`` the top per cent, most confused first.
        bias_limit: mean + cut-off std of avg_bias.
        bias_pairs: ``(P', 2)`` reported pairs, most biased first.
        bias_top: ``(Q', 2)`` the top per cent, most biased first.
        triplets: ``(T, 3)`` for the first 1,000 bias pairs (a, b): a, b and the third class with
            the largest bias.
        triplet_bias: ``(T,)`` that bias.
        predicted: ``(n,)`` int32 predicted class of each input, the likeliest one for a multi-label
            model; -1 for an input not read yet or not readable.
        true: ``(n,)`` int32 true class, -1 when unknown; ``(0,)`` without labels and for a label
            matrix.
        predicted_bits: ``(n, ceil(m / 8))`` uint8, all predicted classes of a multi-label model, by
            ``numpy.packbits``; else ``(0, 0)``.
        true_bits: The same for the true classes.
        multi_label: Whether an input may have several classes.
        type1conf: ``(m, m)`` true confusion of a single-label model; ``(0, 0)`` without labels and
            for a multi-label model.
        type2conf: ``(m, m)`` true confusion of a multi-label model; ``(0, 0)`` without labels and
            for a single-label model.
        avg_cd: ``(m, m)`` true average confusion disparity; ``(0, 0)`` without labels.
        confusion: How well napvd finds true confusion; None without labels.
        bias: How well avg_bias finds true disparity; None without labels.
        spearman_confusion: Rank correlation of napvd and true confusion: -1 when the nearest are
            the most confused; nan without labels, as all that follow. ``confusion.spearman`` is
            that of -napvd.
        spearman_bias: As in ``bias``.
        precision: As in ``confusion``.
        recall: As in ``confusion``.
        aucec: As in ``confusion``.
        aucec_mode: As in ``confusion``.
        accuracy: Share of inputs whose predicted class is (among) the true; nan without labels.
        done: Inputs seen so far.
        without: Inputs for which a multi-label model predicts no class at all.
        model_calls: Inputs the model has seen.
        complete: Whether every input has been seen; until then figures still move.
        exhibits: The reported pairs worth showing, with their pictures; filled at the end.
        remarks: Sentences about classes left out, few members and what could not be computed.
        model: Name of the model.
        dataset: Name of the dataset.
        kind: image, table or sequence.
        napvd_low: ``(m, m)`` lower end of the 95 % bootstrap interval of each distance; ``(0, 0)``
            in unfinished Steps and where there are too many neurons and classes.
        napvd_high: Its upper end.
        confirmations: Games that put reported pairs to the test.
    """

    classes: tuple[str, ...]
    counts: np.ndarray
    empty: np.ndarray
    layers: tuple[str, ...]
    layer_sizes: np.ndarray
    rho: np.ndarray
    napvd: np.ndarray
    avg_bias: np.ndarray
    mode: np.ndarray
    confusion_limit: float
    confusion_pairs: np.ndarray
    confusion_top: np.ndarray
    bias_limit: float
    bias_pairs: np.ndarray
    bias_top: np.ndarray
    triplets: np.ndarray
    triplet_bias: np.ndarray
    predicted: np.ndarray
    true: np.ndarray
    predicted_bits: np.ndarray
    true_bits: np.ndarray
    multi_label: bool
    type1conf: np.ndarray
    type2conf: np.ndarray
    avg_cd: np.ndarray
    confusion: Quality | None
    bias: Quality | None
    spearman_confusion: float
    spearman_bias: float
    precision: float
    recall: float
    aucec: float
    aucec_mode: float
    accuracy: float
    done: int
    without: int
    model_calls: int
    complete: bool
    exhibits: tuple[ShownPair, ...]
    remarks: tuple[str, ...]
    model: str
    dataset: str
    kind: str
    napvd_low: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    napvd_high: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    confirmations: tuple[Confirmation, ...] = ()

    @property
    def conf(self) -> np.ndarray:
        """The true confusion ``(m, m)``, of type 1 or 2; ``(0, 0)`` without labels."""
        if self.multi_label:
            return self.type2conf
        return self.type1conf
