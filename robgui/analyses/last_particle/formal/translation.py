"""Operations of torch, as a model calls them, in the few terms of ``network``.

Each function gets a Call and returns operations, or raises UnsupportedError. An operation is taken only if it treats
the rows of a batch alike and apart; everything that is not named here is unsupported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own customary name)
from torch import Tensor

from robgui.analyses.last_particle.formal.network import Affine, Largest, Map, Operation, Rectifier, Shape, UnsupportedError

#: Operations that ask a tensor only for its size, or make a constant of its size.
SHAPE_ONLY = frozenset({"size", "sym_size", "sym_numel", "numel", "dim", "stride", "is_same_size", "sym_stride"})
CONSTANTS = frozenset({"zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty"})
#: What a model may do to its scores at last: their order stays.
SQUASHES = {"softmax": "softmax", "_softmax": "softmax", "log_softmax": "softmax", "_log_softmax": "softmax", "sigmoid": "sigmoid"}


@dataclass(frozen=True, slots=True)
class Ref:
    """Stands for a value that depends on the input: its place in the list and its shape, batch included."""

    place: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an operation of torch.

    Attributes:
        name: Without library and trailing underscore.
        function: What is called.
        args: Its arguments; a Ref where a value depends on the input.
        kwargs: The same by name.
        result: Shape of the (first) result, batch included.
        rows: Size of the batch the model was watched with.
        dtype: Of the constants to make.
        device: Where to make them.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Shape
    rows: int
    dtype: torch.dtype
    device: torch.device

    @property
    def refs(self) -> tuple[Ref, ...]:
        """The arguments that depend on the input, in order."""
        return tuple(each for each in _flat((*self.args, *self.kwargs.values())) if isinstance(each, Ref))

    @property
    def shape(self) -> Shape:
        """Shape of one row of the result."""
        return self.result[1:]

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """An argument by its position or name."""
        return self.args[position] if position < len(self.args) else self.kwargs.get(name, default)

    def refuse(self, why: str) -> UnsupportedError:
        """What to raise."""
        return UnsupportedError(f"its operation {self.name!r} {why}")


Translator = Callable[[Call], Sequence[Operation]]


def translate(call: Call, place: int) -> list[Operation]:
    """The operations that stand for ``call``; the first of them gets the ``place`` in the list."""
    translator = TRANSLATORS.get(call.name)
    if translator is None:
        raise UnsupportedError(f"its operation {call.name!r} is none that the bounds know")
    if not all(ref.shape[:1] == (call.rows,) for ref in call.refs) or call.result[:1] != (call.rows,):
        raise call.refuse("mixes the inputs of a batch")
    operations = list(translator(call))
    if len(operations) == 1:
        return operations
    # inputs below zero count from the first operation of this call: -1 is the first, -2 the second
    return [_placed(operation, place) for operation in operations]


def _placed(operation: Operation, place: int) -> Operation:
    inputs = tuple(place - 1 - each if each < 0 else each for each in operation.inputs)
    if isinstance(operation, Rectifier):
        return Rectifier(inputs, operation.shape, operation.slope)
    if isinstance(operation, Largest):
        return Largest(inputs, operation.shape, operation.table)
    return Affine(inputs, operation.shape, operation.apply, operation.offset, operation.pull, operation.spread, operation.mixes)


def affine(call: Call, inputs: tuple[Ref, ...], apply: Map, **more: Any) -> list[Operation]:
    """An affine map of values that depend on the input; its offset is found by putting in zeros."""
    zeros = [torch.zeros((1, *ref.shape[1:]), dtype=call.dtype, device=call.device) for ref in inputs]
    return [Affine(tuple(ref.place for ref in inputs), call.shape, apply, apply(*zeros), **more)]


def _reshape(call: Call) -> list[Operation]:
    """Everything that only renames the numbers of a row, in their order."""
    (ref,) = _only(call)
    if math.prod(ref.shape) != math.prod(call.result):
        raise call.refuse("changes the number of values")
    inner, outer = ref.shape[1:], call.shape
    return affine(call, (ref,), lambda x: x.reshape(len(x), *outer), pull=lambda rows: rows.reshape(len(rows), *inner))


def _cat(call: Call) -> list[Operation]:
    parts = call.args[0]
    dim = int(call.argument(1, "dim", 0)) % len(call.result)
    if dim == 0:
        if len(parts) == 1:
            return _reshape(call)
        raise call.refuse("joins inputs of a batch")
    return _replay(call)


def _dropout(call: Call) -> list[Operation]:
    if call.argument(2, "train", False):
        raise call.refuse("is random")
    return _reshape(call)


def _replay(call: Call, *, mixes: bool = False) -> list[Operation]:
    """Runs the operation itself, with constants that fit any number of rows."""
    refs = call.refs
    constants = [_constant(each, call) if isinstance(each, Tensor) else each for each in _flat(call.args)]
    template = _shaped(call.args, iter(constants))
    kwargs = {name: each for name, each in call.kwargs.items() if name not in ("dtype", "device", "layout", "memory_format", "pin_memory")}

    def apply(*values: Tensor) -> Tensor:
        given = iter(values)
        args = [_joined(each, given, len(values[0])) if isinstance(each, list) else _filled(each, given) for each in template]
        result = call.function(*args, **kwargs)
        first: Tensor = result[0] if isinstance(result, tuple | list) else result
        return first

    return affine(call, refs, apply, mixes=mixes)


def _mixing(call: Call) -> list[Operation]:
    """Means and sums: more of the input never gives less of the result."""
    _only(call)
    return _replay(call, mixes=True)


def _along(position: int, name: str) -> Translator:
    """Operations along axes that are named in an argument: the batch must not be among them."""

    def check(call: Call) -> list[Operation]:
        (ref,) = _only(call)
        given = call.argument(position, name, 0)
        dims = [given] if isinstance(given, int) else list(given or ())
        if not dims or any(dim % len(ref.shape) == 0 for dim in dims):
            if call.result == ref.shape and call.name == "slice":
                return _reshape(call)
            raise call.refuse("works along the batch")
        return _replay(call, mixes=call.name in ("mean", "sum"))

    return check


def _permute(call: Call) -> list[Operation]:
    (ref,) = _only(call)
    dims = call.args[1] if call.name == "permute" else call.args[1:3]
    fixed = dims[0] % len(ref.shape) == 0 if call.name == "permute" else all(dim % len(ref.shape) for dim in dims)
    if not fixed:
        raise call.refuse("moves the batch")
    return _replay(call)


def _expand(call: Call) -> list[Operation]:
    (ref,) = _only(call)
    if len(ref.shape) != len(call.result):
        raise call.refuse("adds an axis before the batch")
    shape = call.shape
    return affine(call, (ref,), lambda x: x.expand(len(x), *shape))


def _pad(call: Call) -> list[Operation]:
    (ref,) = _only(call)
    if len(call.args[1]) >= 2 * len(ref.shape):
        raise call.refuse("pads the batch")
    return _replay(call)


def _sum(call: Call) -> list[Operation]:
    """Sums and differences, also of two branches."""
    if any(len(ref.shape) != len(call.result) for ref in call.refs):
        raise call.refuse("adds values of different rank")
    return _replay(call)


def _product(call: Call) -> list[Operation]:
    """A product of which one factor is constant, or a value divided by a constant."""
    (ref,) = _only(call)
    if call.name == "div" and (call.args[0] is not ref or call.kwargs.get("rounding_mode")):
        raise call.refuse("divides by what depends on the input")
    return _sum(call)


def _addcmul(call: Call) -> list[Operation]:
    if sum(isinstance(each, Ref) for each in call.args[1:3]) > 1:
        raise call.refuse("multiplies two values that depend on the input")
    return _sum(call)


def _batch_norm(call: Call) -> list[Operation]:
    _only(call)
    if call.name != "_native_batch_norm_legit_no_training" and call.args[5]:
        raise call.refuse("uses the statistics of the batch")
    return _replay(call)


def _linear(call: Call) -> list[Operation]:
    """Matrix products with a constant matrix on the right: linear, mm, addmm, matmul."""
    (ref,) = _only(call)
    place = 1 if call.name == "addmm" else 0
    if call.args[place] is not ref or call.args[place + 1].ndim != 2:
        raise call.refuse("multiplies by what depends on the input")
    weight = _constant(call.args[place + 1], call, batch=False)
    bias = None
    if call.name == "linear":
        bias = call.argument(2, "bias")
    else:
        weight = weight.T.contiguous()
    if call.name == "addmm":
        weight = weight * call.kwargs.get("alpha", 1)
        bias = _constant(call.args[0], call).reshape(-1) * call.kwargs.get("beta", 1)
    bias = None if bias is None else _constant(bias, call, batch=False).expand(len(weight))
    return affine(
        call,
        (ref,),
        lambda x: F.linear(x, weight, bias),
        pull=lambda rows: rows @ weight,
        spread=lambda radius: F.linear(radius, weight.abs()),
        mixes=True,
    )


def _convolution(call: Call) -> list[Operation]:
    (ref,) = _only(call)
    if call.args[0] is not ref:
        raise call.refuse("has a kernel that depends on the input")
    weight = _constant(call.args[1], call, batch=False)
    bias = None if call.args[2] is None else _constant(call.args[2], call, batch=False)
    rest = tuple(call.args[3:9])
    inner = ref.shape[1:]

    def pull(rows: Tensor) -> Tensor:
        like = rows.new_zeros(1).expand(len(rows), *inner)
        found: Tensor = torch.ops.aten.convolution_backward(rows, like, weight, None, *rest, (True, False, False))[0]
        return found

    def run(x: Tensor, kernel: Tensor, add: Tensor | None) -> Tensor:
        found: Tensor = torch.ops.aten.convolution(x, kernel, add, *rest)
        return found

    return affine(
        call, (ref,), lambda x: run(x, weight, bias), pull=pull, spread=lambda radius: run(radius, weight.abs(), None), mixes=True
    )


def _relu(call: Call) -> list[Operation]:
    (ref,) = _only(call)
    slope = float(call.argument(1, "negative_slope", 0.01)) if call.name == "leaky_relu" else 0.0
    if not 0 <= slope < 1:
        raise call.refuse("has a slope outside 0 to 1")
    return [Rectifier((ref.place,), call.shape, slope)]


def _clamp(call: Call) -> list[Operation]:
    """Limits as rectifiers: max(x, a) = a + relu(x - a), and min(x, b) = x - relu(x - b)."""
    (ref,) = _only(call)
    low, high = _limits(call)
    shape = call.shape
    place, count = ref.place, 0
    operations: list[Operation] = []
    if low is not None:
        operations += [_shift(call, place, shape, -low), Rectifier((-1,), shape), _shift(call, -2, shape, low)]
        place, count = -3, 3
    if high is not None:
        operations += [_shift(call, place, shape, -high), Rectifier((-count - 1,), shape)]
        zero = torch.zeros((1, *shape), dtype=call.dtype, device=call.device)
        operations.append(Affine((place, -count - 2), shape, lambda x, over: x - over, zero))
    return operations


def _shift(call: Call, place: int, shape: Shape, by: float) -> Affine:
    offset = torch.full((1, *shape), by, dtype=call.dtype, device=call.device)
    return Affine((place,), shape, lambda x: x + by, offset, pull=lambda rows: rows)


def _limits(call: Call) -> tuple[float | None, float | None]:
    if call.name == "clamp_min":
        given = (call.args[1], None)
    elif call.name == "clamp_max":
        given = (None, call.args[1])
    elif call.name == "hardtanh":
        given = (call.argument(1, "min_val", -1.0), call.argument(2, "max_val", 1.0))
    else:
        given = (call.argument(1, "min"), call.argument(2, "max"))
    if any(isinstance(each, Tensor | Ref) for each in given):
        raise call.refuse("has limits that are not plain numbers")
    low, high = (None if each is None else float(each) for each in given)
    return low, high


def _max_pool(call: Call) -> list[Operation]:
    (ref,) = _only(call)
    axes = len(ref.shape) - 2
    kernel = _per_axis(call.args[1], axes)
    stride = _per_axis(call.argument(2, "stride") or kernel, axes)
    padding, dilation = (_per_axis(call.argument(p, name, d), axes) for p, name, d in ((3, "padding", 0), (4, "dilation", 1)))
    if any(each != 1 for each in dilation):
        raise call.refuse("has dilated windows")
    table = F.pad(_numbers(call, ref), [each for size in reversed(padding) for each in (size, size)], value=math.prod(ref.shape[1:]))
    for axis, (size, step) in enumerate(zip(kernel, stride, strict=True), 1):
        table = table.unfold(axis, size, step)
    if table.shape[: axes + 1] != call.shape:
        raise call.refuse("has windows that reach over the edge (ceil_mode)")
    return _largest(call, ref, table.reshape(math.prod(call.shape), -1))


def _amax(call: Call) -> list[Operation]:
    (ref,) = _only(call)
    if call.name.startswith("adaptive"):
        sizes = call.args[1] if isinstance(call.args[1], Sequence) else [call.args[1]]
        if any(size != 1 for size in sizes):
            raise call.refuse("has windows of different sizes")
        dims = list(range(2, len(ref.shape)))
    else:
        given = call.argument(1, "dim", ())
        dims = [dim % len(ref.shape) for dim in ([given] if isinstance(given, int) else given)]
    if not dims or 0 in dims:
        raise call.refuse("works along the batch")
    kept = [axis for axis in range(1, len(ref.shape)) if axis not in dims]
    table = _numbers(call, ref).permute([axis - 1 for axis in (*kept, *dims)])
    return _largest(call, ref, table.reshape(math.prod(call.shape), -1))


def _largest(call: Call, ref: Ref, table: Tensor) -> list[Operation]:
    return [Largest((ref.place,), call.shape, table)]


def _numbers(call: Call, ref: Ref) -> Tensor:
    """The places of the numbers of one row, in its shape."""
    return torch.arange(math.prod(ref.shape[1:]), device=call.device).reshape(ref.shape[1:])


def _only(call: Call) -> tuple[Ref]:
    if len(call.refs) != 1:
        raise call.refuse("combines several values that depend on the input")
    return (call.refs[0],)


def _per_axis(value: Any, axes: int) -> list[int]:
    sizes = [value] if isinstance(value, int) else list(value)
    return [int(each) for each in (sizes * axes if len(sizes) == 1 else sizes)]


def _constant(value: Tensor, call: Call, *, batch: bool = True) -> Tensor:
    """A constant that serves any number of rows; with a batch axis of its own, all its rows must be equal."""
    found = value.detach().to(call.dtype, copy=True) if value.is_floating_point() else value.detach().clone()
    if not batch or value.ndim < len(call.result) or value.shape[0] == 1:
        return found
    if bool((found[1:] != found[:1]).any()):
        raise call.refuse("treats the inputs of a batch differently")
    return found[:1]


def _flat(value: Any) -> list[Any]:
    return [each for part in value for each in _flat(part)] if isinstance(value, tuple | list) else [value]


def _shaped(template: Any, leaves: Iterator[Any]) -> Any:
    """``template`` with its leaves replaced in order."""
    return [_shaped(part, leaves) for part in template] if isinstance(template, tuple | list) else next(leaves)


def _filled(template: Any, values: Iterator[Tensor]) -> Any:
    return next(values) if isinstance(template, Ref) else template


def _joined(template: list[Any], values: Iterator[Tensor], rows: int) -> list[Any]:
    """A list argument; tensors to be joined with others are repeated for every row."""
    return [each.expand(rows, *each.shape[1:]) if isinstance(each, Tensor) else _filled(each, values) for each in template]


_SAME = ("to", "_to_copy", "contiguous", "clone", "detach", "alias", "lift_fresh", "type_as", "positive")
_VIEWS = ("view", "_unsafe_view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "view_as", "_reshape_alias")
_AVERAGES = ("avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d")
_PADS = ("constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d")

TRANSLATORS: dict[str, Translator] = {
    **dict.fromkeys((*_SAME, *_VIEWS), _reshape),
    **dict.fromkeys(("dropout", "feature_dropout", "alpha_dropout", "native_dropout"), _dropout),
    **dict.fromkeys(("permute", "transpose"), _permute),
    **dict.fromkeys(("slice", "select", "narrow", "index_select", "mean", "sum"), _along(1, "dim")),
    **dict.fromkeys(("flip",), _along(1, "dims")),
    **dict.fromkeys(_PADS, _pad),
    **dict.fromkeys(_AVERAGES, _mixing),
    **dict.fromkeys(("add", "sub", "rsub", "neg"), _sum),
    **dict.fromkeys(("mul", "div"), _product),
    **dict.fromkeys(("cat", "concat"), _cat),
    **dict.fromkeys(("linear", "mm", "addmm", "matmul"), _linear),
    **dict.fromkeys(("batch_norm", "native_batch_norm", "_native_batch_norm_legit_no_training"), _batch_norm),
    **dict.fromkeys(("relu", "leaky_relu"), _relu),
    **dict.fromkeys(("clamp", "clamp_min", "clamp_max", "hardtanh"), _clamp),
    **dict.fromkeys(("max_pool1d", "max_pool2d", "max_pool2d_with_indices", "max_pool3d"), _max_pool),
    **dict.fromkeys(("amax", "adaptive_max_pool2d"), _amax),
    "addcmul": _addcmul,
    "convolution": _convolution,
    "expand": _expand,
}
