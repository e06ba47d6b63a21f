"""Answers what the panel of zoNNscan asks besides running an analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robgui.analyses.zonnscan.crossing.attack import fast_gradient
from robgui.analyses.zonnscan.drawn_again import samples_of
from robgui.analyses.zonnscan.populations import true_classes
from robgui.analyses.zonnscan.result import Twins
from robgui.core.dataset import inputs
from robgui.core.execution.asking.answering import loaded
from robgui.core.execution.asking.by_value import from_value

if TYPE_CHECKING:
    import numpy as np

    from robgui.core.execution.loaded_cache import LoadedCache


def twin(shelf: LoadedCache, model: dict[str, Any], one: dict[str, Any], eps: float) -> Twins:
    """Moves every value of an input by ``eps`` against its class.

    Args:
        shelf: Has the model.
        model: See ``ModelCard.asked``.
        one: The input, see ``by_value``; its label counts if it has one.
        eps: How far every value is moved, in [0, 1].
    """
    classifier, dataset = loaded(shelf, model), from_value(one)
    x = classifier.tensor(inputs(classifier, dataset))
    classes = true_classes(classifier, dataset, x)
    moved = fast_gradient(classifier, x, classes, eps)
    # Asked again: whether the attack worked is not known from its gradient.
    array, seen = moved.cpu().numpy(), classifier.infer(moved).argmax(1)
    return Twins(classifier.decode(array), classes.cpu().numpy(), array, seen.cpu().numpy())


def samples(shelf: LoadedCache, corners: np.ndarray, radius: float, **drawn: Any) -> np.ndarray:
    """The first samples of a zone, see ``samples_of``; no model is asked."""
    return samples_of(corners, radius, **drawn)
