"""Opens scenes: the chosen input, a bundled mesh or a mesh file."""

from __future__ import annotations

from pathlib import Path

from robgui.analyses.semantic.params import IMAGE
from robgui.analyses.semantic.scene.image_scene import ImageScene
from robgui.analyses.semantic.scene.mesh_scene import MeshScene
from robgui.analyses.semantic.scene.meshes.file import FORMATS, Up, read_mesh
from robgui.analyses.semantic.scene.meshes.shapes import bundled, bundled_meshes
from robgui.analyses.semantic.scene.scene import Scene
from robgui.core.dataset import Dataset, inputs
from robgui.core.errors import DataError
from robgui.core.model.classifier import Classifier

__all__ = ["IMAGE", "bundled_meshes", "open_scene"]


def open_scene(
    spec: str,
    classifier: Classifier,
    dataset: Dataset | None = None,
    seed: int = 0,
    up: Up = "auto",
) -> Scene:
    """The scene that ``spec`` names, making inputs for a classifier.

    Args:
        spec: ``image`` for the one input of the dataset, the name of a bundled mesh, or the path of
            a mesh file.
        classifier: Whose inputs are made, on its device.
        dataset: Holds exactly one input, for ``image``.
        seed: Of the noise that ``image`` may add.
        up: The axis that points up in a mesh file.

    Raises:
        DataError: The scene cannot be opened, or the classifier takes no images.
    """
    if classifier.kind != "image":
        raise DataError(
            f"{classifier.name} takes no images; scenes need a network for grey or colour images."
        )
    if spec == IMAGE:
        return _image(classifier, dataset, seed)
    # A path by its ending or its folders: names of bundled meshes have neither.
    if Path(spec).suffix.lower() in FORMATS or len(Path(spec).parts) > 1:
        mesh = read_mesh(Path(spec).expanduser(), up)
    else:
        mesh = bundled(spec)
    return MeshScene(mesh, classifier.shape, classifier.device)


def _image(classifier: Classifier, dataset: Dataset | None, seed: int) -> ImageScene:
    if dataset is None or len(dataset) != 1:
        if not dataset:
            count = "none"
        else:
            count = f"{len(dataset):,}"
        raise DataError(
            f"The scene {IMAGE} transforms exactly one input, not {count}; choose it in the gallery"
            " or with --index."
        )
    x = classifier.tensor(inputs(classifier, dataset))
    return ImageScene(x[0].clamp(0, 1), name=dataset.key(0), seed=seed)
