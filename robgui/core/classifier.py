"""Classifier: inputs in [0, 1] -> logits, probabilities, gradients, activations."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from robgui.core.backend import Backend, CallableBackend, Capabilities, Reduce, TorchBackend, first_line
from robgui.core.cost import Counter, batch_size
from robgui.core.errors import ModelError, RobguiError
from robgui.core.model_settings import Kind, ModelSettings


class Classifier:
    """A model that takes inputs in [0, 1] and gives class scores.

    Everything the raw model wants (normalisation, channel order, layout) happens inside, so that an engine
    never sees it. All tensors live on ``device``.

    Attributes:
        name: What to call it.
        path: The file it came from, if any.
        settings: How inputs become raw inputs.
        labels: One name per class.
        calls: How many inputs the model has seen so far.
        fingerprint: Changes with the weights and with the settings.
        notice: Called with a sentence when something happened that the user should know.
        remarks: What was found and guessed while loading, for people.
    """

    def __init__(self, backend: Backend, settings: ModelSettings, *, name: str, path: Path | None = None, content: str = "") -> None:
        if not settings.shape:
            raise ModelError(f"{name}: the shape of one input is not known; give it as shape, for example 3,224,224.")
        self.name = name
        self.path = path
        self.settings = settings
        self.calls = 0
        self.notice: Callable[[str], None] = lambda sentence: None
        self.remarks: tuple[str, ...] = ()
        self._backend = backend
        self._content = content
        self._autocast = False
        self._channels_last = False
        self._make_constants()
        classes = self._probe()
        self.labels = _labels(settings.labels, classes, name)

    @classmethod
    def from_module(
        cls, module: nn.Module, shape: Sequence[int], labels: Sequence[str] = (), name: str = "", **settings: Any
    ) -> Classifier:
        """Wraps an ``nn.Module``; ``settings`` are the fields of ModelSettings; logits or probabilities are told apart."""
        chosen = ModelSettings(shape=tuple(shape), kind=kind_of(shape), labels=tuple(labels)).change(**settings)
        weights = hashlib.sha256()
        for tensor in module.state_dict().values():
            weights.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
        classifier = cls(TorchBackend(module), chosen, name=name or type(module).__name__, content=weights.hexdigest())
        return classifier if "output" in settings else classifier.with_output_told()

    @classmethod
    def from_callable(
        cls, function: Callable[[Any], Any], shape: Sequence[int], labels: Sequence[str] = (), name: str = "", **settings: Any
    ) -> Classifier:
        """Wraps any function of inputs ``(n, *shape)`` in [0, 1]; logits or probabilities are told apart.

        The function gets a torch tensor, or a numpy array if it cannot work with a tensor.
        """
        if isinstance(function, nn.Module):
            return cls.from_module(function, shape, labels, name, **settings)
        name = name or getattr(function, "__name__", type(function).__name__)
        chosen = ModelSettings(shape=tuple(shape), kind=kind_of(shape), labels=tuple(labels)).change(**settings)
        backend, raw = _try_function(function, tuple(shape), name)
        if "output" not in settings:
            chosen = chosen.change(output=output_kind(raw))
        answers = hashlib.sha256(raw.cpu().numpy().tobytes()).hexdigest()
        return cls(backend, chosen, name=name, content=answers)

    def with_settings(self, settings: ModelSettings) -> Classifier:
        """The same weights with other settings; cheap."""
        other = Classifier(self._backend, settings, name=self.name, path=self.path, content=self._content)
        other.notice, other.remarks = self.notice, self.remarks
        other._autocast, other._channels_last = self._autocast, self._channels_last
        return other

    def with_output_told(self) -> Classifier:
        """Itself, or the same with ``output`` set when its answers to random inputs are probabilities."""
        kind = output_kind(self.raw(random_inputs(self.shape)))
        return self if kind == self.settings.output else self.with_settings(self.settings.change(output=kind))

    def to(self, device: str | torch.device, *, autocast: bool | None = None, channels_last: bool | None = None) -> Classifier:
        """Moves the model; returns itself. ``autocast`` computes in half precision where that is faster."""
        try:
            self._backend = self._backend.to(torch.device(device))
        except (RuntimeError, AssertionError, ValueError, NotImplementedError) as error:
            raise ModelError(f"{self.name} cannot be put on the device {device}: {first_line(error)}; choose another device.") from error
        if autocast is not None:
            self._autocast = autocast
        if channels_last is not None:
            self._channels_last = channels_last
            self._backend.channels_last(channels_last)
        self._make_constants()
        self._largest_batch = batch_size(self.shape, self._operations, self.device)
        return self

    @property
    def precision(self) -> tuple[bool, bool]:
        """Whether half precision (autocast) and channels last are on."""
        return self._autocast, self._channels_last

    @property
    def parameters(self) -> int | None:
        """How many numbers the network has learned; None for a black box."""
        module = getattr(self._backend, "module", None)
        if not isinstance(module, nn.Module):
            return None
        return sum(tensor.numel() for tensor in [*module.parameters()] or module.buffers())  # an exported graph has buffers only

    def class_weights(self) -> Tensor | None:
        """Weights ``(classes, features)`` of the last layer, as far as the model can be looked into; None otherwise."""
        module = getattr(self._backend, "module", None)
        if not isinstance(module, nn.Module):
            return None
        matrices = [tensor.squeeze() for tensor in (*module.parameters(), *module.buffers()) if tensor.ndim >= 2 and len(tensor) > 1]
        tables = [matrix.detach().float() for matrix in matrices if matrix.ndim == 2]
        rows = [table for table in tables if len(table) == self.classes]
        columns = [table.T for table in tables if table.shape[1] == self.classes]  # some formats keep a linear layer transposed
        return next(iter([*rows[::-1], *columns[::-1]]), None)

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
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with weights and settings."""
        return hashlib.sha256(f"{self._content}|{self.settings.model_dump_json()}".encode()).hexdigest()[:16]

    def tensor(self, values: Any) -> Tensor:
        """Inputs ``(n, *shape)`` or one input as a float tensor on the device."""
        array = values if isinstance(values, Tensor) else torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
        x = array.to(self.device, torch.float32, non_blocking=True)
        if tuple(x.shape) == self.shape:
            x = x[None]
        if tuple(x.shape[1:]) != self.shape:
            raise ModelError(f"{self.name} takes inputs of shape {self.shape}; these have shape {tuple(x.shape[1:])}.")
        return x

    def encode(self, values: Any) -> np.ndarray:
        """Table or sequence values in their own units -> [0, 1]; images are in [0, 1] already."""
        array = np.asarray(values, dtype=np.float32)
        if self.kind == "image":
            return array
        low, high = (np.asarray(values, dtype=np.float32) for values in (self.settings.low, self.settings.high))
        return np.asarray((array - low) / np.where(high == low, 1, high - low), dtype=np.float32)

    def decode(self, x: Any) -> np.ndarray:
        """[0, 1] -> table or sequence values in their own units; the inverse of encode."""
        array = np.asarray(x, dtype=np.float32)
        if self.kind == "image":
            return array
        low, high = (np.asarray(values, dtype=np.float32) for values in (self.settings.low, self.settings.high))
        return np.asarray(low + array * (high - low), dtype=np.float32)

    def logits(self, x: Tensor) -> Tensor:
        """Scores ``(n, classes)``, differentiable in ``x``; one call of the model."""
        self.calls += len(x)
        return self._scores(self._call(self._raw_input(x)))

    def infer(self, x: Any, batch: int = 0) -> Tensor:
        """Scores ``(n, classes)`` without gradient, in batches; a batch that does not fit is halved."""
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
        scores = torch.cat(parts) if len(parts) != 1 else parts[0]
        if not bool(torch.isfinite(scores).all()):
            raise ModelError(f"{self.name} returns scores that are not finite numbers; check its weights, mean and std.")
        return scores

    def probs(self, x: Any, batch: int = 0) -> Tensor:
        """Probabilities ``(n, classes)``: softmax, or sigmoid for a multi-label model."""
        scores = self.infer(x, batch)
        return scores.sigmoid() if self.settings.multi_label else scores.softmax(1)

    def activations(self, x: Any, reduce: Reduce = lambda output: output) -> tuple[Tensor, dict[str, Tensor]]:
        """Scores and ``reduce(output)`` of every Conv2d and Linear layer, for one batch, without gradient."""
        if not self.capabilities.activations:
            raise ModelError(f"{self.name} cannot show its activations: {self.capabilities.reason}.")
        x = self.tensor(x)
        self.calls += len(x)
        with torch.inference_mode(), self._foreign(x):
            raw, layers = self._backend.activations(self._raw_input(x), reduce)
        return self._scores(raw), layers

    def raw(self, x: Any) -> Tensor:
        """What the model itself answers ``(n, outputs)``, before anything is made of it; for looking at a new model."""
        with torch.inference_mode():
            return self._call(self._raw_input(self.tensor(x)))

    def batch(self, wanted: int = 0) -> int:
        """How many inputs an engine should make at once; ``wanted`` 0 lets the program choose."""
        return min(wanted or self._largest_batch, self._largest_batch)

    def _infer_or_none(self, x: Tensor) -> Tensor | None:
        try:
            with torch.inference_mode():
                return self._scores(self._call(self._raw_input(x)))
        except (RuntimeError, MemoryError) as error:  # RuntimeError: torch's own, outside the model
            if not out_of_memory(error):
                raise
            return None
        finally:
            self.calls += len(x)

    def _halve(self, size: int) -> None:
        if size <= 1:
            raise ModelError(f"{self.name}: not enough memory for a single input on {self.device}; choose another device.")
        self._largest_batch = size // 2
        if self.device.type == "cuda":
            gc.collect()
            torch.cuda.empty_cache()
        self.notice(f"{self.name}: out of memory at {size:,} inputs a batch; going on with {self._largest_batch:,}.")

    def _call(self, raw: Tensor) -> Tensor:
        with self._foreign(raw):
            return self._backend(raw)

    @contextmanager
    def _foreign(self, x: Tensor) -> Iterator[None]:
        """Around every call of the model: chooses the precision and turns what it raises into one sentence."""
        try:
            with self._precision():
                yield
        except RobguiError as error:
            raise ModelError(f"{self.name}: {error}") from error
        except Exception as error:  # a model is foreign code: whatever it raises becomes one sentence
            if out_of_memory(error):
                raise MemoryError(str(error)) from error
            raise ModelError(
                f"{self.name}: the model raised {type(error).__name__} on an input of shape {tuple(x.shape)}: {first_line(error)}."
            ) from error

    def _precision(self) -> torch.autocast:
        dtype = torch.float16 if self.device.type == "cuda" else torch.bfloat16
        return torch.autocast(self.device.type, dtype=dtype, enabled=self._autocast)

    def _raw_input(self, x: Tensor) -> Tensor:
        if self._scale is not None:
            x = torch.addcmul(self._shift, x, self._scale)
        if self.kind != "image":
            return x
        if self.settings.channels == "bgr" and x.shape[1] == 3:
            x = x.flip(1)
        match self.settings.layout:
            case "hwc":
                x = x.permute(0, 2, 3, 1).contiguous()
            case "flat":
                x = x.flatten(1)
            case "column":
                x = x.flatten(1)[:, :, None]
            case _ if self._channels_last:
                x = x.contiguous(memory_format=torch.channels_last)
        return x

    def _scores(self, raw: Tensor) -> Tensor:
        raw = raw.float()
        if self.settings.output == "probabilities":
            raw = _logits_of(raw, self.settings.multi_label)
        if self.settings.lowest_wins:
            raw = -raw
        if raw.shape[1] == 1:
            if self.settings.multi_label:
                raise ModelError(f"{self.name} gives a single score, which is two classes; it cannot be multi-label.")
            raw = torch.cat([torch.zeros_like(raw), raw], 1)
        return raw

    def _make_constants(self) -> None:
        """(low + x·(high − low) − mean) / std as shift + x·scale, or nothing to do."""
        s = self.settings
        low, high, mean, std = (torch.tensor(v, dtype=torch.float64, device=self.device) for v in (s.low, s.high, s.mean, s.std))
        ones = (1, 1) if self.kind == "image" else ()
        self._shift = ((low - mean) / std).float().reshape(-1, *ones)
        scale = ((high - low) / std).float().reshape(-1, *ones)
        identity = bool((self._shift == 0).all()) and bool((scale == 1).all())
        self._scale: Tensor | None = None if identity else scale

    def _probe(self) -> int:
        """Calls the model once so that a wrong shape is found at loading, not in the middle of a run."""
        x = torch.full((2, *self.shape), 0.5, device=self.device)
        counter = Counter()
        try:
            with torch.inference_mode(), counter:
                scores = self._scores(self._call(self._raw_input(x)))
        except MemoryError as error:
            raise ModelError(f"{self.name}: not enough memory for two inputs of shape {self.shape} on {self.device}.") from error
        if len(scores) != 2:
            raise ModelError(f"{self.name} returns {len(scores)} rows for 2 inputs; it must return one row of scores per input.")
        self._operations = counter.total / 2
        self._largest_batch = batch_size(self.shape, self._operations, self.device)
        return int(scores.shape[1])


def kind_of(shape: Sequence[int]) -> Kind:
    """The kind of input a shape suggests."""
    kinds: dict[int, Kind] = {1: "table", 2: "sequence", 3: "image"}
    try:
        return kinds[len(shape)]
    except KeyError:
        raise ModelError(f"an input has 1 (table), 2 (sequence) or 3 (image) dimensions, not {len(shape)}: {tuple(shape)}.") from None


def output_kind(raw: Tensor) -> str:
    """``probabilities`` if every row is a distribution (or one column lies in [0, 1]), else ``logits``."""
    inside = bool(((raw >= 0) & (raw <= 1)).all())
    sums = raw.sum(1)
    return "probabilities" if inside and (raw.shape[1] == 1 or bool(((sums - 1).abs() < 1e-3).all())) else "logits"


def random_inputs(shape: Sequence[int], count: int = 8) -> Tensor:
    """The same few inputs ``(count, *shape)`` in [0, 1] every time, on the CPU; for looking at a new model."""
    return torch.rand((count, *shape), generator=torch.Generator("cpu").manual_seed(0), device="cpu")


def out_of_memory(error: BaseException) -> bool:
    """True for every shape that running out of memory takes in torch, onnxruntime and numpy."""
    words = str(error).lower()
    return (
        isinstance(error, MemoryError | torch.OutOfMemoryError)
        or "out of memory" in words
        or "can't allocate memory" in words
        or "failed to allocate memory" in words
    )


def _logits_of(probabilities: Tensor, multi_label: bool) -> Tensor:
    tiny = torch.finfo(probabilities.dtype).tiny
    if multi_label or probabilities.shape[1] == 1:
        return probabilities.clamp_min(tiny).log() - (1 - probabilities).clamp_min(tiny).log()
    return probabilities.clamp_min(tiny).log()


def _labels(labels: tuple[str, ...], classes: int, name: str) -> tuple[str, ...]:
    if classes < 2:
        raise ModelError(f"{name} gives {classes} class; a classifier needs at least two.")
    if labels and len(labels) != classes:
        raise ModelError(f"{name} gives {classes} classes but {len(labels)} labels were named; correct the labels in its side file.")
    return labels or tuple(str(c) for c in range(classes))


def _try_function(function: Callable[[Any], Any], shape: tuple[int, ...], name: str) -> tuple[CallableBackend, Tensor]:
    """Finds out whether ``function`` takes tensors (and gives gradients) or numpy arrays."""
    cpu = torch.device("cpu")
    x = random_inputs(shape).requires_grad_()
    try:
        answer = function(x)
        gradients = isinstance(answer, Tensor) and answer.requires_grad
        backend = CallableBackend(function, cpu, wants_numpy=False, gradients=gradients)
        return backend, backend(x).detach()
    except Exception:  # it may want a numpy array: the second try tells, and its error is the one to show
        backend = CallableBackend(function, cpu, wants_numpy=True, gradients=False)
    try:
        return backend, backend(x)
    except Exception as error:
        raise ModelError(
            f"{name}: the function raised {type(error).__name__} on an array of shape {tuple(x.shape)}: {first_line(error)}"
        ) from error
