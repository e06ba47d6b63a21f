"""Builds the noise from the settings: features by name, bounds, whole numbers and lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.noise.priors import Prior
from robgui.analyses.last_particle.params import MethodParams
from robgui.core.dataset import Dataset
from robgui.core.errors import DataError, ParamsError
from robgui.core.model.classifier import Classifier

#: Levels of a picture file from black to white.
_LEVELS = 255.0


def prior_of(
    classifier: Classifier,
    dataset: Dataset,
    params: MethodParams,
    inputs: Tensor,
    places: Sequence[int],
    sizes: Sequence[float],
) -> Prior:
    """The noise of the settings around ``inputs`` ``(n, *shape)``, every size with every input.

    Pair ``e * n + i`` is size e around input i.
    """
    device, n = inputs.device, len(inputs)
    _check(classifier, params)
    features = _Features(classifier, dataset)
    scale = features.numbers(params.scale, "scale", 1.0)
    for place in features.places(params.frozen, "frozen"):
        scale[place] = 0
    return Prior(
        params.noise,
        inputs,
        torch.tensor(sizes, dtype=torch.float32, device=device).repeat_interleave(n),
        torch.arange(n, device=device).repeat(len(sizes)),
        scale=features.tensor(scale),
        bounds=_bounds(classifier, features, params),
        grid=_grid(classifier, features, params),
        lengths=_lengths(classifier, dataset, places),
        blur=params.blur,
    )


def _check(classifier: Classifier, params: MethodParams) -> None:
    """Raises one sentence if the noise does not suit the model, or two settings conflict."""
    if params.noise in ("smooth", "light", "jpeg") and classifier.kind != "image":
        raise ParamsError(
            f"noise = {params.noise}: this is noise of images, and {classifier.name} takes a"
            f" {classifier.kind}; take box, clip, l2, ball or gaussian."
        )
    if params.noise == "jpeg" and (params.scale or params.frozen):
        raise ParamsError(
            "noise = jpeg: it changes all channels together; leave scale and frozen empty."
        )


class _Features:
    """Features by name or number: the columns of a table or sequence, the channels of an image."""

    def __init__(self, classifier: Classifier, dataset: Dataset) -> None:
        self._classifier = classifier
        self._names = classifier.settings.features or dataset.features
        if classifier.kind == "image":
            self.count = classifier.shape[0]
        else:
            self.count = classifier.shape[-1]

    def numbers(self, values: Sequence[float], name: str, default: float) -> np.ndarray:
        """One number per feature, from one for all, one for each, or none."""
        if len(values) not in (0, 1, self.count):
            raise ParamsError(
                f"{name} has {len(values)} numbers; {self._classifier.name} takes {self.count}"
                f" features: give 1 or {self.count}."
            )
        if not values:
            return np.full(self.count, default)
        return np.resize(np.asarray(values, dtype=np.float64), self.count).copy()

    def places(self, wanted: Sequence[str], name: str) -> list[int]:
        """Positions of the features with these names or numbers, counted from 1."""
        found = []
        for each in wanted:
            if each in self._names:
                found.append(self._names.index(each))
            elif each.isdigit() and 1 <= int(each) <= self.count:
                found.append(int(each) - 1)
            else:
                known = ", ".join(self._names[:20]) or f"1 to {self.count}"
                raise ParamsError(
                    f"{name}: there is no feature {each!r}; the features are: {known}."
                )
        return found

    def tensor(self, values: np.ndarray) -> Tensor:
        """One value per feature, shaped to broadcast over an input."""
        flat = torch.from_numpy(values).to(
            self._classifier.device, torch.bool if values.dtype == bool else torch.float32
        )
        if self._classifier.kind == "image":
            return flat.reshape(-1, 1, 1)
        return flat


def _bounds(
    classifier: Classifier, features: _Features, params: MethodParams
) -> tuple[Tensor, Tensor] | None:
    """Bounds in [0, 1] units; Gaussian noise has only those the user sets."""
    given = bool(params.lower or params.upper)
    if params.noise == "gaussian" and not given:
        return None
    first, span = _units(classifier, features.count)
    low, high = (
        features.numbers(params.lower, "lower", np.nan),
        features.numbers(params.upper, "upper", np.nan),
    )
    low, high = (
        np.where(np.isnan(low), 0, (low - first) / span),
        np.where(np.isnan(high), 1, (high - first) / span),
    )
    if (low > high).any():
        raise ParamsError(
            f"lower is above upper for feature {int(np.argmax(low > high)) + 1}; exchange the two."
        )
    return features.tensor(low), features.tensor(high)


def _grid(
    classifier: Classifier, features: _Features, params: MethodParams
) -> tuple[Tensor, Tensor, Tensor] | None:
    places = features.places(params.rounded, "rounded")
    if not places:
        return None
    mask = np.zeros(features.count, dtype=bool)
    mask[places] = True
    first, span = _units(classifier, features.count)
    if classifier.kind == "image":
        # Values are in [0, 1]; a file stores them in 255 steps.
        span = span * _LEVELS
    return features.tensor(first), features.tensor(span), features.tensor(mask)


def _units(classifier: Classifier, count: int) -> tuple[np.ndarray, np.ndarray]:
    """What 0 is in the features' own units, and the distance from there to 1."""
    if classifier.kind == "image":
        return np.zeros(count), np.ones(count)
    low, high = (
        np.resize(np.asarray(values, dtype=np.float64), count)
        for values in (classifier.settings.low, classifier.settings.high)
    )
    # A constant feature has no span; 1 keeps its own unit.
    return low, np.where(high == low, 1, high - low)


def _lengths(classifier: Classifier, dataset: Dataset, places: Sequence[int]) -> Tensor | None:
    if classifier.kind != "sequence":
        return None
    lengths = np.minimum(dataset.lengths(places), classifier.shape[0])
    if (lengths < 1).any():
        raise DataError(
            f"{dataset.key(places[int(np.argmin(lengths))])} is an empty sequence; leave it out."
        )
    # Nothing is padded: the cheaper path without gathering.
    if (lengths == classifier.shape[0]).all():
        return None
    return torch.from_numpy(lengths.astype(np.int64)).to(classifier.device)
