"""What a network sees at one place of a scene: rendered and classified away from the GUI thread."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.analyses.semantic.params import IMAGE
from robgui.analyses.semantic.result import image_place

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapParams, MapResult, SceneAxis
    from robgui.analyses.semantic.result import Sight
    from robgui.analyses.semantic.scene.meshes.file import Up
    from robgui.core.dataset import Dataset
    from robgui.core.execution.request import Request
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store

# Counted over all lookers: stopping a topic must not stop someone else's question of that name.
_TOPICS = (f"look {number}" for number in itertools.count())


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

    classifier: ModelCard
    spec: str
    dataset: Dataset | None
    index: int
    values: Mapping[str, float]
    seed: int = 0
    up: Up = "auto"


@dataclass(frozen=True)
class PoseView:
    """What can be seen at a place.

    Attributes:
        where: The place.
        name: What to call the scene.
        image: ``(c, h, w)`` float32 in [0, 1], as the network sees it.
        picture: ``(h, w, 3)`` uint8, the same to look at.
        classes: The best classes, the best first, with their ``names`` and ``shares``.
        axes: All parameters of the scene.
        usual: Names of those that vary by default.
        notes: What was changed while a mesh was read.
    """

    where: Where
    name: str
    image: np.ndarray
    picture: np.ndarray
    classes: tuple[int, ...]
    names: tuple[str, ...]
    shares: tuple[float, ...]
    axes: tuple[SceneAxis, ...]
    usual: tuple[str, ...]
    notes: tuple[str, ...]


class Looker:
    """Asks for looks at scenes; only the newest counts.

    Args:
        store: Its ``pictures`` wait for the answers.
        key: Of the work: only the newest look is delivered.
    """

    def __init__(self, store: Store, key: str) -> None:
        self._store, self._key = store, key
        self._topics: dict[str, str] = {}

    def look(
        self,
        where: Where,
        done: Callable[[PoseView], None],
        failed: Callable[[str, str], None] | None = None,
        key: str = "",
    ) -> None:
        """Delivers what can be seen at ``where``, unless something newer is asked for first."""
        self._give_up(key)
        topic = self._topics[key] = next(_TOPICS)

        def arrived(look: PoseView) -> None:
            self._topics.pop(key, None)
            done(look)

        self._store.pictures.run(
            lambda: see(self._store.answers.ask, where, topic),
            arrived,
            failed=failed,
            key=f"{self._key} {key}",
        )

    def drop(self, key: str = "") -> None:
        """Abandons the last look."""
        self._give_up(key)
        self._store.pictures.drop(f"{self._key} {key}")

    def _give_up(self, key: str) -> None:
        """Gives a model that has not answered by now a moment to finish."""
        if topic := self._topics.pop(key, ""):
            self._store.answers.stop(topic)


def see(ask: Callable[..., Any], where: Where, topic: str = "") -> PoseView:
    """Looks, now; not on the GUI thread.

    Args:
        ask: Asks whoever has the model, as Models does.
        where: The place.
        topic: What to call the question.
    """
    from robgui.core.dataset import align
    from robgui.core.dataset.picture import picture_of
    from robgui.core.execution.asking.by_value import by_value

    model, one = where.classifier, None
    if where.dataset is not None and where.spec == IMAGE:
        # Only a scene made of an image needs the input; a mesh must not pay for sending it.
        one = by_value(align(model, where.dataset), [where.index], model.shape)
    sight: Sight = ask(
        "semantic_look",
        model=model,
        topic=topic,
        spec=where.spec,
        one=one,
        values=dict(where.values),
        seed=where.seed,
        up=where.up,
    )
    return PoseView(
        where=where,
        name=sight.name,
        image=sight.image,
        picture=picture_of(sight.image, "image"),
        classes=sight.classes,
        names=sight.names,
        shares=sight.shares,
        axes=sight.axes,
        usual=sight.usual,
        notes=sight.notes,
    )


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
        dataset = store.subjects.dataset_of(request)
        if dataset is None:
            return (
                f"{request.dataset.name if request.dataset else 'The data'} is not open; open it to"
                " see pictures here."
            )
        if request.indices is None:
            index = place
        else:
            index = request.indices[place]
    values = {
        axis.name: float(value)
        for axis, value in zip(result.scene_axes, result.values, strict=True)
    }
    # The varied axes last: ``result.values`` has a value for each of them too.
    values |= {axis.name: value for axis, value in zip(result.axes, point, strict=True)}
    return Where(classifier, result.specs[shape], dataset, index, values, params.seed, params.up)
