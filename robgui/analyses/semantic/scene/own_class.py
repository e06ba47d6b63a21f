"""Finds the class of a mesh by its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

#: ImageNet classes of the bundled objects, for networks without class names.
IMAGENET_CLASS = {
    "teapot": 849,
    "scanned_mug": 504,
    "scanned_pitcher": 725,
    "mug": 504,
    "vase": 883,
}
#: This many unnamed classes are assumed to be ImageNet's.
_IMAGENET_CLASSES = 1000


def own_class(spec: str, labels: Sequence[str]) -> int:
    """The only class whose name is that of a mesh, or ends with it; -1 if there is none.

    ``scanned_mug`` is a “coffee mug”. Synonyms are separated by commas, as in lists of ImageNet.
    """
    # Names win where there are any: the numbering of 1,000 other classes would be misread.
    if len(labels) == _IMAGENET_CLASSES and all(label.strip().isdigit() for label in labels):
        return IMAGENET_CLASS.get(spec, -1)
    name = Path(spec).stem.lower().replace("_", " ").removeprefix("scanned ").strip()
    ends = [
        place
        for place, label in enumerate(labels)
        if any(word == name or word.endswith(f" {name}") for word in _names(label))
    ]
    # "vase" rather than "flower vase" where both exist.
    exact = [place for place in ends if name in _names(labels[place])]
    found = exact or ends
    if len(found) == 1:
        return found[0]
    return -1


def _names(label: str) -> list[str]:
    return [word.strip().lower().replace("_", " ") for word in label.split(",")]
