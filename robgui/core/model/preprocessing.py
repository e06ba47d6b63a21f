"""Common ways to feed networks, and a search for the one that fits a model best.

A model file says nothing about the preprocessing it was trained with. A few labelled pictures
settle it: the right way has the highest accuracy. Every way sees a few pictures; those that lag are
dropped, and the others see more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.errors import DataError, RobguiError

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.dataset.matching import Model
    from robgui.core.model.settings import ModelSettings

#: Asks a model with these settings about inputs in [0, 1]; None if it cannot be fed like that.
Answer = Callable[["ModelSettings", np.ndarray], "np.ndarray | None"]
#: A name, and the settings of that way.
Way = tuple[str, dict[str, Any]]
#: A way so far, and the settings of a model fed like that.
Racing = tuple["Tried", "ModelSettings"]
#: Labelled pictures that a way has seen after each round; ways that lag are dropped then.
ROUNDS = (16, 40, 100)
#: A third of the ways continues, but at least this many; with ties at the end, half of them.
_FEWEST = 4
_WHOLE: dict[str, Any] = {"resize": "squash", "crop": 1.0, "interpolation": "area"}
_UNIT: dict[str, Any] = {"low": (0.0,), "high": (1.0,)}
_PLAIN: dict[str, Any] = {**_UNIT, "mean": (0.0,), "std": (1.0,)}
_HALF: dict[str, Any] = {**_UNIT, "mean": (0.5,), "std": (0.5,)}
_IMAGENET: dict[str, Any] = {
    **_UNIT,
    "mean": (0.485, 0.456, 0.406),
    "std": (0.229, 0.224, 0.225),
}
#: Settings by the name of a usual way. ImageNet as torchvision's reference transforms; bicubic as
#: timm and the EfficientNets; CLIP as its own code; Inception as Keras and timm; the statistics of
#: CIFAR-10 and MNIST are those of their training images.
PRESETS: dict[str, dict[str, Any]] = {
    "none": {**_PLAIN, **_WHOLE},
    "ImageNet": {**_IMAGENET, "resize": "crop", "crop": 0.875, "interpolation": "bilinear"},
    "ImageNet, bicubic": {**_IMAGENET, "resize": "crop", "crop": 0.875, "interpolation": "bicubic"},
    "CLIP": {
        **_UNIT,
        "mean": (0.48145466, 0.4578275, 0.40821073),
        "std": (0.26862954, 0.26130258, 0.27577711),
        "resize": "crop",
        "crop": 1.0,
        "interpolation": "bicubic",
    },
    "Inception": {**_HALF, "resize": "crop", "crop": 0.875, "interpolation": "bicubic"},
    "CIFAR-10": {
        **_UNIT,
        "mean": (0.4914, 0.4822, 0.4465),
        "std": (0.247, 0.2435, 0.2616),
        **_WHOLE,
    },
    "MNIST": {**_UNIT, "mean": (0.1307,), "std": (0.3081,), **_WHOLE},
    "0.5/0.5": {**_HALF, **_WHOLE},
    "0–255": {**_PLAIN, "high": (255.0,), **_WHOLE},
}
#: Presets for inputs that are not pictures.
_ANY_KIND = ("none", "0.5/0.5", "0–255")
#: Name of the way computed from the pictures themselves.
OF_DATA = "mean and std of these inputs"
#: The settings that make up a way of feeding.
FIELDS = ("low", "high", "mean", "std", "resize", "crop", "interpolation", "antialias", "channels")


@dataclass(frozen=True, slots=True)
class Tried:
    """One way of feeding a model, and its accuracy so far.

    Attributes:
        name: The preset, or "as it is" for the present settings.
        settings: The fields that make it up.
        right: Inputs the model got right.
        counted: Inputs it was asked about.
    """

    name: str
    settings: dict[str, Any]
    right: int
    counted: int

    @property
    def accuracy(self) -> float:
        """The share that was right."""
        return self.right / self.counted

    @property
    def rank(self) -> tuple[int, float]:
        """Higher is better; a way dropped early ranks behind all that continued."""
        return self.counted, self.accuracy


def presets_for(settings: ModelSettings) -> dict[str, dict[str, Any]]:
    """The presets that a model with this input shape can have."""
    if settings.kind != "image":
        return {name: PRESETS[name] for name in _ANY_KIND}
    if settings.shape:
        channels = settings.shape[0]
    else:
        channels = 3
    return {
        name: values
        for name, values in PRESETS.items()
        if all(len(values[field]) in (1, channels) for field in ("mean", "std"))
    }


def ways(classifier: Model, dataset: Dataset, answer: Answer) -> Iterator[Tried]:
    """The plausible ways of feeding a model one by one, the current settings first.

    A way that continues comes again, with more inputs.

    Args:
        classifier: The model, or its card.
        dataset: Labelled pictures.
        answer: Asks the model with other settings about inputs in [0, 1]; gives the classes, or
            None if it cannot be fed this way.

    Raises:
        DataError: The data have no labels, or are no pictures.
    """
    from robgui.core.dataset import align, match

    # Labels must mean the same classes as outputs before anything can be right or wrong.
    classifier = match(classifier, dataset)
    fitting = align(classifier, dataset)
    chosen = _labelled(fitting)
    if classifier.kind != "image":
        raise DataError(f"{dataset.name} holds no pictures; preprocessing is tried on pictures.")
    if not len(chosen):
        raise DataError(
            f"{dataset.name} has no labels that {classifier.name} knows, so nothing tells which"
            " preprocessing is right; give labels."
        )
    sample = fitting.subset(chosen)
    own = (OF_DATA, _of_data(classifier, sample))
    racing = [
        (Tried(*way, right=0, counted=0), settings)
        for way, settings in _grouped(classifier.settings, (*ways_of(classifier.settings), own))
    ]
    seen = 0
    for end in _rounds(len(sample)):
        further = []
        for tried, settings in _round(classifier, sample.subset(range(seen, end)), racing, answer):
            further.append((tried, settings))
            yield tried
        racing, seen = _leading(further), end


def _rounds(pictures: int) -> list[int]:
    """Pictures that a way has seen after each round; if there are few, all are seen at once."""
    # With few pictures a first round would decide by too few of them.
    return [*(each for each in ROUNDS[:-1] if 2 * each < pictures), pictures]


def _round(
    classifier: Model, part: Dataset, racing: Sequence[Racing], answer: Answer
) -> Iterator[Racing]:
    """The ways that can be fed, with their hits in this round added."""
    from robgui.core.dataset import batches

    read: list[tuple[list[int], np.ndarray]] = []
    framing = None
    for tried, settings in racing:
        if settings.framing != framing:  # Pictures of one framing are read once.
            framing = settings.framing
            read = list(batches(classifier.with_settings(settings), part))
        found = _try(tried, settings, part, read, answer)
        if found is not None:
            yield found, settings


def _leading(racing: list[Racing]) -> list[Racing]:
    """The ways that continue, always including the current one, in order."""
    if not racing:
        return []
    best = sorted((tried.rank for tried, _ in racing), reverse=True)
    # Like a race by successive halving, with thirds: most ways are clearly wrong after 16 pictures.
    kept = min(len(best), max(_FEWEST, len(best) // 3))
    most = max(kept, len(best) // 2)
    last = best[kept - 1]
    order = sorted(range(len(racing)), key=lambda at: racing[at][0].rank, reverse=True)
    # Number 0, the current settings, always stays: the answer must compare with them.
    going = {at for at in order[:most] if racing[at][0].rank >= last} | {0}
    return [each for at, each in enumerate(racing) if at in going]


def ways_of(settings: ModelSettings) -> Iterator[Way]:
    """The current settings, the presets, and each preset with its picture squashed or in BGR."""
    seen = [{name: getattr(settings, name) for name in FIELDS}]
    yield "as it is", seen[0]
    usual, presets = {**seen[0], "antialias": True, "channels": "rgb"}, presets_for(settings)
    for title, way in (*presets.items(), *_variants(presets, settings)):
        whole = {**usual, **way}
        if whole not in seen:
            seen.append(whole)
            yield title, whole


def _of_data(classifier: Model, sample: Dataset) -> dict[str, Any]:
    """Mean and std of the pictures themselves, as one would use for training on them."""
    shape = classifier.settings.shape
    _, items = sample.readable(range(len(sample)), shape)
    mean, std = items.mean((0, 2, 3)), items.std((0, 2, 3))
    usual = {name: getattr(classifier.settings, name) for name in FIELDS}
    return {
        **usual,
        **_UNIT,
        **_WHOLE,
        "mean": tuple(float(f"{value:.4g}") for value in mean),
        # A channel that never changes has none, and would be divided by.
        "std": tuple(float(f"{max(value, 1e-4):.4g}") for value in std),
    }


def _variants(
    presets: dict[str, dict[str, Any]], settings: ModelSettings
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each preset with its picture squashed or in BGR, if that makes a difference."""
    for name, values in presets.items():
        if values["resize"] == "crop":
            yield f"{name}, squashed", {**values, **_WHOLE}
        if settings.shape[0] == 3:
            yield f"{name}, BGR", {**values, "channels": "bgr"}


def _grouped(settings: ModelSettings, found: Iterable[Way]) -> list[tuple[Way, ModelSettings]]:
    """The ways that this model accepts, sorted by framing."""
    possible: list[tuple[Way, ModelSettings]] = []
    for way in found:
        with suppress(RobguiError):
            possible.append((way, settings.change(**way[1])))
    order = list(dict.fromkeys(each.framing for _, each in possible))
    # Sorted by framing, so each framing is read only once per round.
    return sorted(possible, key=lambda each: order.index(each[1].framing))


def _try(
    tried: Tried,
    settings: ModelSettings,
    sample: Dataset,
    read: Sequence[tuple[list[int], np.ndarray]],
    answer: Answer,
) -> Tried | None:
    """The way with its hits added; None if the model cannot be fed like that."""
    assert sample.labels is not None
    right, counted = tried.right, tried.counted
    for indices, x in read:
        classes = answer(settings, x)
        if classes is None:
            return None
        right += int((classes == sample.labels[indices]).sum())
        counted += len(indices)
    if counted:
        return replace(tried, right=right, counted=counted)
    return None


def _labelled(dataset: Dataset) -> np.ndarray:
    """Up to a hundred labelled inputs from everywhere in the dataset, in every round."""
    if dataset.labels is None:
        return np.empty(0, dtype=np.int64)
    known = np.flatnonzero(dataset.labels >= 0)
    # Shuffled: equal steps would miss classes in data that repeat them in turn.
    return np.random.default_rng(0).permutation(known)[: ROUNDS[-1]]
