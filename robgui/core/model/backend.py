"""Raw models behind one small interface; a Classifier adds everything around them."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from robgui.core.errors import ModelError

Reduce = Callable[[Tensor], Tensor]

#: Common names of the class scores in models with several outputs, the likeliest first.
_SCORES = (
    "logits",
    "scores",
    "probabilities",
    "output_probability",
    "probs",
    "predictions",
    "output",
    "out",
)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a raw model can do besides answering; ``reason`` says why not."""

    gradients: bool
    activations: bool
    reason: str = ""


class Backend(Protocol):
    """A raw model: takes the tensor it was trained on, returns its raw output."""

    @property
    def device(self) -> torch.device:
        """Where the model lives."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do besides answering."""
        ...

    def __call__(self, x: Tensor) -> Tensor:
        """Raw output ``(n, …)`` for raw input ``(n, …)``.

        Differentiable where capabilities say so.
        """
        ...

    def activations(self, x: Tensor, reduce: Reduce) -> tuple[Tensor, dict[str, Tensor]]:
        """Raw output and ``reduce(output)`` of every Conv2d and Linear layer, in execution order.

        In an output with four dimensions the second counts the channels, or the units of a linear
        layer. ``reduce`` works row by row, so a model may be fed in portions.
        """
        ...

    def to(self, device: torch.device) -> Backend:
        """The same model on ``device``."""
        ...

    def channels_last(self, on: bool) -> None:
        """Chooses the memory format of images, if the model has a choice."""
        ...


class TorchBackend:
    """An ``nn.Module`` in evaluation mode with frozen weights.

    ``scores`` selects one of several outputs. ``channels_last`` names those of its ``layers`` that
    put the channels of a picture last, as linear ones do.
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        layers: tuple[type[nn.Module], ...] = (nn.Conv2d, nn.Linear),
        channels_last: tuple[type[nn.Module], ...] = (),
        scores: str = "",
    ) -> None:
        # eval switches dropout and batch statistics off; weights are frozen, so gradients go to
        # inputs only.
        self.module = module.eval()
        self.scores = scores
        self._last: tuple[type[nn.Module], ...] = (nn.Linear, *channels_last)
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        self._layers = {
            name: child for name, child in module.named_modules() if isinstance(child, layers)
        }
        tensors = [*module.parameters(), *module.buffers()]
        if tensors:
            self.device = tensors[0].device
        else:
            self.device = torch.device("cpu")
        if self._layers:
            reason = ""
        else:
            reason = "it has no Conv2d or Linear layer"
        self.capabilities = Capabilities(
            gradients=True, activations=bool(self._layers), reason=reason
        )
        # Hooks belong to the module: two threads must not collect activations at once.
        self._lock = threading.Lock()

    def __call__(self, x: Tensor) -> Tensor:
        return as_output(self.module(x), scores=self.scores)

    def outputs(self, x: Tensor) -> tuple[str, ...]:
        """The module's names for its outputs if it has several; else empty."""
        return tuple(_several(self.module(x)))

    def activations(self, x: Tensor, reduce: Reduce) -> tuple[Tensor, dict[str, Tensor]]:
        seen: dict[str, Tensor] = {}
        with self._lock, _hooks(self._layers, self._last, seen, reduce):
            return as_output(self.module(x), scores=self.scores), seen

    def around(self, module: nn.Module) -> TorchBackend:
        """The same backend around a copy of its module."""
        twin = copy.copy(self)
        # A subclass may hold the module under a second name.
        for name, value in vars(self).items():
            if value is self.module:
                setattr(twin, name, module)
        layers = dict(module.named_modules())
        twin._layers = {name: layers[name] for name in self._layers}
        return twin

    def to(self, device: torch.device) -> TorchBackend:
        self.module.to(device)
        self.device = device
        return self

    def channels_last(self, on: bool) -> None:
        self.module.to(memory_format=torch.channels_last if on else torch.contiguous_format)  # type: ignore[call-overload]


class CallableBackend:
    """Any Python function of a tensor or a numpy array."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        device: torch.device,
        *,
        wants_numpy: bool,
        gradients: bool,
        scores: str = "",
    ) -> None:
        self._function = function
        self._scores = scores
        self._wants_numpy = wants_numpy
        self.device = device
        if gradients:
            reason = ""
        else:
            reason = "a black box gives outputs only"
        self.capabilities = Capabilities(
            gradients=gradients,
            activations=False,
            reason=reason or "a function has no layers to look into",
        )

    def __call__(self, x: Tensor) -> Tensor:
        answer = self._function(x.detach().cpu().numpy() if self._wants_numpy else x)
        return as_output(answer, self.device, self._scores)

    def activations(self, x: Tensor, reduce: Reduce) -> tuple[Tensor, dict[str, Tensor]]:
        raise ModelError(
            "A function has no layers to look into; load the model from a file instead."
        )

    def to(self, device: torch.device) -> CallableBackend:
        return self

    def channels_last(self, on: bool) -> None:
        return None


def as_output(answer: Any, device: torch.device | None = None, scores: str = "") -> Tensor:
    """The raw answer as one float tensor ``(n, c)``; anything but a score table is refused.

    Of several outputs, takes the one named by ``scores``, by name or by number from 0, or else the
    likeliest.
    """
    if several := _several(answer):
        answer = several[pick_output(tuple(several), scores)]
    if not isinstance(answer, Tensor):
        try:
            answer = torch.as_tensor(np.asarray(answer), device=device)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"the model returns {type(answer).__name__}, not a table of scores (inputs x"
                " classes)"
            ) from error
    # One number per input: a column.
    if answer.ndim == 1:
        answer = answer[:, None]
    # (n, c, 1, 1), as fully convolutional networks answer.
    if answer.ndim > 2 and answer.shape[2:].numel() == 1:
        answer = answer.flatten(1)
    if answer.ndim != 2:
        raise ModelError(
            f"the model returns shape {tuple(answer.shape)}, not one row of class scores per input"
        )
    # Double precision is kept; half and integer scores are widened.
    if answer.dtype == torch.float64:
        table: Tensor = answer
    else:
        table = answer.float()
    return table


def pick_output(names: Sequence[str], wanted: str = "") -> str:
    """Which of several outputs holds the class scores.

    The requested one, else one with a telling name, else the first.
    """
    if wanted in names:
        return wanted
    if wanted.isdecimal() and int(wanted) < len(names):
        return names[int(wanted)]
    if wanted:
        raise ModelError(
            f"it has no output {wanted!r} to take the scores from; its outputs are:"
            f" {', '.join(names)}"
        )
    # Reversed: between names that differ only in case, the first wins.
    plain = {name.casefold(): name for name in reversed(names)}
    return next((plain[name] for name in _SCORES if name in plain), names[0])


def _several(answer: Any) -> dict[str, Any]:
    """The tensors of an answer that is a dict, a named tuple or a sequence of tensors, by name.

    Empty if the answer is itself a table.
    """
    if isinstance(answer, Mapping):
        return {
            str(name): value
            for name, value in answer.items()
            if isinstance(value, Tensor | np.ndarray)
        }
    if not isinstance(answer, tuple | list) or not answer or not isinstance(answer[0], Tensor):
        return {}
    names = getattr(answer, "_fields", range(len(answer)))
    return {
        str(name): value
        for name, value in zip(names, answer, strict=True)
        if isinstance(value, Tensor)
    }


def first_line(error: BaseException) -> str:
    """The first line of a foreign error, short enough for one sentence."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    # TorchScript begins with an empty phrase and ends with the reason.
    if lines[0].startswith("The following operation failed in the TorchScript"):
        line = lines[-1]
    else:
        line = lines[0]
    return line[:300].rstrip(".")


def channels_second(output: Tensor) -> Tensor:
    """A linear layer's ``(n, h, w, units)`` in a convolution's order, ``(n, units, h, w)``."""
    if output.ndim == 4:
        return output.movedim(-1, 1)
    return output


def channels_back(moved: Tensor) -> Tensor:
    """The inverse of ``channels_second``.

    A model that continues from it keeps the moved tensor on the path to its answer, which keeps the
    gradient to it.
    """
    if moved.ndim == 4:
        return moved.movedim(1, -1)
    return moved


@contextmanager
def _hooks(
    layers: dict[str, nn.Module],
    last: tuple[type[nn.Module], ...],
    seen: dict[str, Tensor],
    reduce: Reduce,
) -> Iterator[None]:
    """Records the layers' outputs.

    Calls of the same module from other threads are ignored.
    """
    here = threading.get_ident()

    def hook(name: str) -> Callable[[nn.Module, Any, Tensor], Tensor | None]:
        def keep(module: nn.Module, inputs: Any, output: Tensor) -> Tensor | None:
            if threading.get_ident() != here:
                return None
            if not isinstance(module, last):
                seen[name] = reduce(output)
                return None
            # Returned to the network: a transposed copy beside the graph would have no gradient.
            moved = channels_second(output)
            seen[name] = reduce(moved)
            return channels_back(moved)

        return keep

    handles = [layer.register_forward_hook(hook(name)) for name, layer in layers.items()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
