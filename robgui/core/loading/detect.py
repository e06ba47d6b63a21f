"""Finds by trying what a file leaves open: shape, kind, layout and output of a model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from robgui.core.errors import IncompleteModelError, ModelError
from robgui.core.loading.fixed_batch import FixedBatch
from robgui.core.loading.raw import FirstLayer, Raw, which_output
from robgui.core.model.backend import Backend, TorchBackend, first_line, pick_output
from robgui.core.model.classifier import Classifier
from robgui.core.model.guessing import (
    ends_in_sigmoid,
    kind_of,
    output_kind,
    random_inputs,
    within_one,
)
from robgui.core.model.settings import ModelSettings, parse

Values = dict[str, object]

#: Most scores for one input; real classifiers have a tenth of that.
_MOST_SCORES = 2**20
#: Side lengths of common image sets: MNIST, CIFAR, Tiny ImageNet, STL-10, half of ImageNet,
#: ImageNet.
_SIDES = (28, 32, 64, 96, 112, 224)
_INSIDE = "lie between 0 and 1 on every input tried"
_SEVERAL = " and an input may have several; set multi_label = false if exactly one class is right"
#: Numbers of features that are an image flattened to one row.
_ROWS = {784: (1, 28, 28), 3072: (3, 32, 32)}


def guesses_from_input(sizes: Sequence[int | None]) -> tuple[Values, ...]:
    """What a model's declared input, without the batch, may mean; None stands for any size."""
    match tuple(sizes):
        case (int(features),):
            row: Values = {"kind": "image", "shape": _ROWS.get(features), "layout": "flat"}
            table: Values = {"kind": "table", "shape": (features,)}
            if features in _ROWS:
                return (row, table)
            return (table,)
        case (int(features), 1) if features in _ROWS:
            return (
                {"kind": "image", "shape": _ROWS[features], "layout": "column"},
                {"kind": "sequence", "shape": (features, 1)},
            )
        case (int(steps), int(features)):
            return ({"kind": "sequence", "shape": (steps, features)},)
        # Channels last, as TensorFlow has them, unless the first axis could be the channels too.
        case (height, width, channels) if channels in (1, 3) and height not in (1, 3):
            return tuple(_images(channels, height, width, "hwc"))
        case (channels, height, width):
            return tuple(_images(channels, height, width, "chw"))
    return ()


def guesses_from_layer(layer: FirstLayer | None) -> tuple[Values, ...]:
    """What the first layer of a network suggests."""
    if layer is None:
        return ()
    if not layer.conv:
        shape = {**_ROWS, 1024: (1, 32, 32), 12288: (3, 64, 64)}.get(layer.size)
        if shape:
            images: list[Values] = [
                {"kind": "image", "shape": shape, "layout": layout} for layout in ("chw", "flat")
            ]
        else:
            images = []
        return (*images, {"kind": "table", "shape": (layer.size,)})
    if layer.size == 1:
        # The order decides: a network that pools over the whole picture runs at every size, and the
        # first that runs is taken.
        sides: Sequence[int] = _SIDES
    else:
        if layer.large:
            sides = (224, 112, 96, 64, 32, 28)
        else:
            sides = (32, 64, 96, 112, 224, 28)
    return tuple(
        {"kind": "image", "shape": (layer.size, side, side), "layout": "chw"} for side in sides
    )


def settle(raw: Raw, given: Mapping[str, object], name: str, content: str) -> Classifier:
    """The classifier with every open setting decided; its remarks say what was guessed."""
    told = {**raw.told, **given}
    parse(told, f"{name}: settings")
    failures: list[tuple[ModelSettings, Exception]] = []
    for candidate in _candidates(raw, told):
        settings = parse(candidate, f"{name}: settings")
        backend, failure = _try(raw.backend, raw_shape(settings))
        if backend is not None:
            settings, lost = _fitting_names(backend, settings, name, "labels" in given)
            classifier = _finish(raw, backend, settings, told, name, content)
            classifier.remarks = (*classifier.remarks, *lost)
            return classifier
        failures.append((settings, failure))
    if failures:
        settings, failure = failures[0]  # The likeliest guess.
        # It ran, and its answer is not a table of scores.
        answers = all(isinstance(each, ModelError) for _, each in failures)
        # A single guess is what the file itself says.
        if answers or "shape" in told or len(raw.guesses) == 1:
            raise ModelError(
                f"{name} does not work on an input of shape {_times(settings.shape)}:"
                f" {first_line(failure)}."
            )
        raise IncompleteModelError(
            f"{name} does not work on an input of shape {_times(settings.shape)}, which was guessed"
            f" ({first_line(failure)}); give the shape of one input, for example 3,224,224."
        )
    raise IncompleteModelError(
        f"{name}: the shape of one input cannot be told from the file; give it as shape, for"
        " example 3,224,224."
    )


def _fitting_names(
    backend: Backend, settings: ModelSettings, name: str, said: bool
) -> tuple[ModelSettings, list[str]]:
    """Drops a file's class names if their number is wrong; what the user said is not corrected."""
    if said or not settings.labels:
        return settings, []
    plain = settings.change(labels=())
    classes = Classifier(backend, plain, name=name).classes
    if classes == len(settings.labels):
        return settings, []
    words = f"the file names {len(settings.labels)} classes but gives {classes}; its names are left"
    return plain, [f"{words} out"]


def raw_shape(settings: ModelSettings) -> tuple[int, ...]:
    """Shape of one input as the raw model sees it."""
    shape = settings.shape
    if settings.kind != "image":
        return shape
    rows = {
        "chw": shape,
        "hwc": (*shape[1:], shape[0]),
        "flat": (math.prod(shape),),
        "column": (math.prod(shape), 1),
    }
    return rows[settings.layout]


def _candidates(raw: Raw, told: Values) -> Iterator[Values]:
    guesses = raw.guesses or guesses_from_layer(raw.first)
    if "shape" not in told:
        for guess in guesses:
            if all(told.get(key, value) == value for key, value in guess.items()):
                yield {**guess, **told}
        return
    shape = parse(told, "settings").shape
    base: Values = {"kind": kind_of(shape), **told}
    if base["kind"] != "image" or "layout" in told:
        yield base
        return
    matching = [
        guess["layout"] for guess in guesses if guess["shape"] == shape and "layout" in guess
    ]
    for layout in dict.fromkeys([*matching, "chw", "flat", "hwc"]):
        yield {**base, "layout": layout}


def _try(backend: Backend, shape: tuple[int, ...]) -> tuple[Backend | None, Exception]:
    """The backend if it answers on two inputs, in portions of one if only that works.

    Else the reason.
    """
    failures: list[Exception] = []
    attempts: tuple[Backend, ...] = (backend, FixedBatch(backend, 1))
    for attempt in attempts:
        try:
            with torch.inference_mode():
                # Two inputs: with one, a model that ignores its batch would pass.
                scores = attempt(torch.full((2, *shape), 0.5, device=backend.device))
        except Exception as error:  # Whatever it raises, this shape does not fit.
            failures.append(error)
            continue
        if len(scores) == 2 and scores[0].numel() <= _MOST_SCORES:
            return attempt, ModelError("")
        failures.append(
            ModelError(f"it returns {len(scores)} rows for 2 inputs")
            if len(scores) != 2
            else ModelError(f"it gives {scores[0].numel():,} scores, more than a classifier has")
        )
    return None, failures[0]


def _finish(
    raw: Raw, backend: Backend, settings: ModelSettings, told: Values, name: str, content: str
) -> Classifier:
    remarks = [*raw.remarks, *_about_outputs(raw.backend, backend, settings)]
    if isinstance(backend, FixedBatch) and not isinstance(raw.backend, FixedBatch):
        remarks.append("takes one input at a time, so it runs one by one")
    if "shape" not in told:
        if raw.guesses:
            source = "guessed from its input"
        else:
            source = "guessed from its first layer"
        if len(raw.guesses) == 1:
            source = "taken from the file"
        remarks.append(f"shape {_times(settings.shape)} {source}")
    if "layout" not in told and settings.layout != "chw":
        words = {
            "hwc": "channels last",
            "flat": "one row per image",
            "column": "one column per image",
        }
        remarks.append(f"wants {words[settings.layout]}")
    classifier = Classifier(backend, settings, name=name, content=content)
    classifier, output_remarks = _tell_output(classifier, told)
    classifier.remarks = (*remarks, *output_remarks)
    return classifier


def _about_outputs(raw: Backend, backend: Backend, settings: ModelSettings) -> list[str]:
    """Which output of a network is taken, if it has several."""
    if not isinstance(raw, TorchBackend):
        return []
    with torch.inference_mode():
        one = torch.full(
            (1 if isinstance(backend, FixedBatch) else 2, *raw_shape(settings)),
            0.5,
            device=raw.device,
        )
        names = raw.outputs(one)
    if len(names) > 1:
        return [which_output(pick_output(names, settings.scores), len(names))]
    return []


def _tell_output(classifier: Classifier, told: Values) -> tuple[Classifier, list[str]]:
    """Tells logits from probabilities by the last operation and by the answers to some inputs.

    Refuses a model that answers with NaN. A final sigmoid makes each output the probability of its
    class; what the user said about the model wins.
    """
    # ``infer`` refuses scores that are not finite; ``raw`` below would let them pass.
    classifier.infer(random_inputs(classifier.shape))
    if "output" in told:
        return classifier, []
    settings = classifier.settings
    raw = classifier.raw(_contrasts(classifier.shape))
    sigmoid = raw.shape[1] > 1 and _ends_in_sigmoid(classifier)
    apart = settings.multi_label or ("multi_label" not in told and sigmoid)
    if sigmoid and within_one(raw):
        why = "its last operation is a sigmoid, so each output is the probability of its class"
        if "multi_label" in told:
            told_so = ""
        else:
            told_so = _SEVERAL
        chosen = settings.change(output="probabilities", multi_label=apart)
        return classifier.with_settings(chosen), [why + told_so]
    kind = output_kind(raw, apart)
    settled = classifier.with_settings(settings.change(output=kind))
    if kind == "probabilities" and settings.multi_label:
        return settled, [f"its outputs {_INSIDE}, so each is read as the probability of its class"]
    if kind == "probabilities":
        return settled, ["its outputs are probabilities"]
    if within_one(raw):
        several = "set multi_label if an input may have several classes"
        return settled, [f"its outputs {_INSIDE} but do not add up to 1; {several}"]
    return settled, ["its outputs are logits"]


def _ends_in_sigmoid(classifier: Classifier) -> bool:
    """Whether the network's last operation is a sigmoid, if it can be traced."""
    if not classifier.capabilities.gradients:
        return False
    x = random_inputs(classifier.shape, 2).to(classifier.device).requires_grad_()
    try:
        return ends_in_sigmoid(classifier.logits(x))
    except (ModelError, RuntimeError):  # No gradient runs through it; only the values can tell.
        return False


def _contrasts(shape: Sequence[int]) -> Tensor:
    """Random, black, white and mixed inputs: logits leave [0, 1] on some of them."""
    x = random_inputs(shape)
    return torch.cat([x, x.round(), torch.zeros_like(x[:1]), torch.ones_like(x[:1])])


def _images(
    channels: int | None, height: int | None, width: int | None, layout: str
) -> Iterator[Values]:
    # Zero is never used: the model states both sides.
    sides = (32, 28, 64, 96, 112, 224) if height is None or width is None else (0,)
    for count in (channels,) if channels else (3, 1):
        for side in sides:
            yield {
                "kind": "image",
                "shape": (count, height or side, width or side),
                "layout": layout,
            }


def _times(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))
