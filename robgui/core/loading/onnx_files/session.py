"""Sessions of onnxruntime: outputs only, and bounded memory."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robgui.core.devices import hardware_of
from robgui.core.errors import ModelError
from robgui.core.model.backend import Capabilities, Reduce, as_output

#: Turns off the runtime's telemetry, which it reads on import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
#: Bytes that a model may use for the first few inputs, besides its weights.
_MOST, _FEW = 3 * 2**29, 2
#: How the runtime reports that it would need more.
_TOO_LARGE = ("smaller than requested bytes", "exceeds the supported maximum")
_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
}


class OversizedModelError(ModelError):
    """A model that asks for more memory than any real classifier."""


class OnnxBackend:
    """A session of onnxruntime: outputs only."""

    def __init__(self, content: bytes, output: str, device: torch.device, reason: str = "") -> None:
        self._content = content
        self._output = output
        self._session = _session(content, device)
        self._tried: set[tuple[int, ...]] = set()
        given = self._session.get_inputs()[0]
        if given.type not in _TYPES:
            raise ModelError(f"its input holds {given.type}; a classifier takes numbers")
        self._name, self._type = given.name, _TYPES[given.type]
        self.device = device
        self.capabilities = Capabilities(gradients=False, activations=False, reason=reason)

    def __call__(self, x: Tensor) -> Tensor:
        values = x.detach().cpu().numpy()
        if self._type is np.uint8:
            values = values.round()
        values = np.ascontiguousarray(values, dtype=self._type)
        if values.shape[1:] not in self._tried:
            self._try(values)
        answer = self._session.run([self._output], {self._name: values})[0]
        return as_output(answer, self.device)

    def _try(self, values: np.ndarray) -> None:
        """Tries inputs of a new shape with little memory first.

        A few bytes of a file can ask for a tensor of any size, in more ways than its graph shows.
        """
        session = _session(self._content, torch.device("cpu"), short=True)
        try:
            session.run([self._output], {self._name: values[:_FEW]}, _tidy())
        except Exception as error:
            if any(words in str(error) for words in _TOO_LARGE):
                raise OversizedModelError(
                    f"it asks for more than {_MOST / 1e6:,.0f} MB of memory for {_FEW} inputs and"
                    " is refused"
                ) from error
            return  # It wants another batch size or shape: the call itself will say so.
        self._tried.add(values.shape[1:])

    def activations(self, x: Tensor, reduce: Reduce) -> tuple[Tensor, dict[str, Tensor]]:
        """Always refused: the runtime shows no layers."""
        raise ModelError(
            f"the layers of this ONNX model cannot be seen: {self.capabilities.reason}"
        )

    def to(self, device: torch.device) -> OnnxBackend:
        """A session on ``device``."""
        return OnnxBackend(self._content, self._output, device, self.capabilities.reason)

    def channels_last(self, on: bool) -> None:
        """The runtime chooses the memory format itself."""


def _session(content: bytes, device: torch.device, *, short: bool = False) -> Any:
    """A session; in a ``short`` one all tensors except the weights share little memory."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Only fatal messages: everything else is raised too, and would be printed besides.
    options.log_severity_level = 4
    if short:
        _register_short_memory()
        options.add_session_config_entry("session.use_env_allocators", "1")
        options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
    providers: list[Any] = ["CPUExecutionProvider"]
    on_device = hardware_of(device).onnx_provider(device)
    if on_device is not None and on_device[0] in onnxruntime.get_available_providers():
        providers.insert(0, on_device)
    # The runtime's own fallback prints to the terminal; what fails here is said by the caller.
    # Constants are not folded: that would compute them while loading, with any amount of memory.
    return onnxruntime.InferenceSession(
        content,
        options,
        providers=providers,
        enable_fallback=0,
        disabled_optimizers=["ConstantFolding"],
    )


@functools.cache
def _register_short_memory() -> None:
    """Registers, once per process, the memory that short sessions share."""
    import onnxruntime

    where = onnxruntime.OrtMemoryInfo(
        "Cpu",
        onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR,
        0,
        onnxruntime.OrtMemType.DEFAULT,
    )
    as_asked = 1  # Not the next power of two.
    limits = onnxruntime.OrtArenaCfg({"max_mem": _MOST, "arena_extend_strategy": as_asked})
    onnxruntime.create_and_register_allocator(where, limits)


def _tidy() -> Any:
    """Options for a call that gives its memory back at the end."""
    import onnxruntime

    options = onnxruntime.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options
