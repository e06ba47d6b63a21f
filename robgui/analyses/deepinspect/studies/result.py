"""Results of the studies of thresholds and of coverage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """One ranking (confusion or bias) at T activation thresholds: the paper's Tables 5 to 8.

    Attributes:
        reported: ``(T,)`` pairs reported by the cut-off.
        agreement: ``(T,)`` pairs reported here and at the reference threshold, over pairs reported
            at either; nan without any.
        hits: ``(T,)`` reported pairs that are true; 0 without labels.
        precision: ``(T,)`` nan without labels, as all that follow.
        recall: ``(T,)``.
        top_reported: ``(T,)`` pairs in the top per cent.
        top_hits: ``(T,)``.
        top_precision: ``(T,)``.
        top_recall: ``(T,)``.
        aucec: ``(T,)``.
        spearman: ``(T,)``.
    """

    reported: np.ndarray
    agreement: np.ndarray
    hits: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    top_reported: np.ndarray
    top_hits: np.ndarray
    top_precision: np.ndarray
    top_recall: np.ndarray
    aucec: np.ndarray
    spearman: np.ndarray


@dataclass(frozen=True, slots=True)
class ThresholdsResult:
    """What changes with the activation threshold, from one pass over the inputs.

    Attributes:
        thresholds: ``(T,)`` rising.
        reference: Place of the threshold nearest to ½, with which the others are compared.
        active: ``(T,)`` share of neurons that an input activates, on average.
        confusion: Confused pairs at each threshold.
        bias: Biased pairs at each threshold.
        classes: Class names.
        counts: ``(m,)`` predicted members.
        neurons: How many neurons were looked at.
        labelled: Whether there is a truth to compare with.
        done: Inputs seen so far.
        model_calls: Inputs the model has seen.
        complete: Whether every input has been seen.
        remarks: Sentences about what was left out.
        model: Name of the model.
        dataset: Name of the dataset.
    """

    thresholds: np.ndarray
    reference: int
    active: np.ndarray
    confusion: Sensitivity
    bias: Sensitivity
    classes: tuple[str, ...]
    counts: np.ndarray
    neurons: int
    labelled: bool
    done: int
    model_calls: int
    complete: bool
    remarks: tuple[str, ...]
    model: str
    dataset: str


@dataclass(frozen=True, slots=True)
class CoverageResult:
    """Coverage criteria per class: what the paper's first question shows cannot tell classes apart.

    Attributes:
        classes: Class names.
        counts: ``(m,)`` predicted members seen so far.
        predicted: ``(n,)`` int32 predicted class of each input, -1 for none.
        coverage: ``(n,)`` float32 share of neurons that each input activates; nan when it has not
            been read.
        neuron: ``(m,)`` share of neurons that any member activates; nan for a class without
            members, as all that follow.
        multisection: ``(m,)`` share of the sections of all neurons' ranges that members outside the
            profile reach.
        boundary: ``(m,)`` share of the two outer regions of all neurons that these reach.
        strong: ``(m,)`` share of neurons that these drive above their range.
        top: ``(m,)`` share of neurons that are among the most active of their layer for any member.
        patterns: ``(m,)`` how many different sets of most active neurons the members have.
        kruskal: Statistic of the Kruskal test of ``coverage`` between the classes; nan with fewer
            than two.
        kruskal_p: Its p value: small means that some classes differ.
        effect: ``(m, m)`` Cohen's d of ``coverage`` between two classes; nan for fewer than two
            members.
        effect_shares: ``(4,)`` share of pairs with a negligible, small, medium and large effect.
        neurons: How many neurons were looked at.
        done: Inputs seen so far, in both passes.
        model_calls: Inputs the model has seen.
        complete: Whether every input has been seen.
        remarks: Sentences about what was left out.
        model: Name of the model.
        dataset: Name of the dataset.
    """

    classes: tuple[str, ...]
    counts: np.ndarray
    predicted: np.ndarray
    coverage: np.ndarray
    neuron: np.ndarray
    multisection: np.ndarray
    boundary: np.ndarray
    strong: np.ndarray
    top: np.ndarray
    patterns: np.ndarray
    kruskal: float
    kruskal_p: float
    effect: np.ndarray
    effect_shares: np.ndarray
    neurons: int
    done: int
    model_calls: int
    complete: bool
    remarks: tuple[str, ...]
    model: str
    dataset: str
