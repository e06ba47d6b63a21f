"""Two models as one: a classifier of two classes, "agree" and "disagree".

Every engine takes it: where two versions of a network disagree, how near that is to an input, how
likely it is. With s_c the score of class c, the margin of c in one model is s_c - max(s_k, k ≠ c),
and

    g = max over c of min(margin of c in the first, margin of c in the second)

is above 0 exactly where both put the same class first. The pair answers with the logits g and -g,
which are continuous, and have gradients where both models have some.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from robgui.core.errors import ModelError, RobguiError, TrustError
from robgui.core.identify import Format, identify
from robgui.core.loading.quantised import round_inputs, round_weights
from robgui.core.loading.raw import Raw
from robgui.core.model.backend import Capabilities, Reduce
from robgui.core.model.classifier import Classifier
from robgui.core.model.pairing import BITS, BITS_RANGE, INNER, SETTINGS_KEYS
from robgui.core.model.settings import parse
from robgui.core.regular import beside, read_regular
from robgui.core.toml import parse_toml

AGREE, DISAGREE = "agree", "disagree"
#: Largest pair file; the names of a hundred thousand classes, twice, take less.
_LARGEST_FILE = 20_000_000
#: What the file names.
_KEYS = ("first", "second")


class PairBackend:
    """Both models behind one answer.

    Args:
        first: The one whose inputs are taken.
        second: The other.
        order: Places of the first's classes among those of the second.
    """

    def __init__(self, first: Classifier, second: Classifier, order: Sequence[int]) -> None:
        self._first, self._second, self._places = first, second, tuple(order)
        self._order = torch.tensor(self._places, device=first.device)
        self._units = first.kind != "image"

    @property
    def device(self) -> torch.device:
        """Where both live."""
        return self._first.device

    @property
    def capabilities(self) -> Capabilities:
        """Gradients where both have them; no layers, because there are two networks."""
        sides = self._first.capabilities, self._second.capabilities
        lacking = [side.reason for side in sides if not side.gradients]
        if lacking:
            reason = lacking[0]
        else:
            reason = "two models have no layers in common"
        return Capabilities(gradients=not lacking, activations=False, reason=reason)

    def __call__(self, x: Tensor) -> Tensor:
        """The logits of agreeing and disagreeing ``(n, 2)``."""
        first = _margins(self._first.logits(self._within(self._first, x)))
        second = _margins(self._second.logits(self._within(self._second, x))[:, self._order])
        agreement = torch.minimum(first, second).amax(1)
        return torch.stack([agreement, -agreement], 1)

    def activations(self, x: Tensor, reduce: Reduce) -> tuple[Tensor, dict[str, Tensor]]:
        """Refused: there are two networks."""
        raise ModelError("Two models have no layers in common; look into one of them.")

    def to(self, device: torch.device) -> PairBackend:
        """Both on ``device``."""
        return PairBackend(self._first.to(device), self._second.to(device), self._places)

    def channels_last(self, on: bool) -> None:
        """Chooses the memory format of both."""
        for side in (self._first, self._second):
            side.to(side.device, channels_last=on)

    def _within(self, side: Classifier, x: Tensor) -> Tensor:
        """Rescales [0, 1] for one of the models.

        Each scales columns in their own units differently.
        """
        if not self._units:
            return x
        low, high = (
            torch.tensor(ends, device=x.device, dtype=x.dtype)
            for ends in (side.settings.low, side.settings.high)
        )
        return (x - low) / torch.where(high == low, torch.ones_like(high), high - low)


def load_pair(path: Path) -> Raw:
    """Both models that a pair file names; or one model, and itself with its weights rounded."""
    stored = _stored(path)
    if BITS in stored:
        return _twins(path, stored)
    first, second = (
        _side(path, stored[key], stored.get(settings, {}))
        for key, settings in zip(_KEYS, SETTINGS_KEYS, strict=True)
    )
    if first.kind != second.kind or first.shape != second.shape:
        sizes = " and ".join("×".join(map(str, side.shape)) for side in (first, second))
        raise ModelError(
            f"{path}: {first.name} and {second.name} take inputs of different shapes ({sizes});"
            " a pair needs models of the same inputs."
        )
    backend = PairBackend(first, second, _order(path, first, second))
    return Raw(
        backend,
        told=_told(first),
        remarks=(f"{first.name} against {second.name}", *_framing(first, second)),
        content=f"{first.fingerprint} {second.fingerprint}",
    )


def _twins(path: Path, stored: dict[str, Any]) -> Raw:
    """A model against itself with its weights in fewer bits."""
    bits = int(stored[BITS])
    settings = stored.get(SETTINGS_KEYS[0], {})
    first, second = (_side(path, stored[_KEYS[0]], settings) for _ in _KEYS)
    try:
        many = round_weights(second, bits)
        if stored.get(INNER):
            layers = round_inputs(second, bits)
        else:
            layers = 0
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    backend = PairBackend(first, second, range(first.classes))
    if layers:
        inner = f" and what {layers:,} layers take"
    else:
        inner = ""
    remark = f"{first.name} against itself with {many:,} weights{inner} in {bits} bits"
    content = f"{first.fingerprint} weights{' and inputs' if layers else ''} in {bits} bits"
    return Raw(backend, told=_told(first), remarks=(remark,), content=content)


def _stored(path: Path) -> dict[str, Any]:
    """The file's content: two names, or one name and a number of bits, and settings if written."""
    try:
        stored = parse_toml(read_regular(path, _LARGEST_FILE))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read as a pair of models: {error}.") from error
    keys = (_KEYS[0], BITS, INNER) if BITS in stored else _KEYS
    files = [key for key in keys if key in _KEYS]
    named = all(isinstance(stored.get(key), str) and stored[key] for key in files)
    named = named and isinstance(stored.get(INNER, True), bool)
    tables = all(isinstance(stored.get(key, {}), dict) for key in SETTINGS_KEYS)
    if not (named and tables and stored.keys() <= {*keys, *SETTINGS_KEYS}):
        raise ModelError(
            f"{path} is no pair of models: it must name the files first and second, or first and a"
            " number of bits; make it with robgui pair."
        )
    if BITS in stored:
        _check_bits(path, stored[BITS])
    return stored


def _check_bits(path: Path, bits: Any) -> None:
    # Not ``isinstance``: TOML's true would pass for 1.
    if type(bits) is not int or bits not in BITS_RANGE:
        raise ModelError(
            f"{path}: bits = {bits!r}: write a whole number from {BITS_RANGE.start} to"
            f" {BITS_RANGE[-1]}."
        )


def _side(path: Path, name: str, settings: dict[str, Any]) -> Classifier:
    # Late: the loader imports this module.
    from robgui.core.loading.loader import load

    try:
        part = beside(path.parent, name)
        if identify(part).model is Format.PAIR:
            raise ModelError(f"{path}: {name} is a pair itself; name two single models.")
        parse(settings, f"{path}: settings of {name}")  # so that they name nothing else
        # On the host first: the pair as a whole is moved afterwards, like any backend.
        return load(part, device="cpu", **settings)
    except OSError as error:
        raise ModelError(f"{path}: {name} is not read ({error.strerror}).") from error
    except TrustError as error:
        raise ModelError(
            f"{path}: {name} would run code of its own, which a pair never does; save it as ONNX,"
            " .pt2 or safetensors of a known network first."
        ) from error
    except ModelError:
        raise
    except RobguiError as error:
        raise ModelError(f"{path}: {error}") from error


def _order(path: Path, first: Classifier, second: Classifier) -> list[int]:
    """Positions of the first model's classes among the second's: by name if the names agree."""
    if first.classes != second.classes:
        raise ModelError(
            f"{path}: {first.name} has {first.classes} classes and {second.name}"
            f" {second.classes}; a pair needs models of the same classes."
        )
    if set(first.labels) == set(second.labels) and len(set(first.labels)) == first.classes:
        return [second.labels.index(label) for label in first.labels]
    return list(range(first.classes))


def _told(first: Classifier) -> dict[str, Any]:
    """Inputs are those of the first model; columns keep their units, so data are read as usual."""
    settings = first.settings
    kept = {"kind": settings.kind, "shape": settings.shape, "labels": (AGREE, DISAGREE)}
    if settings.kind == "image":
        framing = ("resize", "crop", "interpolation", "antialias")
        kept.update({name: getattr(settings, name) for name in framing})
    else:
        kept.update({name: getattr(settings, name) for name in ("low", "high", "features")})
    return {**kept, "layout": "chw", "output": "logits"}


def _framing(first: Classifier, second: Classifier) -> tuple[str, ...]:
    names = ("resize", "crop", "interpolation", "antialias")
    if first.kind != "image" or all(
        getattr(first.settings, name) == getattr(second.settings, name) for name in names
    ):
        return ()
    return ("both see pictures resized as the first wants them",)


def _margins(scores: Tensor) -> Tensor:
    """How far each class ``(n, classes)`` is ahead of the best other one."""
    best, places = scores.topk(2, dim=1)
    classes = torch.arange(scores.shape[1], device=scores.device)
    # The best other class is the second for the first, and the first for all the rest.
    others = torch.where(classes == places[:, :1], best[:, 1:], best[:, :1])
    return scores - others
