"""What timm and torchvision say about the weights they publish: preprocessing and class names.

A torchvision file is recognised by its content: its published name ends with the first digits of
its SHA-256.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from robgui.core.loading.folders.pictures import share_of, timm_settings
from robgui.core.loading.libraries import library
from robgui.core.regular import open_regular

_CHUNK = 2**20
# As in "resnet18-f37072fd.pth", which torch.hub checks after a download.
_HASH = re.compile(r"-([0-9a-f]{8,10})\.\w+$")
_ASSUMED = "preprocessing and class names of {}, as the network is {} with as many classes"

Told = tuple[dict[str, object], tuple[str, ...]]


def published_network(path: Path) -> str:
    """The architecture whose weights torchvision publishes as this very file; else empty."""
    found = _published(path)
    if found:
        return f"torchvision:{found[0]}"
    return ""


def told_of(path: Path, architecture: str, module: nn.Module, classes: int) -> Told:
    """Settings of weights for a network of a library, and remarks on where they come from.

    Args:
        path: The file of weights.
        architecture: ``timm:name`` or ``torchvision:name``; nothing is known about others.
        module: The network.
        classes: How many classes it has.
    """
    where, _, call = architecture.partition(":")
    name = call.partition("(")[0]
    if where == "torchvision":
        return _of_torchvision(path, name, classes)
    if where == "timm":
        return _of_timm(name, module, classes)
    return {}, ()


def _of_torchvision(path: Path, name: str, classes: int) -> Told:
    if found := _published(path):
        weights = found[1]
        return _settings(weights), (f"torchvision publishes this file as {weights}",)
    package = _torchvision()
    if package is None:
        every = []
    else:
        every = list(package.models.get_model_weights(name))
    fitting = [each for each in every if len(each.meta.get("categories", ())) == classes]
    if not fitting:
        return {}, ()
    return _settings(fitting[0]), (_ASSUMED.format(fitting[0], name),)


def _of_timm(name: str, module: nn.Module, classes: int) -> Told:
    described: Any = getattr(module, "pretrained_cfg", None) or {}
    if described.get("num_classes") != classes:
        return {}, ()
    told = timm_settings(described)
    if not described.get("fixed_input_size"):
        told.pop("shape", None)  # The weights may be for another size, which is guessed and tried.
    return told, (f"preprocessing as timm has it for {name}",)


def _settings(weights: Any) -> dict[str, object]:
    """The transforms that torchvision applies before these weights, and the class names."""
    way = weights.transforms()
    (kept, *_), (scaled, *_) = way.crop_size, way.resize_size
    # "antialias": torchvision resizes Pillow images, which are always antialiased.
    told: dict[str, object] = {
        "shape": (3, kept, kept),
        "resize": "crop",
        "crop": share_of(kept, scaled),
        "interpolation": str(way.interpolation.value),
        "antialias": True,
        "mean": tuple(way.mean),
        "std": tuple(way.std),
    }
    if names := weights.meta.get("categories"):
        told["labels"] = tuple(names)
    return told


def _published(path: Path) -> tuple[str, Any] | None:
    package = _torchvision()
    if package is None:
        return None
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    for name in package.models.list_models(module=package.models):
        for weights in package.models.get_model_weights(name):
            match = _HASH.search(str(weights.url))
            if match and digest.hexdigest().startswith(match[1]):
                return name, weights
    return None


def _torchvision() -> ModuleType | None:
    if importlib.util.find_spec("torchvision") is None:
        return None
    return library("torchvision")
