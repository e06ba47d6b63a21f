"""Watches a model answer and records what it does to its input.

Whatever the model (a module, an exported graph, a translated ONNX graph, TorchScript), it calls
torch operations, and a dispatch mode sees each of them. A model is accepted only if it reads no
input value outside torch, and if two different inputs lead through the same operations with the
same constants: then nothing of the input has escaped the record, which is later tested on the model
(``trial``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from robgui.bounds.network import Network, Shape, UnsupportedError
from robgui.bounds.recorder import Recorder
from robgui.core.model.randomness import HOST, host_generator

#: Ways for values to leave a tensor without a torch operation.
_READING = (
    *(Tensor.numpy, Tensor.__array__, Tensor.tolist, Tensor.__dlpack__, Tensor.data_ptr),
    *(Tensor.untyped_storage, Tensor.storage, Tensor.__reduce_ex__, Tensor.__deepcopy__),
)
#: The same memory under another name.
_DATA = Tensor.data.__get__  # type: ignore[attr-defined]


def record(answer: Callable[[Tensor], Tensor], shape: Shape, device: torch.device) -> Network:
    """The network behind ``answer``: inputs ``(n, *shape)`` -> scores ``(n, k)``.

    Raises:
        UnsupportedError: It cannot be followed, or uses an operation without bounds.
    """
    failure: UnsupportedError | None = None
    # Two rows reveal an operation that mixes the inputs of a batch; a model made for a batch of 1
    # is seen whole only with one.
    for rows in (2, 1):
        try:
            return _record(answer, shape, device, rows)
        except UnsupportedError as error:
            failure = failure or error
    assert failure is not None
    raise failure


def _record(
    answer: Callable[[Tensor], Tensor], shape: Shape, device: torch.device, rows: int
) -> Network:
    generator = host_generator(0)
    recorders = []
    for _ in range(2):
        # Two random inputs take different branches of anything that depends on values.
        x = torch.rand((rows, *shape), generator=generator, device=HOST).to(device)
        recorder = Recorder(x)
        with Reads(recorder), recorder:
            scores = answer(x)
        recorder.finish(scores)
        recorders.append(recorder)
    first, second = recorders
    if not first.same(second):
        raise UnsupportedError(
            "what it computes depends on the values of the input in a way that cannot be followed"
        )
    return first.network()


class Reads(TorchFunctionMode):
    """Notices what no torch operation shows: that a model reads values of a tensor elsewhere."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if args and isinstance(args[0], Tensor):
            if func in _READING:
                self._recorder.read(args[0])
            elif func == _DATA:
                self._recorder.alias(args[0], result)
        return result
