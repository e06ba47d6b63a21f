"""Reported pairs worth showing, each with a picture of inputs that the model mixes up."""

from __future__ import annotations

import numpy as np

from robgui.analyses.deepinspect.labels import errors_of
from robgui.analyses.deepinspect.pairs import pair_inputs
from robgui.analyses.deepinspect.result import DeepInspectResult, ShownPair
from robgui.core.dataset import Dataset, inputs
from robgui.core.errors import DataError
from robgui.core.model.classifier import Classifier

#: Most pairs of each kind that become findings, to keep the list readable.
CLASSES, CONFUSIONS, BIASES = 20, 20, 10
#: Inputs in the picture of a finding, and the side of each in pixels (three times a 28 × 28 digit).
_SHOWN = 6
_SIDE = 84
#: Most bytes of the failing inputs themselves.
_BUDGET = 8_000_000


def exhibits_of(
    classifier: Classifier, dataset: Dataset, result: DeepInspectResult, most_wrong: float
) -> tuple[ShownPair, ...]:
    """The classes that fail by their labels and the first confused and biased pairs, pictured."""
    errors = errors_of(result)
    if errors is None:
        failing = []
    else:
        failing = errors.failing(most_wrong)[:CLASSES].tolist()
    chosen = [("class", c, int(errors.taken_for[c]), -1) for c in failing if errors is not None]
    # What the labels prove comes first, then what merely looks alike.
    chosen += [("confusion", a, b, -1) for a, b in result.confusion_pairs[:CONFUSIONS].tolist()]
    chosen += [("bias", a, b, c) for a, b, c in result.triplets[:BIASES].tolist()]
    # One float32 input for each: all of them are kept, or none,
    # so that no finding depends on how many stand before it.
    keep_inputs = len(chosen) * int(np.prod(classifier.shape)) * 4 <= _BUDGET
    return tuple(_exhibit(classifier, dataset, result, *each, keep_inputs) for each in chosen)


def _exhibit(
    classifier: Classifier,
    dataset: Dataset,
    result: DeepInspectResult,
    kind: str,
    a: int,
    b: int,
    c: int,
    keep_input: bool,
) -> ShownPair:
    places, wrong = _to_show(result, kind, a, b, c)
    if wrong and keep_input:
        failing = places[:1]
    else:
        failing = places[:0]
    return ShownPair(
        kind,
        a,
        b,
        c,
        places,
        wrong,
        row_of(dataset, places),
        inputs_at(classifier, dataset, failing),
    )


def _to_show(
    result: DeepInspectResult, kind: str, a: int, b: int, c: int
) -> tuple[np.ndarray, int]:
    """Places of the inputs in a picture and how many of these are wrong.

    For bias the pair of a or b that is nearer to c.
    """
    if kind == "class":
        wrong = np.flatnonzero(
            (result.true == a) & (result.predicted >= 0) & (result.predicted != a)
        )
        # False sorts before True: first the inputs taken for b, the most frequent mistake.
        wrong = wrong[np.argsort(result.predicted[wrong] != b, kind="stable")][:_SHOWN]
        return wrong, len(wrong)
    if kind == "bias":
        # Bias shows where the third class is near: that pair is the one mixed up.
        a, b = (a, c) if result.napvd[a, c] <= result.napvd[b, c] else (b, c)
    found = pair_inputs(result, a, b)
    mixed = found.places[found.wrong][:_SHOWN]
    if len(mixed):
        return mixed, len(mixed)
    members = [
        found.places[result.predicted[found.places] == each][: _SHOWN // 2] for each in (a, b)
    ]
    return np.concatenate(members), 0


def row_of(dataset: Dataset, places: np.ndarray) -> np.ndarray:
    """The inputs side by side on white, each in a square."""
    gap = 4
    count = max(1, len(places))
    picture = np.full((_SIDE, count * (_SIDE + gap) - gap, 3), 255, dtype=np.uint8)
    for i, place in enumerate(places.tolist()):
        small = dataset.thumbnail(place, _SIDE)
        # Whole multiples keep the pixels of a small image square and sharp.
        factor = max(1, _SIDE // max(small.shape[:2]))
        small = small.repeat(factor, 0).repeat(factor, 1)
        top, left = (_SIDE - small.shape[0]) // 2, i * (_SIDE + gap) + (_SIDE - small.shape[1]) // 2
        picture[top : top + small.shape[0], left : left + small.shape[1]] = small
    return picture


def inputs_at(classifier: Classifier, dataset: Dataset, places: np.ndarray) -> np.ndarray:
    """Inputs as the model sees them; empty if one can no longer be read."""
    if not len(places):
        return np.zeros((0, *classifier.shape), dtype=np.float32)
    try:
        return inputs(classifier, dataset, places)
    except DataError:  # It was readable a moment ago; the picture stays.
        return np.zeros((0, *classifier.shape), dtype=np.float32)
