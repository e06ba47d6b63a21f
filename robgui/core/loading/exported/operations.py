"""The operations an exported graph may use.

Those of torch that only compute, each overload by name.

Torch's own reader resolves any dotted name below ``torch`` and evaluates shape expressions as
Python. This one knows the operations below and arithmetic on sizes: nothing that touches files,
processes or raw memory, and no backward operation, whose kernels trust every index.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from robgui.core.loading.exported import indexing, layers
from robgui.core.loading.exported.contract import BrokenContractError, Contract, TooLargeError, bind
from robgui.core.loading.exported.sizes import bound

#: Overloads called "default".
_PLAIN = """
abs absolute acos acosh alias all alpha_dropout amax amin any argmax argmin asin asinh atan atan2
atanh bitwise_not ceil celu clamp clamp_max clamp_min clone contiguous cos cosh detach dropout elu
erf erfc exp exp2 expm1 feature_dropout floor frac gelu glu hardshrink hardsigmoid hardswish
hardtanh isfinite isinf isnan leaky_relu lift_fresh lift_fresh_copy log log10 log1p log2 log_sigmoid
logaddexp logical_and logical_not logical_or logical_xor max maximum mean min minimum mish mse_loss
nan_to_num native_dropout neg ones_like positive prelu _prelu_kernel prod reciprocal relu relu6
round rsqrt selu sigmoid sign silu sin sinh softplus softshrink sqrt square std std_mean sum tan
tanh trunc var var_mean zeros_like cumprod cumsum linalg_norm linalg_vector_norm _log_softmax
logsumexp _softmax sort topk addbmm addcdiv addcmul addmm addmv addr baddbmm bilinear bmm cdist
cosine_similarity cross dot einsum linear matmul mm mv outer scaled_dot_product_attention
_scaled_dot_product_flash_attention_for_cpu broadcast_to cat chunk concat copy diag diagonal expand
expand_as flip meshgrid narrow permute repeat reshape roll rot90 select_scatter slice_scatter
split_with_sizes squeeze stack sum_to_size swapaxes t tile _to_copy tril triu type_as unfold
_unsafe_view unsqueeze view view_as conv1d conv2d conv3d conv_transpose1d convolution max_pool1d
max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices avg_pool1d avg_pool2d
avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d
_adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d upsample_bicubic2d
upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d
upsample_trilinear3d constant_pad_nd pad reflection_pad1d reflection_pad2d reflection_pad3d
replication_pad1d replication_pad2d replication_pad3d channel_shuffle grid_sampler grid_sampler_2d
im2col pixel_shuffle pixel_unshuffle batch_norm _fused_rms_norm group_norm instance_norm layer_norm
native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_functional
_native_batch_norm_legit_no_training native_group_norm native_layer_norm rms_norm gru_cell lstm_cell
rnn_relu_cell rnn_tanh_cell embedding gather index_add index_put index_select masked_scatter one_hot
scatter_add arange eye full full_like linspace new_full new_ones new_zeros ones rand rand_like randn
randn_like scalar_tensor zeros abs_ celu_ clamp_ copy_ dropout_ elu_ exp_ gelu_ hardsigmoid_
hardswish_ hardtanh_ index_put_ leaky_relu_ mish_ neg_ relu6_ relu_ selu_ sigmoid_ silu_ sqrt_ tanh_
zero_ sym_numel
"""
#: Other overloads.
_OVERLOADS = """
add.Tensor add.Scalar sub.Tensor sub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar
div.Tensor_mode div.Scalar_mode rsub.Tensor rsub.Scalar multiply.Tensor multiply.Scalar
subtract.Tensor subtract.Scalar true_divide.Tensor true_divide.Scalar eq.Tensor eq.Scalar ne.Tensor
ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar
greater.Tensor greater.Scalar greater_equal.Tensor greater_equal.Scalar less.Tensor less.Scalar
less_equal.Tensor less_equal.Scalar not_equal.Tensor not_equal.Scalar bitwise_and.Tensor
bitwise_and.Scalar bitwise_or.Tensor bitwise_or.Scalar bitwise_xor.Tensor bitwise_xor.Scalar
fmod.Tensor fmod.Scalar remainder.Tensor remainder.Scalar remainder.Scalar_Tensor
floor_divide.default floor_divide.Scalar pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar
round.decimals clamp.Tensor clamp_min.Tensor clamp_max.Tensor lerp.Scalar lerp.Tensor where.self
where.ScalarOther where.ScalarSelf where.Scalar masked_fill.Scalar masked_fill.Tensor fill.Scalar
fill.Tensor max.dim max.other min.dim min.other sum.dim_IntList mean.dim prod.dim_int std.dim
std.correction var.dim var.correction std_mean.correction var_mean.correction norm.Scalar
norm.ScalarOpt_dim all.dim all.dims any.dim any.dims softmax.int log_softmax.int sort.stable
transpose.int squeeze.dim squeeze.dims flatten.using_ints unflatten.int slice.Tensor
slice_copy.Tensor select.int split.Tensor split.sizes tensor_split.sections tensor_split.indices
unbind.int movedim.int movedim.intlist repeat_interleave.self_int meshgrid.indexing to.dtype
to.dtype_layout to.device to.other sym_size.int sym_stride.int conv1d.padding conv2d.padding
conv3d.padding conv_transpose2d.input conv_transpose3d.input upsample_nearest1d.vec
upsample_nearest2d.vec upsample_nearest3d.vec upsample_linear1d.vec upsample_bilinear2d.vec
upsample_bicubic2d.vec upsample_trilinear3d.vec _native_batch_norm_legit.no_stats lstm.input
gru.input rnn_tanh.input rnn_relu.input index.Tensor scatter.src scatter.value scatter_reduce.two
arange.start arange.start_step eye.m add_.Tensor add_.Scalar sub_.Tensor sub_.Scalar mul_.Tensor
mul_.Scalar div_.Tensor div_.Scalar fill_.Scalar fill_.Tensor masked_fill_.Scalar
masked_fill_.Tensor
"""
#: Every permitted overload, as ``name.overload``.
NAMES = frozenset({*(f"{name}.default" for name in _PLAIN.split()), *_OVERLOADS.split()})
_CONTRACTS: dict[str, Contract] = {**layers.CONTRACTS, **indexing.CONTRACTS}
#: Assertions made at export, about sizes and types that are tested when the model is loaded.
_CHECKS = re.compile(r"torch\.ops\.aten\.(_assert\w*|sym_constrain_range\w*)\.\w+")
_ATEN = "torch.ops.aten."
_ARITHMETIC = (
    "add",
    "sub",
    "mul",
    "floordiv",
    "truediv",
    "mod",
    "neg",
    "pos",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "and_",
    "or_",
    "not_",
)
_ROUNDING = ("ceil", "floor", "trunc", "sqrt")
_SYMBOLIC = ("int", "float", "max", "min", "not", "ite", "sum")
_SIZES: dict[str, Callable[..., Any]] = {
    **{f"_operator.{name}": getattr(operator, name) for name in _ARITHMETIC},
    **{f"math.{name}": getattr(math, name) for name in _ROUNDING},
    **{f"torch.sym_{name}": getattr(torch, f"sym_{name}") for name in _SYMBOLIC},
}
#: Largest size; otherwise sizes multiplied by themselves could grow without end.
_LARGEST_SIZE = 2**62
#: Shape combinations that one node remembers as checked.
_REMEMBERED = 16


class SizeOperation:
    """Arithmetic on plain numbers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._function = _SIZES[name]

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any], room: int) -> Any:
        """The result for plain numbers; anything else is refused."""
        # sym_sum takes one list; all others take their numbers one by one.
        if self.name == "torch.sym_sum" and args:
            numbers = args[0]
        else:
            numbers = args
        if kwargs or not all(isinstance(value, int | float) for value in numbers):
            raise BrokenContractError(
                f"its operation {self.name} is refused: it takes plain numbers"
            )
        # math and operator raise on nonsense (division by zero), which the caller turns into a
        # sentence.
        result = self._function(*args)
        # Not >=, which nan would pass.
        if not abs(result) < _LARGEST_SIZE:
            raise BrokenContractError(
                f"its operation {self.name} is refused: its result is no size"
            )
        return result


class PickOperation:
    """One of several results."""

    name = "_operator.getitem"

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any], room: int) -> Any:
        """The result with that number."""
        values, place = args
        if kwargs or not isinstance(values, list | tuple) or type(place) is not int:
            raise BrokenContractError(
                "its operation getitem is refused: it takes one of several results"
            )
        return values[place]


class TensorOperation:
    """One torch overload, called only within its contract and if its result fits into memory."""

    def __init__(self, overload: str) -> None:
        name, _, self.overload = overload.partition(".")
        self.function: torch._ops.OpOverload = getattr(getattr(torch.ops.aten, name), self.overload)
        self.name = name
        self._contract = _CONTRACTS.get(name, Contract())
        self._checked: dict[Any, int] = {}

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any], room: int) -> Any:
        """The result; raises if the contract is broken or the result would exceed ``room``."""
        # Shapes repeat from batch to batch: the form is checked once per combination, the contents
        # every time.
        form = _form((args, kwargs))
        size = self._checked.get(form)
        if size is None:
            size = self._check(args, kwargs)
            if len(self._checked) >= _REMEMBERED:
                self._checked.clear()
            self._checked[form] = size
        if size > room:
            raise TooLargeError(
                f"its operation {self.name} is refused: it asks for {size / 1e6:,.0f} MB at once"
            )
        if self._contract.content is not None:
            self._contract.content(bind(self.function, args, kwargs))
        return self.function(*args, **kwargs)

    def _check(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
        """Most bytes that the result can take, found without computing it."""
        call = bind(self.function, args, kwargs)
        if self._contract.form is not None:
            self._contract.form(call)
        # The quick bound first; asking torch imports its compiler.
        most = bound(call)
        if most is None:
            return self._told_by_torch(args, kwargs)
        return most

    def _told_by_torch(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
        hollow = {name: _hollow(value) for name, value in kwargs.items()}
        if any(
            argument.name == "device" and argument.kwarg_only
            for argument in self.function._schema.arguments
        ):
            # On the meta device an operation computes shapes only and allocates nothing.
            hollow["device"] = torch.device("meta")
        with torch.no_grad():
            return bytes_in(self.function(*_hollow(args), **hollow))


Operation = SizeOperation | PickOperation | TensorOperation


def is_check(target: str) -> bool:
    """True for operations that only assert something."""
    return bool(_CHECKS.fullmatch(target))


def find_operation(target: str) -> Operation | None:
    """The operation behind a target's name; None unless it is known to be harmless."""
    if target in _SIZES:
        return SizeOperation(target)
    if target == PickOperation.name:
        return PickOperation()
    overload = target.removeprefix(_ATEN)
    if target.startswith(_ATEN) and overload in NAMES:
        return TensorOperation(overload)
    return None


def bytes_in(value: Any) -> int:
    """Bytes of the tensors in ``value``, as if none shared memory."""
    if isinstance(value, Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, list | tuple):
        return sum(bytes_in(each) for each in value)
    return 0


def _form(value: Any) -> Any:
    """Everything about the arguments except the numbers inside tensors."""
    if isinstance(value, Tensor):
        return (value.shape, value.dtype, value.device)
    if isinstance(value, Mapping):
        # Order matters: the same names in another order are another call.
        return tuple((name, _form(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return tuple([_form(each) for each in value])
    # With the type, since 1, 1.0 and True are equal as dictionary keys.
    return (type(value), value)


def _hollow(value: Any) -> Any:
    """The arguments with tensors that have shape and type but no memory."""
    if isinstance(value, Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    if isinstance(value, list | tuple):
        return [_hollow(each) for each in value]
    if isinstance(value, torch.device):
        return torch.device("meta")
    return value
