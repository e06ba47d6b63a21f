"""Classifier: inputs in [0, 1] -> logits, probabilities, gradients, activations."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from robgui.core.devices import autocast, hardware_of, to_device
from robgui.core.errors import ModelError, RobguiError
from robgui.core.model.backend import Backend, Capabilities, Reduce, TorchBackend, first_line
from robgui.core.model.card import fingerprint
from robgui.core.model.convention import Convention
from robgui.core.model.guessing import kind_of, output_kind, random_inputs, try_function
from robgui.core.model.later import Later
from robgui.core.model.settings import Kind, ModelSettings
from robgui.core.model.timing.cost import Counter, batch_size
from robgui.core.model.timing.times import CallTimes, timed
from robgui.core.text.words import count

__all__ = ["Classifier", "kind_of", "out_of_memory", "output_kind", "random_inputs"]


class Classifier:
    """A model that takes inputs in [0, 1] and gives class scores.

    Everything the raw model wants (normalisation, channel order, layout) happens inside, so that an
    engine never sees it. All tensors live on ``device``.

    Attributes:
        name: What to call it.
        path: The file it came from, if any.
        settings: How inputs become raw inputs.
        labels: One name per class.
        calls: How many inputs the model has seen so far.
        fingerprint: Changes with the weights and with the settings.
        notice: Called with a sentence when something happened that the user should know.
        remarks: What was found and guessed while loading, for people.
        ran: Digest of the code that came with the file and was run to load it; empty where none
            was.
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
        self._backend = backend
        self._content = content
        self._autocast = False
        self._channels_last = False
        self._times: CallTimes | None = None
        self._later = Later()
        self._convention = Convention(self.settings, self.device)
        classes = self._probe()
        self.labels = _labels(settings.labels, classes, name)

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
        """Wraps an ``nn.Module``; ``settings`` are the fields of ModelSettings.

        Logits or probabilities are told apart.
        """
        chosen = ModelSettings(
            shape=tuple(shape), kind=kind_of(shape), labels=tuple(labels)
        ).change(**settings)
        weights = hashlib.sha256()
        for tensor in module.state_dict().values():
            weights.update(
                tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
            )
        classifier = cls(
            TorchBackend(module, scores=chosen.scores),
            chosen,
            name=name or type(module).__name__,
            content=weights.hexdigest(),
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

        Logits or probabilities are told apart.

        The function gets a torch tensor, or a numpy array if it cannot work with a tensor.
        """
        if isinstance(function, nn.Module):
            return cls.from_module(function, shape, labels, name, **settings)
        name = name or getattr(function, "__name__", type(function).__name__)
        chosen = ModelSettings(
            shape=tuple(shape), kind=kind_of(shape), labels=tuple(labels)
        ).change(**settings)
        backend, raw = try_function(function, tuple(shape), name, chosen.scores)
        if "output" not in settings:
            chosen = chosen.change(output=output_kind(raw, chosen.multi_label))
        answers = hashlib.sha256(raw.cpu().numpy().tobytes()).hexdigest()
        return cls(backend, chosen, name=name, content=answers)

    def with_settings(self, settings: ModelSettings) -> Classifier:
        """The same weights with other settings; cheap."""
        other = Classifier(
            self._backend, settings, name=self.name, path=self.path, content=self._content
        )
        other.notice, other.remarks, other.ran = self.notice, self.remarks, self.ran
        other._autocast, other._channels_last = self._autocast, self._channels_last
        if settings.shape == self.shape:
            other._times = self._times
        else:
            other._times = None
        other._later = self._later
        return other

    def with_output_told(self) -> Classifier:
        """Itself, or the same with ``output`` set when its answers to random inputs are
        probabilities.
        """
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
        try:
            self._backend = self._backend.to(torch.device(device))
        except (RuntimeError, AssertionError, ValueError, NotImplementedError) as error:
            raise ModelError(
                f"{self.name} cannot be put on the device {device}: {first_line(error)}; choose"
                " another device."
            ) from error
        if autocast is not None:
            self._autocast = autocast
        if channels_last is not None:
            self._channels_last = channels_last
            self._backend.channels_last(channels_last)
        self._convention = Convention(self.settings, self.device)
        self._largest_batch = batch_size(self.shape, self._operations, self.device)
        self._times = None
        return self

    @property
    def precision(self) -> tuple[bool, bool]:
        """Whether half precision (autocast) and channels last are on."""
        return self._autocast, self._channels_last

    @property
    def times(self) -> CallTimes:
        """How long one input takes it where it is; a few calls the first time."""
        if self._times is None:
            self._times = timed(self)
        return self._times

    @property
    def parameters(self) -> int | None:
        """How many numbers the network has learned; None for a black box."""
        module = getattr(self._backend, "module", None)
        if not isinstance(module, nn.Module):
            return None
        return sum(
            tensor.numel() for tensor in [*module.parameters()] or module.buffers()
        )  # a quantised network has buffers only

    def class_weights(self) -> Tensor | None:
        """Weights ``(classes, features)`` of the last layer, as far as the model can be looked
        into; None otherwise.
        """
        module = getattr(self._backend, "module", None)
        if not isinstance(module, nn.Module):
            return None
        matrices = [
            tensor.squeeze()
            for tensor in (*module.parameters(), *module.buffers())
            if tensor.ndim >= 2 and len(tensor) > 1
        ]
        tables = [matrix.detach().float() for matrix in matrices if matrix.ndim == 2]
        rows = [table for table in tables if len(table) == self.classes]
        columns = [
            table.T for table in tables if table.shape[1] == self.classes
        ]  # some formats keep a linear layer transposed
        return next(iter([*rows[::-1], *columns[::-1]]), None)

    @property
    def backend(self) -> Backend:
        """The model itself, for what only its own kind can do: reading its trees, training a
        copy of it.
        """
        return self._backend

    @property
    def device(self) -> torch.device:
        """Where the model and every tensor of an engine live."""
        return self._backend.device

    @property
    def capabilities(self) -> Capabilities:
        """Whether gradients and activations can be had, and why not."""
        return self._backend.capabilities

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
    def content(self) -> str:
        """Digest of the weights alone; the same model with other settings has the same."""
        return self._content

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with weights and settings."""
        return fingerprint(self._content, self.settings)

    def tensor(self, values: Any) -> Tensor:
        """Inputs ``(n, *shape)`` or one input as a float tensor on the device."""
        if isinstance(values, Tensor):
            array = values
        else:
            array = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
        x = to_device(array, self.device).to(torch.float32)
        if tuple(x.shape) == self.shape:
            x = x[None]
        if tuple(x.shape[1:]) != self.shape:
            raise ModelError(
                f"{self.name} takes inputs of shape {self.shape}; these have shape"
                f" {tuple(x.shape[1:])}."
            )
        return x

    def encode(self, values: Any) -> np.ndarray:
        """Table or sequence values in their own units -> [0, 1]; images are in [0, 1] already."""
        return self._convention.encode(values)

    def decode(self, x: Any) -> np.ndarray:
        """[0, 1] -> table or sequence values in their own units; the inverse of encode."""
        return self._convention.decode(x)

    def raw_input(self, x: Tensor) -> Tensor:
        """What the model itself is given for inputs ``(n, *shape)`` in [0, 1]."""
        return self._convention.raw_input(x, channels_last=self._channels_last)

    def logits(self, x: Tensor) -> Tensor:
        """Scores ``(n, classes)``, differentiable in ``x``; one call of the model."""
        self.calls += len(x)
        unusual = self._recurrent and torch.is_grad_enabled()
        with hardware_of(self.device).for_gradients() if unusual else nullcontext():
            return self._convention.scores(self._call(self.raw_input(x)))

    def infer(self, x: Any, batch: int = 0) -> Tensor:
        """Scores ``(n, classes)`` without gradient, in batches.

        A batch that does not fit is halved.
        """
        x = self.tensor(x)
        parts: list[Tensor] = []
        start = 0
        while start < len(x):
            size = min(batch or self._largest_batch, self._largest_batch)
            part = self._infer_or_none(x[start : start + size])
            if part is None:
                self._halve(min(size, len(x) - start))
                continue
            parts.append(part)
            start += len(part)
        if not parts:
            return torch.empty((0, self.classes), device=self.device)
        if len(parts) != 1:
            scores = torch.cat(parts)
        else:
            scores = parts[0]
        sound = torch.isfinite(scores).all()
        if not (self._later.takes(sound) or bool(sound)):
            self._refuse()
        return scores

    @contextmanager
    def checked_later(self) -> Iterator[None]:
        """While it lasts the host does not wait for the device to say that scores are finite;
        ``check`` asks about all of them.
        """
        with self._later.on(hardware_of(self.device).waits):
            yield

    def check(self) -> None:
        """Raises ModelError if scores since the last look were not finite; costs nothing where
        each was looked at.
        """
        if not self._later.sound():
            self._refuse()

    def _refuse(self) -> None:
        raise ModelError(
            f"{self.name} returns scores that are not finite numbers; check its weights, mean and"
            " std."
        )

    def probs(self, x: Any, batch: int = 0) -> Tensor:
        """Probabilities ``(n, classes)``: softmax, or sigmoid for a multi-label model."""
        scores = self.infer(x, batch)
        if self.settings.multi_label:
            return scores.sigmoid()
        return scores.softmax(1)

    def activations(
        self, x: Any, reduce: Reduce = lambda output: output
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Scores and ``reduce(output)`` of every Conv2d and Linear layer, for one batch, without
        gradient.
        """
        if not self.capabilities.activations:
            raise ModelError(
                f"{self.name} cannot show its activations: {self.capabilities.reason}."
            )
        x = self.tensor(x)
        self.calls += len(x)
        with torch.inference_mode(), self._foreign(x):
            raw, layers = self._backend.activations(self.raw_input(x), reduce)
        return self._convention.scores(raw), layers

    def watched(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Scores and the output of every Conv2d and Linear layer, differentiable; one call."""
        self.calls += len(x)
        raw, layers = self._backend.activations(self.raw_input(x), lambda output: output)
        return self._convention.scores(raw), layers

    def raw(self, x: Any) -> Tensor:
        """What the model itself answers ``(n, outputs)``, before anything is made of it.

        For looking at a new model.
        """
        with torch.inference_mode():
            return self._call(self.raw_input(self.tensor(x)))

    def batch(self, wanted: int = 0) -> int:
        """How many inputs an engine should make at once; ``wanted`` 0 lets the program choose."""
        return min(wanted or self._largest_batch, self._largest_batch)

    def _infer_or_none(self, x: Tensor) -> Tensor | None:
        try:
            with torch.inference_mode():
                return self._convention.scores(self._call(self.raw_input(x)))
        except (RuntimeError, MemoryError) as error:  # RuntimeError: torch's own, outside the model
            if not out_of_memory(error):
                raise
            return None
        finally:
            self.calls += len(x)

    def _halve(self, size: int) -> None:
        if size <= 1:
            raise ModelError(
                f"{self.name}: not enough memory for a single input on {self.device}; allow models"
                " more memory or choose another device."
            )
        self._largest_batch = size // 2
        hardware_of(self.device).tidy(self.device)
        self.notice(
            f"{self.name}: out of memory at {size:,} inputs a batch; going on with"
            f" {self._largest_batch:,}."
        )

    def _call(self, raw: Tensor) -> Tensor:
        with self._foreign(raw):
            return self._backend(raw)

    @contextmanager
    def _foreign(self, x: Tensor) -> Iterator[None]:
        """Around every call of the model: chooses the precision and turns what it raises into
        one sentence.
        """
        try:
            with autocast(self.device, enabled=self._autocast):
                yield
        except RobguiError as error:
            raise ModelError(f"{self.name}: {error}") from error
        except (
            Exception
        ) as error:  # a model is foreign code: whatever it raises becomes one sentence
            if out_of_memory(error):
                raise MemoryError(str(error)) from error
            raise ModelError(
                f"{self.name}: the model raised {type(error).__name__} on an input of shape"
                f" {tuple(x.shape)}: {first_line(error)}."
            ) from error

    def _probe(self) -> int:
        """Calls the model once so that a wrong shape is found at loading, not in the middle of a
        run.
        """
        x = torch.full((2, *self.shape), 0.5, device=self.device)
        counter = Counter()
        try:
            with torch.inference_mode(), counter:
                raw = self._call(self.raw_input(x))
        except MemoryError as error:
            raise ModelError(
                f"{self.name}: not enough memory for two inputs of shape {self.shape} on"
                f" {self.device}."
            ) from error
        if len(raw) != 2:
            raise ModelError(
                f"{self.name} returns {len(raw)} rows for 2 inputs; it must return one row of"
                " scores per input."
            )
        if raw.shape[1] == 1 and self.settings.multi_label:
            raise ModelError(
                f"{self.name} gives a single score, which is two classes; it cannot be multi-label."
            )
        self._operations, self._recurrent = counter.total / 2, counter.recurrent
        self._largest_batch = batch_size(self.shape, self._operations, self.device)
        outputs = int(raw.shape[1])
        if outputs == 1:
            return 2
        return outputs


def out_of_memory(error: BaseException) -> bool:
    """True for every shape that running out of memory takes in torch, onnxruntime and numpy."""
    words = str(error).lower()
    return (
        isinstance(error, MemoryError | torch.OutOfMemoryError)
        or "out of memory" in words
        or "can't allocate memory" in words
        or "failed to allocate memory" in words
    )


def _labels(labels: tuple[str, ...], classes: int, name: str) -> tuple[str, ...]:
    if classes < 2:
        raise ModelError(
            f"{name} gives {count(classes, 'class')}; a classifier needs at least two."
        )
    if labels and len(labels) != classes:
        raise ModelError(
            f"{name} gives {classes} classes but {count(len(labels), 'label')} were named; correct"
            " the labels, or leave them out."
        )
    return labels or tuple(str(c) for c in range(classes))
