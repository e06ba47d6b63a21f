"""Keras files -> Raw, on the torch backend of Keras 3."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from robgui.core.errors import MissingExtraError, ModelError, TrustError
from robgui.core.identify import Format
from robgui.core.loading.archive import Archive
from robgui.core.loading.detect import guesses_from_input
from robgui.core.loading.keras_files.numbers import check_numbers
from robgui.core.loading.keras_files.parts import foreign_parts, without_training
from robgui.core.loading.raw import TRUST, Raw, reading
from robgui.core.model.backend import TorchBackend

#: Numbers that a network may hold besides its stored weights.
_UNSTORED = 2**20
_DESCRIPTION, _METADATA, _WEIGHTS = "config.json", "metadata.json", "model.weights.h5"


class KerasModule(nn.Module):
    """A Keras network as a torch module; called, never trained."""

    def __init__(self, keras: ModuleType, network: Any) -> None:
        super().__init__()
        self._device = keras.device
        self.network = network
        # Keras does not register the layers inside a network with torch.
        self.layers = nn.ModuleDict(
            {
                f"{place}_{layer.name}".replace(".", "_"): layer
                for place, layer in enumerate(network._flatten_layers(include_self=False))
            }
        )

    def forward(self, x: Tensor) -> Any:
        """The network's answer, computed where the input is."""
        place = x.device
        # Keras would make its own constants on the default device, the GPU if there is one.
        with self._device(f"{place.type}:{place.index or 0}"):
            return self.network(x, training=False)


def load_keras(path: Path, kind: Format, trust: bool) -> Raw:
    """Reads a Keras file; code in it, and HDF5 files as a whole, need trust."""
    if kind is Format.KERAS_HDF5 and not trust:
        raise TrustError(
            f"{path} is not loaded: an HDF5 file of Keras can hold code, and nothing tells for"
            f" sure; {TRUST}, or save the model as .keras."
        )
    if trust:
        keras = _keras(path)
        with reading(path, "a Keras file"):
            return _raw(path, keras, _load(keras, path, safe=False))
    described, metadata = _described(path)
    keras = _keras(path)
    with (
        reading(path, "a Keras file"),
        tempfile.TemporaryDirectory(prefix="robgui-") as folder,
    ):
        checked = Path(folder) / "model.keras"
        held = _rewrite(path, checked, described, metadata)
        _refuse_gigabytes(path, keras, described, held)
        return _raw(path, keras, _load(keras, checked, safe=True))


def _described(path: Path) -> tuple[Any, bytes]:
    """The network's description, found harmless, and the Keras version that wrote it."""
    with Archive(path) as archive:
        archive.verify()
        try:
            described = json.loads(archive.read(_DESCRIPTION))
        except (ValueError, RecursionError) as error:
            raise ModelError(f"{path} is damaged: its description is no JSON.") from error
        if _METADATA in archive.names:
            metadata = archive.read(_METADATA)
        else:
            metadata = b"{}"
    plain = without_training(described)
    if foreign := foreign_parts(plain):
        raise TrustError(
            f"{path} is not loaded: these parts of the network are not known to be harmless"
            f" ({', '.join(foreign[:5])}); {TRUST}."
        )
    return plain, metadata


def _rewrite(path: Path, target: Path, described: Any, metadata: bytes) -> int:
    """A copy with exactly what was checked, so nothing else is read.

    Returns the bytes of its weights.
    """
    weights = target.with_name("weights.h5")
    with Archive(path) as archive:
        weights.write_bytes(archive.read(_WEIGHTS))
    held = check_numbers(weights, path)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as copy:
        copy.writestr(_METADATA, metadata)
        copy.writestr(_DESCRIPTION, json.dumps(described))
        copy.write(weights, _WEIGHTS)
    weights.unlink()
    return held


def _refuse_gigabytes(path: Path, keras: ModuleType, described: Any, held: int) -> None:
    """Refuses a network larger than its weights.

    It would take memory before the mismatch is seen, so it is first built without memory, to count
    its numbers.
    """
    with keras.device("meta"):
        sketch = keras.saving.deserialize_keras_object(described, safe_mode=True)
    asked = sum(math.prod(each.shape) for each in sketch.variables)
    if asked > _UNSTORED + held:  # A number takes at least a byte.
        raise ModelError(
            f"{path} is refused: its description asks for {asked:,} numbers, and its weights hold"
            f" {held / 1e6:,.1f} MB."
        )


def _keras(path: Path) -> ModuleType:
    """Keras on torch; Keras chooses its backend on first import."""
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = "torch"
    try:
        import h5py  # noqa: F401  (asked for here, so a missing package is said at once)
        import keras as found
    except ImportError:
        raise MissingExtraError(f"{path}: a Keras model", "keras") from None
    keras: ModuleType = found
    if (backend := keras.backend.backend()) != "torch":
        raise ModelError(
            f"{path}: Keras computes with {backend} in this process; start Python with"
            " KERAS_BACKEND=torch."
        )
    return keras


def _load(keras: ModuleType, path: Path, *, safe: bool) -> Any:
    # Not compiled: losses and metrics can be code of their own, and only training needs them.
    return keras.saving.load_model(path, compile=False, safe_mode=safe)


def _raw(path: Path, keras: ModuleType, network: Any) -> Raw:
    inputs = list(getattr(network, "inputs", None) or [])
    if len(inputs) > 1:
        raise ModelError(f"{path}: it takes {len(inputs)} inputs; a classifier takes one.")
    shape = inputs[0].shape if inputs else []
    sizes = [None if size is None else int(size) for size in shape]
    layers = keras.layers
    seen = (layers.Conv2D, layers.DepthwiseConv2D, layers.SeparableConv2D, layers.Dense)
    last = seen if keras.config.image_data_format() == "channels_last" else (layers.Dense,)
    backend = TorchBackend(KerasModule(keras, network), layers=seen, channels_last=last)
    return Raw(
        # Keras has put it on the GPU if there is one; the loader decides where it belongs.
        backend.to(torch.device("cpu")),
        guesses=guesses_from_input(sizes[1:]),
        remarks=(f"Keras {type(network).__name__}, computed by torch",),
    )
