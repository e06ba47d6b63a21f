"""Answers the window's question what a network sees at one place of a scene."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from robgui.analyses.semantic.params import SpaceParams
from robgui.analyses.semantic.result import TOP, Sight
from robgui.analyses.semantic.scene.space import find_axis, open_space
from robgui.core.execution.asking.answering import loaded
from robgui.core.execution.asking.by_value import from_value

if TYPE_CHECKING:
    from robgui.analyses.semantic.scene.meshes.file import Up
    from robgui.analyses.semantic.scene.space import Space
    from robgui.core.execution.loaded_cache import LoadedCache
    from robgui.core.model.classifier import Classifier

#: Scenes kept open; a mesh takes a while to read and prepare.
_OPEN = 6
_SPACES: OrderedDict[tuple[object, ...], Space] = OrderedDict()


def look(
    shelf: LoadedCache,
    model: dict[str, Any],
    spec: str,
    one: dict[str, Any] | None,
    values: dict[str, float],
    seed: int,
    up: Up,
) -> Sight:
    """What ``model`` sees.

    Args:
        shelf: Has the model.
        model: See ``ModelCard.asked``.
        spec: The scene: ``image``, a bundled mesh or the path of a mesh file.
        one: The input that ``image`` transforms, see ``by_value``; None for a mesh.
        values: Parameters that differ from their usual value.
        seed: Of the noise.
        up: The axis that points up in a mesh file.
    """
    classifier = loaded(shelf, model)
    space = _space(classifier, spec, one, seed, up)
    scene = space.scene
    place = torch.tensor([[axis.default for axis in scene.axes]], device=classifier.device)
    for name, value in values.items():
        place[0, find_axis(scene, name)[0]] = value
    with torch.no_grad():
        images = scene.images(place)
    shares = classifier.probs(images)[0].float().cpu().numpy()
    best = np.argsort(-shares, kind="stable")[:TOP]
    return Sight(
        name=space.name,
        image=images[0].float().cpu().numpy(),
        classes=tuple(int(c) for c in best),
        names=tuple(classifier.labels[c] for c in best),
        shares=tuple(float(shares[c]) for c in best),
        axes=tuple(scene.axes),
        usual=tuple(axis.name for axis in space.axes),
        notes=tuple(getattr(scene, "notes", ())),
    )


def _space(
    classifier: Classifier, spec: str, one: dict[str, Any] | None, seed: int, up: Up
) -> Space:
    if one is None:
        data = ""
    else:
        data = hashlib.blake2b(one["array"].tobytes()).hexdigest()
    # The id is not reused while the key is there: the space holds the model.
    key = (id(classifier), str(classifier.device), spec, data, seed, up)
    if key not in _SPACES:
        if one is None:
            dataset = None
        else:
            dataset = from_value(one)
        _SPACES[key] = open_space(spec, classifier, dataset, SpaceParams(seed=seed, up=up))
    _SPACES.move_to_end(key)
    while len(_SPACES) > _OPEN:
        _SPACES.popitem(last=False)
    return _SPACES[key]
