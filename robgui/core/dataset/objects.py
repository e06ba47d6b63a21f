"""Data held by Python: a DataLoader, a torch dataset, a MAITE dataset, a list of items."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robgui.core.dataset import images
from robgui.core.dataset.arrays import array_content
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.stacked import build, image_layout
from robgui.core.dataset.framing import SQUASH, Framing
from robgui.core.dataset.labels import label_array
from robgui.core.dataset.limits import LARGEST_ARRAY, sized
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Shape, Source
from robgui.core.errors import DataError

_INPUTS = ("image", "img", "input", "x", "pixel_values", "data")
_LABELS = ("label", "labels", "target", "y", "fine_label", "class")
#: Items whose content the fingerprint covers.
_HASHED = 32


class ObjectImages(Source):
    """Images that an object returns by number, fetched on demand.

    Args:
        items: The object; each item is an image, or a tuple or mapping with one.
        name: What to call it in an error.
        options: May say what black and white are.
    """

    kind = "image"

    def __init__(self, items: Any, name: str, options: Options) -> None:
        super().__init__()
        self._items, self._name = items, name
        self._framing = SQUASH
        first = self._values(0)
        if _is_picture(_input(items, 0)):
            layout = "hwc"
        else:
            layout = image_layout(first.shape, name)
        self._chw = layout == "chw"
        self._range = _value_range(first, name, options)
        channels, height, width = self._pixels(0).transpose(2, 0, 1).shape
        if self._alike(first):
            self.shape: Shape | None = (channels, height, width)
        else:
            self.shape = None

    def __len__(self) -> int:
        return len(self._items)

    def key(self, position: int) -> str:
        return f"item {position}"

    def read(self, position: int, shape: Shape) -> np.ndarray:
        try:
            return images.fit(self._pixels(position), shape, self._framing)
        except DataError as error:
            raise error.at(f"{self._name}, item {position}") from error

    def thumbnail(self, position: int, size: int) -> np.ndarray:
        return images.thumbnail(self._pixels(position), size)

    def framed(self, framing: Framing) -> ObjectImages:
        """The same images under another framing."""
        if framing == self._framing:
            return self
        other = object.__new__(ObjectImages)
        other.__dict__.update(self.__dict__)
        other._framing = framing
        return other

    def content(self) -> str:
        total = hashlib.blake2b(str(len(self)).encode(), digest_size=16)
        for place in self._spread(_HASHED):
            total.update(array_content(np.atleast_1d(self._values(place))).encode())
        return total.hexdigest()

    def _alike(self, first: np.ndarray) -> bool:
        return all(self._values(place).shape == first.shape for place in self._spread(8))

    def _spread(self, count: int) -> list[int]:
        places = np.linspace(0, len(self) - 1, min(count, len(self))).astype(int)
        return [int(place) for place in np.unique(places)]

    def _values(self, position: int) -> np.ndarray:
        value = _input(self._items, position)
        # Palette images would give indices, not colours.
        if _is_picture(value) and value.mode not in ("RGB", "L"):
            value = value.convert("RGB")
        return as_array(value)

    def _pixels(self, position: int) -> np.ndarray:
        values = self._values(position)
        if values.ndim == 2:
            if self._chw:
                values = values[None]
            else:
                values = values[:, :, None]
        if self._chw:
            values = values.transpose(1, 2, 0)
        return images.to_unit(values, *self._range)


def from_object(given: Any, options: Options) -> Dataset:
    """A dataset of data held by Python.

    Args:
        given: A torch DataLoader (its dataset is taken, in its own order), a torch or MAITE
            dataset, a Hugging Face dataset, or any sequence of items; an item is an input, a tuple
            (input, target, …) or a mapping with an image and a label.
        options: What the items do not say.

    Raises:
        DataError: It has no length or no items by number, or holds no arrays or images.
    """
    name = type(given).__name__
    if hasattr(given, "batch_size"):
        items = getattr(given, "dataset", given)
    else:
        items = given
    if tensors := getattr(items, "tensors", None):  # A TensorDataset is already in memory.
        inputs = as_array(tensors[0])
        if len(tensors) > 1:
            labels = as_array(tensors[1])
        else:
            labels = None
        return build(_memory(inputs), name, None, options, labels)
    if not hasattr(items, "__getitem__") or not hasattr(items, "__len__"):
        return _collected(given, name, options)
    if not len(items):
        raise DataError(f"the {name} is empty; give one with items.")
    names = options.names or _names(items)
    labels, names = _targets(items, names, name)
    first = as_array(_input(items, 0))
    if first.ndim < 2 and not _is_picture(_input(items, 0)):
        rows = np.stack([as_array(_input(items, place)) for place in range(len(items))])
        return build(_memory(rows), name, None, options, labels, words=names)
    return Dataset(
        ObjectImages(items, name, options),
        name=name,
        labels=labels,
        names=names,
        options={},
    )


def as_array(value: Any) -> np.ndarray:
    """A tensor, a picture or anything array-like as a numeric array."""
    if hasattr(value, "detach"):
        # NumPy can read neither a tensor that needs gradients nor one on the GPU.
        value = value.detach().cpu()
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise DataError(f"an item is no array ({error}); give arrays or images.") from error
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"an item is a {type(value).__name__}, which is no array of numbers and no image."
        )
    return array


def _memory(values: np.ndarray) -> Any:
    from robgui.core.dataset.arrays import Memory

    return Memory(values)


def _input(items: Any, place: int) -> Any:
    if hasattr(items, "get_input"):  # MAITE: the input without its target.
        return items.get_input(place)
    item = items[place]
    if isinstance(item, Mapping):
        key = next((key for key in _INPUTS if key in item), None)
        if key is None:
            keys = ", ".join(map(str, item))
            raise DataError(f"item {place} has no image; its keys are: {keys}.")
        return item[key]
    if isinstance(item, tuple | list):
        return item[0]
    return item


def _target(items: Any, place: int) -> Any:
    if hasattr(items, "get_target"):
        return items.get_target(place)
    item = items[place]
    if isinstance(item, Mapping):
        return next((item[key] for key in _LABELS if key in item), None)
    if isinstance(item, tuple | list) and len(item) > 1:
        return item[1]
    return None


def _is_picture(value: Any) -> bool:
    return hasattr(value, "mode") and hasattr(value, "convert")


def _names(items: Any) -> tuple[str, ...]:
    """The class names of a torchvision dataset, of a MAITE dataset, or of one of Hugging Face."""
    known = getattr(items, "classes", None)
    if isinstance(known, Sequence) and known and all(isinstance(name, str) for name in known):
        return tuple(known)
    about = getattr(items, "metadata", None)
    if isinstance(about, Mapping):
        index = about.get("index2label")
    else:
        index = None
    if isinstance(index, Mapping) and index and all(isinstance(key, int) for key in index):
        highest = max(index)
        return tuple(str(index.get(number, number)) for number in range(highest + 1))
    features = getattr(items, "features", None)
    if isinstance(features, Mapping):
        found = next((features[key] for key in _LABELS if key in features), None)
        return tuple(getattr(found, "names", None) or ())
    return ()


def _targets(
    items: Any, names: tuple[str, ...], name: str
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """The labels: from the object's own list, or else item by item."""
    # Asking every item for its label would decode every picture.
    for attribute in ("targets", "labels", "_labels"):
        known = getattr(items, attribute, None)
        if known is not None and not callable(known) and len(known) == len(items):
            return label_array(as_array(known), names, name)
    if _target(items, 0) is None:
        return None, names
    found = [_target(items, place) for place in range(len(items))]
    if isinstance(found[0], str):
        return label_array(np.array(found, dtype="U"), names, name)
    rows = np.stack([as_array(target) for target in found])
    if rows.ndim == 2 and rows.shape[1] > 1:  # MAITE: one-hot, or a probability for each class.
        return rows.argmax(1).astype(np.int64), names
    return label_array(rows.reshape(len(rows)), names, name)


def _value_range(first: np.ndarray, name: str, options: Options) -> tuple[float, float]:
    if options.low is not None and options.high is not None:
        return options.low, options.high
    try:
        return images.value_range(first)
    except DataError as error:
        raise DataError(
            f"{name}: {error} If its transform normalises, leave that out: mean and std belong to"
            " the model's settings."
        ) from error


def _collected(given: Any, name: str, options: Options) -> Dataset:
    """Collects batches that can be iterated only once into memory."""
    inputs: list[np.ndarray] = []
    labels: list[np.ndarray] = []
    size = 0
    try:
        batches = iter(given)
    except TypeError as error:
        raise DataError(
            f"a {name} is no data; give a path, an array, a dataset or a DataLoader."
        ) from error
    for batch in batches:
        if isinstance(batch, tuple | list):
            pair = batch
        else:
            pair = (batch,)
        inputs.append(as_array(pair[0]))
        if len(pair) > 1:
            labels.append(np.atleast_1d(as_array(pair[1])))
        size += inputs[-1].nbytes
        if size > LARGEST_ARRAY:
            raise DataError(
                f"the {name} has no items by number and gives more than {sized(LARGEST_ARRAY)};"
                " give a dataset with __len__ and __getitem__, which is read item by item."
            )
    if not inputs:
        raise DataError(f"the {name} is empty; give one with items.")
    whole = np.concatenate(inputs)
    return build(_memory(whole), name, None, options, np.concatenate(labels) if labels else None)
