"""Inputs that the model gets wrong with confidence: failures that need no search."""

from __future__ import annotations

import numpy as np

from robgui.analyses.deepinspect.cost import LOOKED_AT
from robgui.analyses.deepinspect.exhibits import inputs_at, row_of
from robgui.analyses.deepinspect.result import DeepInspectResult, ShownPair
from robgui.core.dataset import Dataset
from robgui.core.model.classifier import Classifier

#: Of the wrong inputs examined again, the most that become findings, the surest first.
KEPT = 12


def surest_errors(
    classifier: Classifier, dataset: Dataset, result: DeepInspectResult, batch: int = 0
) -> tuple[tuple[ShownPair, ...], int]:
    """The wrong inputs that the model is surest of, surest first, and how many were asked again."""
    if result.multi_label or not len(result.true):
        return (), 0
    wrong = np.flatnonzero(
        (result.true >= 0) & (result.predicted >= 0) & (result.true != result.predicted)
    )
    # Spread over the dataset, which is often sorted by class.
    places = wrong[:: max(1, -(-len(wrong) // LOOKED_AT))]
    x = inputs_at(classifier, dataset, places)
    if not len(x):
        return (), 0
    # Asked again: the pass over all inputs keeps their classes, not how sure they were.
    sure = classifier.probs(x, batch=batch).cpu().numpy()
    confidence = sure[np.arange(len(places)), result.predicted[places]]
    order = np.argsort(-confidence, kind="stable")[:KEPT]
    made = tuple(
        ShownPair(
            "input",
            int(result.true[place]),
            int(result.predicted[place]),
            -1,
            np.array([place]),
            1,
            row_of(dataset, np.array([place])),
            x[at : at + 1],
            float(confidence[at]),
        )
        for at, place in zip(order.tolist(), places[order].tolist(), strict=True)
    )
    return made, len(x)
