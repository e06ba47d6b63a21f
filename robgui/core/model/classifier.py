"""Classifier: inputs in [0, 1] -> logits, probabilities, gradients, activations."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from robgui.core.devices import autocast, hardware_of
from robgui.core.errors import ModelError
from robgui.core.model.backend import Backend, Capabilities, Reduce, TorchBackend
from robgui.core.model.card import fingerprint
from robgui.core.model.convention import Convention
from robgui.core.model.foreign import in_one_sentence, moved
from robgui.core.model.guessing import output_kind, random_inputs, settings_for, try_function
from robgui.core.model.later import Later
from robgui.core.model.probing import (
    labels_for,
    last_weights,
    learned_numbers,
    probe,
    weights_digest,
)
from robgui.core.model.settings import Kind, ModelSettings
from robgui.core.model.timing.batches import CallBatches
from robgui.core.model.timing.times import CallTimes, timed
from robgui.core.text.words import count


class Classifier:
    """A model that takes inputs in [0, 1] and gives class scores.

    Everything the raw model wants (normalisation, channel order, layout) happens inside; an engine
    never sees it. All tensors live on ``device``.

    Attributes:
        name: What to call it.
        path: The file it came from, if any.
        settings: How inputs become raw inputs.
        labels: One name per class.
        backend: The raw model, for what only its kind can do: reading its trees, training a copy.
        content: Digest of the weights alone, whatever the settings.
        calls: How many inputs the model has seen so far.
        fingerprint: Changes with the weights and with the settings.
        notice: Called with a sentence that the user should see.
        remarks: What was found and guessed while loading, for people.
        ran: Digest of the code that loading it ran; empty for none.
    """

    def __init__(
        self,
        backend: Backend,
        settings: ModelSettings,
        *,
        name: str,
        path: Path | None = None,
        content: str = "",
    ) -> None:
        if not settings.shape:
            raise ModelError(
                f"{name}: the shape of one input is not known; give it as shape, for example"
                " 3,224,224."
            )
        self.name = name
        self.path = path
        self.settings = settings
        self.calls = 0
        self.notice: Callable[[str], None] = lambda sentence: None
        self.remarks: tuple[str, ...] = ()
        self.ran = ""
        self.backend = backend
        self.content = content
        self._autocast = False
        self._channels_last = False
        self._times: CallTimes | None = None
        self._later = Later()
        self._convention = Convention(self.settings, self.device)
        self._probe = probe(lambda x: self._call(self.raw_input(x)), name, settings, self.device)
        self._batches = self._new_batches()
        self.labels = labels_for(settings.labels, self._probe.classes, name)

    def __repr__(self) -> str:
        return (
            f"Classifier({self.name!r}, {self.kind} {'x'.join(map(str, self.shape))},"
            f" {count(self.classes, 'class')}, {self.device})"
        )

    @classmethod
    def from_module(
        cls,
        module: nn.Module,
        shape: Sequence[int],
        labels: Sequence[str] = (),
        name: str = "",
        **settings: Any,
    ) -> Classifier:
        """Wraps an ``nn.Module``; ``settings`` are fields of ModelSettings.

        Detects logits or probabilities.
        """
        chosen = settings_for(shape, labels, **settings)
        classifier = cls(
            TorchBackend(module, scores=chosen.scores),
            chosen,
            name=name or type(module).__name__,
            content=weights_digest(module),
        )
        if "output" in settings:
            return classifier
        return classifier.with_output_told()

    @classmethod
    def from_callable(
        cls,
        function: Callable[[Any], Any],
        shape: Sequence[int],
        labels: Sequence[str] = (),
        name: str = "",
        **settings: Any,
    ) -> Classifier:
        """Wraps any function of inputs ``(n, *shape)`` in [0, 1].

        Detects logits or probabilities. The function gets a torch tensor, or a numpy array if it
        cannot take a tensor.
        """
        if isinstance(function, nn.Module):
            return cls.from_module(function, shape, labels, name, **settings)
        name = name or getattr(function, "__name__", type(function).__name__)
        chosen = settings_for(shape, labels, **settings)
        backend, raw = try_function(function, tuple(shape), name, chosen.scores)
        if "output" not in settings:
            chosen = chosen.change(output=output_kind(raw, chosen.multi_label))
        # A function has no weights to hash; what it answers stands for them.
        answers = hashlib.sha256(raw.cpu().numpy().tobytes()).hexdigest()
        return cls(backend, chosen, name=name, content=answers)

    def with_settings(self, settings: ModelSettings) -> Classifier:
        """The same weights with other settings; cheap."""
        other = Classifier(
            self.backend, settings, name=self.name, path=self.path, content=self.content
        )
        other.notice, other.remarks, other.ran = self.notice, self.remarks, self.ran
        other._autocast, other._channels_last = self._autocast, self._channels_last
        if settings.shape == self.shape:
            other._times = self._times
        other._later = self._later
        return other

    def with_output_told(self) -> Classifier:
        """Itself, or a copy with ``output`` set from its answers to random inputs."""
        raw = self.raw(random_inputs(self.shape))
        kind = output_kind(raw, self.settings.multi_label)
        if kind == self.settings.output:
            return self
        return self.with_settings(self.settings.change(output=kind))

    def to(
        self,
        device: str | torch.device,
        *,
        autocast: bool | None = None,
        channels_last: bool | None = None,
    ) -> Classifier:
        """Moves the model; returns itself.

        ``autocast`` computes in half precision where that is faster.
        """
        self.backend = moved(self.backend, device, self.name)
        if autocast is not None:
            self._autocast = autocast
        if channels_last is not None:
            self._channels_last = channels_last
            self.backend.channels_last(channels_last)
        self._convention = Convention(self.settings, self.device)
        self._batches = self._new_batches()
        self._times = None
        return self

    @property
    def precision(self) -> tuple[bool, bool]:
        """Whether half precision (autocast) and channels last are on."""
        return self._autocast, self._channels_last

    @property
    def times(self) -> CallTimes:
        """Time for one input on its device; measured by a few calls the first time."""
        if self._times is None:
            self._times = timed(self)
        return self._times

    @property
    def parameters(self) -> int | None:
        """Number of learned parameters; None for a black box."""
        return None if self._module is None else learned_numbers(self._module)

    def class_weights(self) -> Tensor | None:
        """Weights ``(classes, features)`` of the last layer; None if they are not accessible."""
        return None if self._module is None else last_weights(self._module, self.classes)

    @property
    def _module(self) -> nn.Module | None:
        """The network, if the model can be inspected."""
        module = getattr(self.backend, "module", None)
        return module if isinstance(module, nn.Module) else None

    @property
    def device(self) -> torch.device:
        """Where the model and every tensor of an engine live."""
        return self.backend.device

    @property
    def capabilities(self) -> Capabilities:
        """Whether gradients and activations are available, and if not, why."""
        return self.backend.capabilities

    @property
    def kind(self) -> Kind:
        """``image``, ``table`` or ``sequence``."""
        return self.settings.kind

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one input."""
        return self.settings.shape

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with weights and settings."""
        return fingerprint(self.content, self.settings)

    def tensor(self, values: Any) -> Tensor:
        """Inputs ``(n, *shape)`` or one input as a float tensor on the device."""
        return self._convention.tensor(values, self.name)

    def encode(self, values: Any) -> np.ndarray:
        """Table or sequence values in their own units -> [0, 1]; images are in [0, 1] already."""
        return self._convention.encode(values)

    def decode(self, x: Any) -> np.ndarray:
        """[0, 1] -> table or sequence values in their own units; the inverse of encode."""
        return self._convention.decode(x)

    def raw_input(self, x: Tensor) -> Tensor:
        """The raw model's input for inputs ``(n, *shape)`` in [0, 1]."""
        return self._convention.raw_input(x, channels_last=self._channels_last)

    def logits(self, x: Tensor) -> Tensor:
        """Scores ``(n, classes)``, differentiable in ``x``; one call of the model."""
        self.calls += len(x)
        # cuDNN has no backward pass for recurrent layers in evaluation mode.
        unusual = self._probe.recurrent and torch.is_grad_enabled()
        with hardware_of(self.device).for_gradients() if unusual else nullcontext():
            return self._convention.scores(self._call(self.raw_input(x)))

    def infer(self, x: Any, batch: int = 0, *, checked: bool = True) -> Tensor:
        """Scores ``(n, classes)`` without gradient, in batches; if not ``checked``, see ``sound``.

        A batch that does not fit is halved.
        """
        x = self.tensor(x)
        parts = self._batches.run(self._answer, x, batch, self.notice)
        if not parts:
            return torch.empty((0, self.classes), device=self.device)
        scores = torch.cat(parts) if len(parts) > 1 else parts[0]
        return self.sound(scores) if checked else scores

    def sound(self, scores: Tensor) -> Tensor:
        """The scores if they are finite, else ModelError; for those that are checked together."""
        self._later.check_finite(scores, self.name)
        return scores

    @contextmanager
    def checked_later(self) -> Iterator[None]:
        """Defers checks for finite scores to ``check``: the host does not wait for the device."""
        with self._later.on(hardware_of(self.device).waits):
            yield

    def checked_together(self) -> AbstractContextManager[None]:
        """Checks once, at the end; each check takes a tenth of the call of a small network."""
        return self._later.together(self.name)

    def check(self) -> None:
        """Raises ModelError if scores since the last check were not finite; free if all were."""
        self._later.check(self.name)

    def probs(self, x: Any, batch: int = 0) -> Tensor:
        """Probabilities ``(n, classes)``: softmax, or sigmoid for a multi-label model."""
        scores = self.infer(x, batch)
        if self.settings.multi_label:
            return scores.sigmoid()
        return scores.softmax(1)

    def activations(
        self, x: Any, reduce: Reduce = lambda output: output
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Scores and ``reduce(output)`` of every Conv2d and Linear layer, without gradient."""
        if not self.capabilities.activations:
            raise ModelError(
                f"{self.name} cannot show its activations: {self.capabilities.reason}."
            )
        x = self.tensor(x)
        self.calls += len(x)
        half = autocast(self.device, enabled=self._autocast)
        with torch.inference_mode(), in_one_sentence(self.name, x), half:
            raw, layers = self.backend.activations(self.raw_input(x), reduce)
        return self._convention.scores(raw), layers

    def watched(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Scores and the output of every Conv2d and Linear layer, differentiable; one call."""
        self.calls += len(x)
        raw, layers = self.backend.activations(self.raw_input(x), lambda output: output)
        return self._convention.scores(raw), layers

    def raw(self, x: Any) -> Tensor:
        """The raw answers ``(n, outputs)`` of the model, for inspecting a new one."""
        with torch.inference_mode():
            return self._call(self.raw_input(self.tensor(x)))

    def batch(self, wanted: int = 0) -> int:
        """How many inputs an engine should make at once; ``wanted`` 0 lets the program choose."""
        return self._batches.size(wanted)

    def _call(self, raw: Tensor) -> Tensor:
        with in_one_sentence(self.name, raw), autocast(self.device, enabled=self._autocast):
            return self.backend(raw)

    def _answer(self, x: Tensor) -> Tensor:
        """Scores of one batch without gradient; counted as a call even if memory runs out."""
        try:
            with torch.inference_mode():
                return self._convention.scores(self._call(self.raw_input(x)))
        finally:
            self.calls += len(x)

    def _new_batches(self) -> CallBatches:
        return CallBatches(self.name, self.shape, self._probe.operations, self.device)
