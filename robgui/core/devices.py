"""Devices: the only module that knows how a GPU differs from a processor.

Streams, events, pinned memory, memory statistics, half precision, TF32 and cuDNN are named here and
nowhere else. CUDA graphs are not used. An engine makes its tensors on ``classifier.device``, copies
with ``to_device`` and reads with ``to_host``. ``HARDWARE`` has one entry for each kind of device;
to support another kind, add an entry.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor


class Hardware:
    """What a kind of device can do.

    The base class is the processor, which needs none of it.

    Attributes:
        half: What half precision is.
        waits: Whether the host waits when it reads a number there.
        operations: Operations in one batch, which bounds how long Stop has to wait. Two cores were
            measured at 20 to 90 thousand million operations a second, which makes 20 to 50 ms;
            smaller batches are no slower on a processor.
    """

    half = torch.bfloat16
    waits = False
    operations = 1e9

    def found(self) -> list[str]:
        """Every device of this kind."""
        return ["cpu"]

    def title(self, device: torch.device) -> str:
        """Its name for people."""
        return f"CPU ({os.cpu_count() or 1} cores)"

    def send(self, values: Tensor, device: torch.device) -> Tensor:
        """Copies the host's values to the device without waiting for its current work."""
        return values.to(device)

    def places(self, mask: Tensor) -> Tensor:
        """``(n,)`` where a flat mask is true, in order."""
        # Numpy finds them eight times as fast as torch on a processor.
        return torch.from_numpy(np.flatnonzero(mask.numpy()))

    def finish(self, device: torch.device) -> None:
        """Waits until the device has computed everything asked of it."""

    def tidy(self, device: torch.device) -> None:
        """Returns unused memory to the device."""

    def cards(self) -> dict[str, tuple[int, int]]:
        """Bytes in use (by any process) and in total, for each device.

        Empty until this process uses the device, since asking would allocate memory on it.
        """
        return {}

    def peak(self, device: torch.device, *, anew: bool = False) -> int | None:
        """The most bytes this process had in use; None if unknown. ``anew`` restarts the count."""
        return None

    def for_gradients(self) -> AbstractContextManager[Any]:
        """A context for differentiating a recurrent model."""
        return nullcontext()

    def onnx_provider(self, device: torch.device) -> tuple[str, dict[str, int]] | None:
        """The provider of onnxruntime for this device; empty if there is none."""
        return None


class OtherHardware(Hardware):
    """A device that torch knows and we do not: assumed slow to read and fast to compute."""

    waits = True
    operations = 4e11

    def found(self) -> list[str]:
        return []

    def title(self, device: torch.device) -> str:
        return str(device)

    def places(self, mask: Tensor) -> Tensor:
        return mask.nonzero().squeeze(1)


class Cuda(OtherHardware):
    """NVIDIA's GPUs."""

    half = torch.float16

    def __init__(self) -> None:
        self._copying: dict[torch.device, torch.cuda.Stream] = {}

    def found(self) -> list[str]:
        if torch.cuda.is_available():
            count = torch.cuda.device_count()
        else:
            count = 0
        return [f"cuda:{index}" for index in range(count)]

    def title(self, device: torch.device) -> str:
        return f"{torch.cuda.get_device_name(device)} ({device})"

    def send(self, values: Tensor, device: torch.device) -> Tensor:
        if device not in self._copying:
            self._copying[device] = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        with torch.cuda.stream(self._copying[device]):
            # From ordinary memory the copy would make the host wait, whatever is asked for.
            sent = values.pin_memory().to(device, non_blocking=True)
            copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
            copied.record()
        now = torch.cuda.current_stream(device)
        now.wait_event(copied)  # The device waits, not the host.
        sent.record_stream(now)  # Its memory is not reused before this stream is done.
        return sent

    def finish(self, device: torch.device) -> None:
        torch.cuda.synchronize(device)

    def tidy(self, device: torch.device) -> None:
        # Tensors in rings of references still hold their blocks.
        gc.collect()
        torch.cuda.empty_cache()

    def cards(self) -> dict[str, tuple[int, int]]:
        found = {}
        used = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        for index in range(torch.cuda.device_count() if used else 0):
            free, total = torch.cuda.mem_get_info(index)
            found[f"cuda:{index}"] = int(total - free), int(total)
        return found

    def peak(self, device: torch.device, *, anew: bool = False) -> int | None:
        if anew:
            torch.cuda.reset_peak_memory_stats(device)
        return int(torch.cuda.max_memory_allocated(device))

    def for_gradients(self) -> AbstractContextManager[Any]:
        """Without cuDNN, which has no backward pass for a recurrent layer in evaluation mode."""
        off: AbstractContextManager[Any] = torch.backends.cudnn.flags(enabled=False)
        return off

    def onnx_provider(self, device: torch.device) -> tuple[str, dict[str, int]] | None:
        return "CUDAExecutionProvider", {"device_id": device.index or 0}


#: By device type, the best first.
HARDWARE: dict[str, Hardware] = {"cuda": Cuda(), "cpu": Hardware()}
_OTHER = OtherHardware()


def hardware_of(device: torch.device) -> Hardware:
    """What the device can do."""
    return HARDWARE.get(device.type, _OTHER)


def places(mask: Tensor) -> Tensor:
    """``(n,)`` where a flat mask is true, in order."""
    return hardware_of(mask.device).places(mask)


def default_device() -> torch.device:
    """The best device there is."""
    return torch.device(devices()[0][0])


def devices() -> list[tuple[str, str]]:
    """Every device as ``(id, name for people)``, the default first."""
    return [
        (name, each.title(torch.device(name)))
        for each in HARDWARE.values()
        for name in each.found()
    ]


def has_gpu() -> bool:
    """Whether there is any device besides the processor."""
    return any(each.found() for each in HARDWARE.values() if each.waits)


def cards() -> dict[str, tuple[int, int]]:
    """Bytes in use and in total for each device in use that has its own memory."""
    return {name: memory for each in HARDWARE.values() for name, memory in each.cards().items()}


def autocast(device: torch.device, *, enabled: bool) -> torch.autocast:
    """Half precision where it is faster, if ``enabled``."""
    return torch.autocast(device.type, dtype=hardware_of(device).half, enabled=enabled)


def draws_kept(device: torch.device) -> AbstractContextManager[None]:
    """Restores the random state of host and device afterwards."""
    if device.type == "cuda":
        cards = [device.index or 0]
    else:
        cards = []
    return torch.random.fork_rng(devices=cards)


def to_device(values: Tensor, device: torch.device) -> Tensor:
    """The tensor on the device; the host does not wait for the copy."""
    if values.device.type != "cpu" or not hardware_of(device).waits:
        return values.to(device)
    return hardware_of(device).send(values, device)


class Passenger:
    """A condition on a device that travels with the next read and so costs no read of its own.

    Attributes:
        number: The condition there; None once it is read.
        value: What was read.
    """

    def __init__(self, number: Tensor) -> None:
        self.number: Tensor | None = number
        self.value = True
        _WAITING.append(self)

    def arrive(self, value: bool) -> None:
        """Receives the value that a read brought to the host."""
        self.value, self.number = value, None
        with suppress(ValueError):
            _WAITING.remove(self)

    def read(self) -> bool:
        """The condition; waits for the device unless an earlier read brought it."""
        if self.number is not None:
            self.arrive(bool(self.number))
        return self.value


_WAITING: list[Passenger] = []


def to_host(*tensors: Tensor) -> tuple[np.ndarray, ...]:
    """The tensors as arrays, bit for bit; the host waits for each device once."""
    there = [each for each in tensors if hardware_of(each.device).waits]
    read: dict[int, np.ndarray] = {}
    for device in {each.device for each in there}:
        own = [each for each in there if each.device == device]
        read |= zip(map(id, own), _packed(own), strict=True)
    return tuple(
        read[id(each)] if id(each) in read else each.detach().cpu().numpy() for each in tensors
    )


def _packed(tensors: list[Tensor]) -> tuple[np.ndarray, ...]:
    """The tensors of one device in one copy, together with its waiting passengers."""
    device = tensors[0].device
    along = [one for one in _WAITING if one.number is not None and one.number.device == device]
    packed = [*tensors, *(one.number for one in along if one.number is not None)]
    flat = [_bytes(each.detach()) for each in packed]
    parts = torch.split(torch.cat(flat).cpu(), [len(each) for each in flat])
    arrays = tuple(
        # A copy, because a part may start at an address its type does not allow.
        part.clone().view(each.dtype).reshape(each.shape).numpy()
        for part, each in zip(parts, packed, strict=True)
    )
    for one, value in zip(along, arrays[len(tensors) :], strict=True):
        one.arrive(bool(value))
    return arrays[: len(tensors)]


def _bytes(numbers: Tensor) -> Tensor:
    # A row of one number may have any stride, and a byte view needs stride 1.
    row = numbers.reshape(-1).clone(memory_format=torch.contiguous_format)
    return row.view(torch.uint8)


class _FullPrecision:
    """A context in which single-precision products keep all their bits.

    Torch may multiply single-precision matrices with 10 bits (TF32 on recent GPUs, the default for
    convolutions) or 7 (bfloat16 on some processors). The switches are global to torch and all its
    threads: the first thread to enter turns them off, the last to leave restores them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._kept: list[tuple[Callable[[Any], None], Any]] = []

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside > 1:
                return
            for read, write, _ in _switches():
                # Torch has two ways to set this and may refuse to read the older one.
                with suppress(RuntimeError):
                    self._kept.append((write, read()))
            for _, write, off in _switches():
                write(off)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside:
                return
            for write, value in self._kept:
                write(value)
            self._kept.clear()


#: Reentrant, and shared by all threads.
FULL_PRECISION = _FullPrecision()


def _switches() -> Iterator[tuple[Callable[[], Any], Callable[[Any], None], Any]]:
    """How to read, set and turn off each of torch's short cuts, older ones first."""
    backends = torch.backends
    yield torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"
    yield *_attribute(backends.cudnn, "allow_tf32"), False
    for backend in (backends.cuda, backends.cudnn, backends.mkldnn):
        for part in ("matmul", "conv", "rnn"):
            place = getattr(backend, part, None)
            if hasattr(place, "fp32_precision"):
                yield *_attribute(place, "fp32_precision"), "ieee"


def _attribute(place: Any, name: str) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    return lambda: getattr(place, name), lambda value: setattr(place, name, value)
