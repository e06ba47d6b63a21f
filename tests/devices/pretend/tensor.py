"""Tensors and generators of the pretended device: what each operation may do, and what it costs."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from tests.devices.pretend.cards import CARDS, LOCK, NAME, Hold
from tests.devices.pretend.cells import CELLS, fail

HOST = torch.device("cpu")
aten = torch.ops.aten

#: Operations that make the host wait: it reads a number, or a length depends on values.
_READS = frozenset(
    f"aten::{name}"
    for name in (
        *("_local_scalar_dense", "item", "equal", "is_nonzero", "allclose", "nonzero", "argwhere"),
        *("masked_select", "unique_dim", "_unique", "_unique2", "unique_consecutive", "bincount"),
        *("_linalg_check_errors", "repeat_interleave", "histc", "multinomial"),
    )
)
#: Operations that take tensors of two places.
_ACROSS = frozenset({"aten::copy_", "aten::_to_copy", "aten::index_put_", "aten::index_put"})
#: Operations whose indices may lie on the host.
_INDEXING = frozenset(
    {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}
)


#: An operation is given a generator without its Python side; this finds it again.
_GENERATORS: weakref.WeakValueDictionary[int, PretendGenerator] = weakref.WeakValueDictionary()


class PretendTensor(torch.Tensor):
    """A tensor whose numbers are on the CPU and whose place is ``pretend:index``.

    To torch itself every one lies on index 0, because its autograd knows one such device only.
    """

    values: torch.Tensor
    index: int
    #: Torch itself has made it on index 0, wherever the others are; see ``_made_by_torch``.
    anywhere = False

    @staticmethod
    def __new__(cls, values: torch.Tensor, index: int) -> PretendTensor:
        hold = Hold(values, index)
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            values.size(),
            strides=values.stride(),
            storage_offset=values.storage_offset(),
            dtype=values.dtype,
            layout=values.layout,
            device=torch.device(NAME, 0),
            requires_grad=False,
        )
        made.values, made.index, made.hold = values, index, hold
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return run(func, args, kwargs or {})

    @property
    def device(self) -> torch.device:
        return torch.device(NAME, self.index)

    def __repr__(self) -> str:
        return f"PretendTensor({tuple(self.shape)}, {self.dtype}, {self.device})"

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.ndim else repr(self)

    def to(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        copy = kwargs.pop("copy", False)
        args = _where(args)
        device, dtype, non_blocking, layout = torch._C._nn._parse_to(*args, **kwargs)
        if device is None or (device.type == NAME and (device.index or 0) == self.index):
            return super().to(dtype=dtype or self.dtype, memory_format=layout, copy=copy)
        if device.type == "cpu" and non_blocking:
            raise AssertionError("a copy to the host that nobody waits for holds no numbers yet")
        return aten._to_copy(self, dtype=dtype, device=device, memory_format=layout)

    def cpu(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        return self.to(HOST)

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def new_tensor(self, data: Any, **kwargs: Any) -> torch.Tensor:
        return torch.tensor(data, **{"device": self.device, "dtype": self.dtype, **kwargs})

    def numpy(self, *, force: bool = False) -> Any:
        if not force:
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy"
                " the tensor to host memory first."
            )
        return self.detach().cpu().numpy()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.numpy()


def _where(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments of ``to`` with the place of another tensor named: torch knows index 0 only."""
    if args and isinstance(args[0], PretendTensor):
        return args[0].device, args[0].dtype, *args[1:]
    return args


def host_to(values: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """``Tensor.to`` of a tensor on the host."""
    moved: torch.Tensor = torch._C.TensorBase.to(values, *_where(args), **kwargs)
    return moved


class PretendGenerator(torch.Generator):
    """A generator of a pretended device; of the CPU where that is asked for."""

    def __new__(cls, device: Any = "cpu") -> PretendGenerator:
        made = super().__new__(cls)
        made.place = torch.device(device)
        _GENERATORS[made._cdata] = made
        return made

    @property
    def device(self) -> torch.device:
        return self.place

    def manual_seed(self, seed: int) -> PretendGenerator:
        own = self.place.type == NAME and CARDS[self.place.index or 0].own_numbers
        super().manual_seed(seed ^ 0x5DEECE66D if own else seed)
        return self


def run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """One operation: checked, counted, computed on the CPU, and claimed for the device again."""
    name = func._schema.name
    flat, spec = tree_flatten((args, kwargs))
    tensors = [each for each in flat if isinstance(each, PretendTensor)]
    wanted = next((each for each in flat if isinstance(each, torch.device)), None)
    index = _place(func, name, args, flat, tensors, wanted)
    known = {id(each.values): each for each in tensors}
    stored = {each.values.untyped_storage()._cdata: each.is_inference() for each in tensors}
    plain = [_inner(each) for each in flat]
    inner_args, inner_kwargs = tree_unflatten(plain, spec)
    computed = CELLS.get(name, func)(*inner_args, **inner_kwargs)
    if torch.Tag.inplace_view in func.tags:
        with no_dispatch():  # its shape changes on both sides
            func(*args, **kwargs)
    to_host = wanted is not None and wanted.type == "cpu"
    into_host = name == "aten::copy_" and not isinstance(args[0], PretendTensor)
    if tensors and (to_host or into_host or name in _READS or _masks(name, args)):
        _count_read(tensors[0].index, name)
    if index is None or to_host or into_host:
        return computed
    if any(type(each) is torch.Tensor and each.ndim for each in flat):
        CARDS[index].sends += 1

    def claimed(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in known:
            base = stored.get(value.untyped_storage()._cdata)
            # a view is a tensor for inference if what it shows is one, whatever the mode
            with torch.inference_mode(torch.is_inference_mode_enabled() if base is None else base):
                return PretendTensor(value, index)
        same = known[id(value)]
        if same.shape != value.shape:
            raise NotImplementedError(f"{name} changes the shape of a tensor in place")
        return same

    result = tree_map(claimed, computed)
    if _made_by_torch(name, tensors):
        for each in tree_flatten(result)[0]:
            if isinstance(each, PretendTensor):
                each.anywhere = True
    return result


def _made_by_torch(name: str, tensors: list[PretendTensor]) -> bool:
    """Whether torch itself has made it, on the one device that its autograd knows: of a Python
    number, or as the first of a gradient; and what is made of such alone.
    """
    if tensors:
        return all(each.anywhere for each in tensors)
    return name == "aten::scalar_tensor" or torch._C._current_graph_task_id() != -1


def _inner(each: Any) -> Any:
    if isinstance(each, PretendTensor):
        return each.values
    return HOST if isinstance(each, torch.device) else each


def _place(func: Any, name: str, args: Any, flat: Any, tensors: Any, wanted: Any) -> int | None:
    """The index where the result belongs; refuses what does not lie together."""
    places = {each.index for each in tensors if not each.anywhere}
    moved = {"aten::_to_copy", "aten::copy_"}
    if len(places) > 1 and not (name in _ACROSS or name in moved):
        fail(RuntimeError(f"Expected all tensors on one device, found {sorted(places)} in {name}"))
    foreign = [each for each in flat if type(each) is torch.Tensor]
    if tensors and name not in _ACROSS and not wanted:
        allowed_scalar = torch.Tag.pointwise in func.tags or "where" in name
        for each in foreign:
            index = name in _INDEXING and isinstance(args[0], PretendTensor)
            if not ((allowed_scalar and not each.ndim) or (index and not each.is_floating_point())):
                fail(
                    RuntimeError(
                        "Expected all tensors to be on the same device, but found at least two"
                        f" devices, {NAME}:{tensors[0].index} and cpu! ({name})"
                    )
                )
    if name.startswith("aten::index_put") and isinstance(args[0], PretendTensor):
        values = args[2]
        if values.ndim and getattr(values, "index", None) != args[0].index:
            fail(RuntimeError(f"Expected all tensors to be on the same device ({name})"))
    index = _index(args, tensors, wanted)
    for each in flat:
        if isinstance(each, torch._C.Generator) and index is not None:
            made_for = _GENERATORS.get(each._cdata, each).device
            if (made_for.type, made_for.index or 0) != (NAME, index):
                raise RuntimeError(
                    f"Expected a '{NAME}:{index}' generator but found one of '{made_for}'"
                )
    return index


def _index(args: Any, tensors: Any, wanted: torch.device | None) -> int | None:
    back = torch._C._current_graph_task_id() != -1 and wanted is not None and wanted.type == NAME
    if back and tensors:  # where the gradient of a copy belongs autograd knows as index 0
        return int(tensors[0].index)
    if wanted is not None:
        return (wanted.index or 0) if wanted.type == NAME else None
    settled = [each for each in tensors if not each.anywhere] or tensors
    if args and isinstance(args[0], PretendTensor) and not args[0].anywhere:
        return int(args[0].index)
    return int(settled[0].index) if tensors else None


def _masks(name: str, args: Any) -> bool:
    """Whether places are chosen by a mask, whose count the host must know first."""
    if name not in _INDEXING:
        return False
    masks = [each for each in args[1] if each is not None and each.dtype == torch.bool]
    return bool(masks) and not (name != "aten::index" and args[2].numel() == 1)


def _count_read(index: int, name: str) -> None:
    frame: Any = sys._getframe(1)
    while frame is not None and not _asks(frame.f_code.co_filename):
        frame = frame.f_back
    where = "" if frame is None else frame.f_code.co_filename.split("/robgui/", 1)[1]
    with LOCK:
        CARDS[index].reads += 1
        CARDS[index].sites[f"{where}:{0 if frame is None else frame.f_lineno} {name}"] += 1


def _asks(file: str) -> bool:
    return "/robgui/" in file and not file.endswith("core/devices.py")
