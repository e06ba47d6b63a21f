"""steps: an analysis as an iterator, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from robgui.core.dataset import Dataset, from_arrays, open_dataset
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.execution import Execution
from robgui.core.execution.inline import Steps
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.params.text import typed
from robgui.core.execution.registry import find
from robgui.core.execution.request import build_request
from robgui.core.loading import load
from robgui.core.loading.modules import module_classifier
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import Workspace

Model = Classifier | nn.Module | str | Path
Models = Model | Sequence[Model]


def steps(
    name: str,
    classifier: Models,
    inputs: Any = None,
    *,
    workspace: Workspace | None = None,
    **params: Any,
) -> Steps:
    """Like ``robgui.run``, but iterable: every Step is a complete result on the way.

    To leave early, use it in a ``with`` statement or close it; the run then ends as cancelled.
    """
    if isinstance(inputs, str | Path) or _is_collection(inputs):
        inputs = open_dataset(inputs)
    classifiers = tuple(
        _classifier(one, inputs)
        for one in (classifier if isinstance(classifier, list | tuple) else [classifier])
    )
    if not classifiers:
        raise ModelError("No model was given; give a Classifier or the path of a model.")
    dataset = _dataset(inputs, classifiers[0])
    known = find(name)
    settings = typed(known.params.model_fields, known.params.renamed(params))
    request = build_request(known, classifiers, dataset, settings)
    shelf = LoadedCache(
        workspace=workspace, models=classifiers, datasets=() if dataset is None else (dataset,)
    )
    return Steps(Execution(request, workspace), shelf)


def _classifier(model: Any, inputs: Any) -> Classifier:
    if isinstance(model, str | Path):
        return load(model)
    if isinstance(model, Classifier):
        return model
    if isinstance(model, nn.Module):
        return module_classifier(model, inputs)
    raise ModelError(
        f"A {type(model).__name__} is no model; give the path of a file, or wrap it with"
        " robgui.Classifier.from_callable."
    )


def _dataset(inputs: Any, classifier: Classifier) -> Dataset | None:
    if inputs is None or isinstance(inputs, Dataset):
        return inputs
    try:
        # NumPy takes no tensor that has a gradient or lies on another device.
        array = np.asarray(inputs.detach().cpu() if hasattr(inputs, "detach") else inputs)
    except ValueError as error:
        raise DataError(
            f"The inputs are no array ({error}); give an array, a path or a Dataset."
        ) from error
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"The inputs are a {type(inputs).__name__} of {array.dtype}; give an array of numbers,"
            " a path or a Dataset."
        )
    return from_arrays(
        array[None] if _is_one(array.shape, classifier) else array, kind=classifier.kind
    )


def _is_collection(inputs: Any) -> bool:
    """Whether the inputs are a loader, another library's dataset, or a list of paths or items."""
    if isinstance(inputs, list | tuple):
        return bool(inputs) and isinstance(inputs[0], str | Path | dict | tuple)
    items = getattr(inputs, "dataset", inputs)
    return not hasattr(inputs, "__array__") and hasattr(items, "__getitem__")


def _is_one(shape: tuple[int, ...], classifier: Classifier) -> bool:
    """Whether an array of this shape is one input.

    As the classifier takes it, or an image in another common layout.
    """
    one = classifier.shape
    if classifier.kind != "image":
        return shape == one
    # Channels first, channels last, or a grey picture without an axis for them.
    return shape in (one, (*one[1:], one[0])) or (one[0] == 1 and shape == one[1:])
