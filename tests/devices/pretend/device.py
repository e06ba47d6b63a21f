"""A device that is none: ``pretend:0`` and ``pretend:1`` compute on the CPU and behave like CUDA.

A tensor there holds real numbers and claims another place, so that whatever only works by being
on the CPU already fails:

* tensors of two places do not mix, except numbers without dimensions in operations element by
  element, and indices of the host, as on CUDA;
* ``.numpy()`` is refused; every read to the host (``.cpu()``, ``.item()``, ``.tolist()``, deciding
  on a value, a length that depends on values) is counted with the line that asked for it;
* random numbers on a device need a generator of that device;
* a device can have a cap on its bytes, and past it raises torch's own out-of-memory error;
* a recurrent layer refuses a backward pass in evaluation mode while cuDNN is on, as cuDNN does.

Not modelled: errors that arrive late, the order of streams, the rounding of a GPU's kernels, and
the refusal of a device's generator by the host (a generator here is one of the CPU, renamed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import (
    _DummyBackendModule,
    _setup_privateuseone_for_python_backend,
)

from robgui.core.devices import HARDWARE, Cuda, OtherHardware
from tests.devices.pretend.cards import CARDS, NAME, Card
from tests.devices.pretend.cells import one_hot, told
from tests.devices.pretend.tensor import PretendGenerator, host_to, run

aten = torch.ops.aten
_HALVED = ("linear", "matmul", "mm", "addmm", "bmm", "baddbmm", "conv1d", "conv2d", "conv3d")


class _Module(_DummyBackendModule):
    """What torch asks of a device's module."""

    def device_count(self) -> int:
        return len(CARDS)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]


def _kernel(func: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: run(func, args, kwargs)


def _halving(func: Any) -> Callable[..., Any]:
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)

    def halved(*args: Any, **kwargs: Any) -> Any:
        half = torch.get_autocast_dtype(NAME)
        with torch._C._ExcludeDispatchKeyGuard(keys):
            return func(*tree_map(lambda each: _half(each, half), args), **kwargs)

    return halved


def _half(each: Any, half: torch.dtype) -> Any:
    single = isinstance(each, torch.Tensor) and each.dtype == torch.float32
    return each.to(half) if single else each


def _register() -> list[torch.library.Library]:
    """Makes the device known to torch, once for the process."""
    _setup_privateuseone_for_python_backend(NAME, backend_module=_Module())
    every, each = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    every.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    for name in torch._C._dispatch_get_all_op_names():
        composite = torch._C._dispatch_has_kernel_for_dispatch_key(
            name, "CompositeImplicitAutograd"
        )
        if name.startswith("aten::") and not composite:
            base, _, overload = name.removeprefix("aten::").partition(".")
            func = getattr(getattr(aten, base), overload or "default")
            if torch.Tag.inplace_view in func.tags:
                continue
            each.impl(name.removeprefix("aten::"), _kernel(func), "PrivateUse1")
    each.impl("one_hot", one_hot, "PrivateUse1")
    for name in _HALVED:
        each.impl(name, _halving(getattr(aten, name).default), "AutocastPrivateUse1")
    return [every, each]


def _move_script(module: Any, change: Callable[..., Any], recurse: bool = True) -> Any:
    """``Module._apply`` of a TorchScript module, whose tensors belong to torch's own object."""
    for part in module.modules() if recurse else [module]:
        for name, tensor in [*part._parameters.items(), *part._buffers.items()]:
            if tensor is not None:
                part._c.setattr(name, change(tensor.detach()))
        if part._c.hasattr("_flat_weights"):  # a recurrent layer keeps a list of the same tensors
            flat = [change(tensor.detach()) for tensor in part._c.getattr("_flat_weights")]
            part._c.setattr("_flat_weights", flat)
    return module


_LIBRARIES = _register()


class PretendHardware(OtherHardware):
    """What the seams of core are told of the devices."""

    def found(self) -> list[str]:
        return [f"{NAME}:{index}" for index in range(len(CARDS))]

    def title(self, device: torch.device) -> str:
        return f"a pretended device ({device})"

    def cards(self) -> dict[str, tuple[int, int]]:
        used = [(index, card) for index, card in enumerate(CARDS) if card.live]
        return {f"{NAME}:{index}": (card.live, card.cap or 2**34) for index, card in used}

    def peak(self, device: torch.device, *, anew: bool = False) -> int | None:
        card = CARDS[device.index or 0]
        card.peak = card.live if anew else card.peak
        return card.peak

    for_gradients = Cuda.for_gradients


@contextmanager
def pretending() -> Iterator[tuple[Card, ...]]:
    """While it lasts generators can be made for the devices; counts begin at nothing."""
    usual = torch.Generator
    torch.Generator = PretendGenerator  # type: ignore[misc]
    for card in CARDS:
        card.forget_counts()
    grad, backward = torch.autograd.grad, torch.autograd.backward
    torch.autograd.grad, torch.autograd.backward = told(grad), told(backward)
    HARDWARE[NAME] = PretendHardware()
    script = torch.jit.RecursiveScriptModule
    script._apply, torch.Tensor.to = _move_script, host_to  # type: ignore[method-assign]
    try:
        yield CARDS
    finally:
        del script._apply, torch.Tensor.to, HARDWARE[NAME]
        torch.autograd.grad, torch.autograd.backward = grad, backward
        torch.Generator = usual  # type: ignore[misc]
        for card in CARDS:
            card.cap = None
