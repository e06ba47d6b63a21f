"""What a network sees at one place of a scene: rendered and classified away from the GUI thread."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robgui.analyses.semantic.result import image_place

if TYPE_CHECKING:
    from robgui.analyses.semantic import Axis, MapParams, MapResult, Space
    from robgui.analyses.semantic.scene.mesh_file import Up
    from robgui.core.dataset import Dataset
    from robgui.core.execution.request import Request
    from robgui.core.model.classifier import Classifier
    from robgui.gui.state.store import Store

#: Classes listed beside a picture.
TOP = 5
#: So many scenes stay open; a mesh takes a while to read and prepare.
_OPEN = 6


@dataclass(frozen=True)
class Where:
    """A place in a scene.

    Attributes:
        classifier: The network that looks.
        spec: The scene: ``image``, a bundled mesh or the path of a mesh file.
        dataset: Holds the input that ``image`` transforms.
        index: Which of its inputs.
        values: Where parameters stand that are not at their usual value.
        seed: Of the noise.
        up: The axis that points up in a mesh file.
    """

    classifier: Classifier
    spec: str
    dataset: Dataset | None
    index: int
    values: Mapping[str, float]
    seed: int = 0
    up: Up = "auto"


@dataclass(frozen=True)
class Look:
    """What is to be seen at a place.

    Attributes:
        where: The place.
        name: What to call the scene.
        image: ``(c, h, w)`` float32 in [0, 1], as the network sees it.
        picture: ``(h, w, 3)`` uint8, the same to look at.
        classes: The best classes, the best first, with their ``names`` and ``shares``.
        axes: All parameters of the scene.
        usual: Names of those that vary when nobody says otherwise.
        notes: What was changed while a mesh was read.
    """

    where: Where
    name: str
    image: np.ndarray
    picture: np.ndarray
    classes: tuple[int, ...]
    names: tuple[str, ...]
    shares: tuple[float, ...]
    axes: tuple[Axis, ...]
    usual: tuple[str, ...]
    notes: tuple[str, ...]


class Looker:
    """Looks at scenes on a pool thread and keeps the last few of them open.

    Args:
        store: Its ``pictures`` do the work.
        key: Of the work: only the newest look is delivered.
    """

    def __init__(self, store: Store, key: str) -> None:
        self._store, self._key = store, key
        self._spaces: OrderedDict[tuple[object, ...], Space] = OrderedDict()
        self._lock = threading.Lock()

    def look(
        self,
        where: Where,
        done: Callable[[Look], None],
        failed: Callable[[str, str], None] | None = None,
        key: str = "",
    ) -> None:
        """Delivers what is to be seen at ``where``, unless something newer is asked for first."""
        self._store.pictures.run(
            lambda: self.see(where), done, failed=failed, key=f"{self._key} {key}"
        )

    def drop(self, key: str = "") -> None:
        """Nobody waits for the last look any more."""
        self._store.pictures.drop(f"{self._key} {key}")

    def see(self, where: Where) -> Look:
        """Looks, now; not on the GUI thread."""
        import torch

        from robgui.analyses.semantic.scene.space import find_axis
        from robgui.core.dataset.picture import picture_of

        space, classifier = self._space(where), where.classifier
        values = torch.tensor(
            [[axis.default for axis in space.scene.axes]], device=classifier.device
        )
        for name, value in where.values.items():
            values[0, find_axis(space.scene, name)[0]] = value
        with torch.no_grad():
            images = space.scene.images(values)
        shares = classifier.probs(images)[0].float().cpu().numpy()
        best = np.argsort(-shares, kind="stable")[:TOP]
        image = images[0].cpu().numpy()
        return Look(
            where=where,
            name=space.name,
            image=image,
            picture=picture_of(image, "image"),
            classes=tuple(int(c) for c in best),
            names=tuple(classifier.labels[c] for c in best),
            shares=tuple(float(shares[c]) for c in best),
            axes=tuple(space.scene.axes),
            usual=tuple(axis.name for axis in space.axes),
            notes=tuple(getattr(space.scene, "notes", ())),
        )

    def _space(self, where: Where) -> Space:
        from robgui.analyses.semantic.params import IMAGE, SpaceParams
        from robgui.analyses.semantic.scene.space import open_space
        from robgui.core.dataset import align

        image = where.spec == IMAGE
        data = where.dataset.fingerprint if where.dataset is not None and image else ""
        key = (
            id(where.classifier),
            str(where.classifier.device),
            where.spec,
            data,
            where.index if image else 0,
            where.seed,
            where.up,
        )
        with self._lock:
            if key not in self._spaces:
                one = None
                if where.dataset is not None and image:
                    one = align(where.classifier, where.dataset).subset([where.index])
                self._spaces[key] = open_space(
                    where.spec, where.classifier, one, SpaceParams(seed=where.seed, up=where.up)
                )
            self._spaces.move_to_end(key)
            while len(self._spaces) > _OPEN:
                self._spaces.popitem(last=False)
            return self._spaces[key]


def place_of(
    store: Store,
    request: Request,
    params: MapParams,
    result: MapResult,
    point: tuple[float, ...],
    which: tuple[int, int],
) -> Where | str:
    """The place of ``point`` in the scene of a result.

    A sentence when its model or data are not open.

    ``which`` names the network and the shape.
    """
    network, shape = which
    wanted = request.models[network]
    classifier = next(
        (m for m in store.library.models if m.fingerprint == wanted.fingerprint), None
    )
    if classifier is None:
        return f"{wanted.name} is not open; open it to see pictures here."
    dataset, index = None, 0
    if (place := image_place(result.specs, shape)) >= 0:
        dataset = store.library.dataset_of(request)
        if dataset is None:
            return (
                f"{request.dataset.name if request.dataset else 'The data'} is not open; open it to"
                " see pictures here."
            )
        index = place if request.indices is None else request.indices[place]
    values = {
        axis.name: float(value)
        for axis, value in zip(result.scene_axes, result.values, strict=True)
    }
    values |= {axis.name: value for axis, value in zip(result.axes, point, strict=True)}
    return Where(classifier, result.specs[shape], dataset, index, values, params.seed, params.up)
