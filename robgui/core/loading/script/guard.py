"""Checks what TorchScript passes to kernels that trust their arguments.

Before a graph runs, every node for such a kernel is replaced by an operation of ours with the same
arguments. It checks them against the kernel's contract and then calls it, whatever mode torch is
in.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor

from robgui.core.loading.exported import indexing, layers, recurrent
from robgui.core.loading.exported.contract import BrokenContractError, OperationCall, bind

_UPSAMPLE = """
upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d
upsample_bicubic2d upsample_trilinear3d _upsample_nearest_exact1d _upsample_nearest_exact2d
_upsample_nearest_exact3d _upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_lanczos2d_aa
"""
#: Namespace of our operations.
_LIBRARY: Any = torch.library.Library("robgui", "FRAGMENT")  # type: ignore[no-untyped-call]
#: Divided by -1 it does not fit into 64 bits, and the processor ends the process (SIGFPE).
_LOWEST = -(2**63)


class _Last(threading.local):
    """The last refused call of this thread."""

    broken: BrokenContractError | None = None

    def clear(self) -> None:
        """Forgets it."""
        self.broken = None


_last = _Last()


@contextmanager
def guarded() -> Iterator[None]:
    """Runs TorchScript; the sentence of a refused call is not buried in torch's report."""
    _last.clear()
    try:
        yield
    except RuntimeError as error:
        # Torch turns our error into a RuntimeError with a long report; the original sentence is
        # kept beside it.
        raise _last.broken or error from error


def exchange(graph: Any, node: Any) -> None:
    """Replaces a node by its guarded operation."""
    name, overload = node.kind().removeprefix("aten::"), _overload(node)
    _define(name, overload, str(node.schema()))
    ours = graph.create(f"robgui::{name}", list(node.inputs()), node.outputsSize())
    ours.insertBefore(node)
    # Types are copied: later passes and the caller rely on them.
    for old, new in zip(node.outputs(), ours.outputs(), strict=True):
        new.setType(old.type())
        old.replaceAllUsesWith(new)
    node.destroy()


def needs_guard(node: Any) -> bool:
    """Whether a node stands for a kernel that trusts its arguments."""
    library, _, name = node.kind().partition("::")
    return library == "aten" and is_guarded(name, _overload(node))


def is_guarded(name: str, overload: str) -> bool:
    """Whether a kernel trusts its arguments."""
    return _contract(name, overload) is not None


def checked(name: str, overload: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a torch operation, called only within its contract."""
    contract = _contract(name, overload)
    try:
        call = bind(_function(name, overload), args, kwargs)
        if contract is not None:
            contract(call)
    except BrokenContractError as error:
        _last.broken = error
        raise
    return _function(name, overload)(*args, **kwargs)


@cache
def _function(name: str, overload: str) -> Any:
    return getattr(getattr(torch.ops.aten, name), overload or "default")


@cache
def _define(name: str, overload: str, schema: str) -> None:
    """Defines our operation, once for each kernel."""

    def ours(*args: Any, **kwargs: Any) -> Any:
        return checked(name, overload, args, kwargs)

    _LIBRARY.define(schema.removeprefix("aten::"))
    # Composite: the guard runs in every mode (inference, autograd, autocast) before torch
    # dispatches further.
    _LIBRARY.impl(f"{name}.{overload}" if overload else name, ours, "CompositeImplicitAutograd")


def _overload(node: Any) -> str:
    return str(node.schema()).partition("(")[0].partition(".")[2]


def _mixing(call: OperationCall) -> None:
    """Attention of one kernel: the weights fit the size of the input."""
    x = call.tensor("src" if "src" in call.given else "query", 3)
    size = x.shape[2]
    (told,) = call.sizes("embed_dim", 1, 2**20)
    (heads,) = call.sizes("num_heads" if "num_heads" in call.given else "num_head", 1, 2**10)
    call.need(
        told == size and size % heads == 0 and x.numel() > 0, "the sizes do not fit the input"
    )
    shapes = {
        "qkv_weight": (3 * size, size),
        "qkv_bias": (3 * size,),
        "proj_weight": (size, size),
        "proj_bias": (size,),
    }
    if "src" in call.given:
        inner = call.tensor("ffn_weight_1", 2).shape[0]
        shapes |= {
            "ffn_weight_1": (inner, size),
            "ffn_bias_1": (inner,),
            "ffn_weight_2": (size, inner),
            "ffn_bias_2": (size,),
        }
        shapes |= {
            f"norm_{part}_{place}": (size,) for part in ("weight", "bias") for place in (1, 2)
        }
    else:
        same = all(tuple(call.tensor(name).shape) == tuple(x.shape) for name in ("key", "value"))
        call.need(same, "query, key and value differ")
    call.same_type(
        [
            x,
            *(call.tensor(name) for name in shapes),
            *(call[name] for name in ("key", "value") if name in call.given),
        ]
    )
    call.need(
        all(tuple(call.tensor(name).shape) == shape for name, shape in shapes.items()),
        "a weight does not fit the input",
    )
    _check_mask(call, x, heads)


def _check_mask(call: OperationCall, x: Tensor, heads: int) -> None:
    mask, kind = call["mask"], call["mask_type"]
    batch, length = x.shape[0], x.shape[1]
    shapes = {0: (length, length), 1: (batch, length), 2: (batch, heads, length, length)}
    fits = mask is None or (
        kind in shapes and tuple(mask.shape) == shapes[kind] and mask.dtype == torch.bool
    )
    call.need(fits, "the mask does not fit the input")


def _refused(call: OperationCall) -> None:
    """A kernel whose contract is not known."""
    raise BrokenContractError(
        f"its operation {call.operation} is refused: it is not known to be safe"
    )


def _quotient(call: OperationCall) -> None:
    """Refuses an integer quotient without a value: the processor would kill the process."""
    left, right = call.given.values()
    if isinstance(left, int) and isinstance(right, int):
        call.need(right != 0, "it divides by 0")
        # -2^63 / -1 overflows, which ends the process like a division by 0.
        call.need(left != _LOWEST or right != -1, "its result is no number")


def _named(
    contract: Callable[[OperationCall], None], names: str
) -> dict[str, Callable[[OperationCall], None]]:
    return dict.fromkeys(names.split(), contract)


#: By name, or by name and overload if another overload needs no check.
_CONTRACTS: dict[str, Callable[[OperationCall], None]] = {
    **_named(recurrent.recurrent, "lstm.input gru.input rnn_tanh.input rnn_relu.input"),
    **_named(recurrent.cell, "lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell"),
    **_named(layers.attention, "scaled_dot_product_attention"),
    **_named(layers.pool, "max_pool1d"),
    **_named(layers.enlarge, _UPSAMPLE),
    **_named(_mixing, "_native_multi_head_attention _transformer_encoder_layer_fwd"),
    **_named(
        _refused,
        "_nested_tensor_from_mask _nested_tensor_from_mask_left_aligned to_padded_tensor",
    ),
    **_named(
        indexing.check_divisor,
        "div.Tensor_mode div.Scalar_mode floor_divide. floor_divide.Scalar fmod.Tensor fmod.Scalar"
        " remainder.Tensor remainder.Scalar remainder.Scalar_Tensor",
    ),
    **_named(
        _quotient,
        "remainder. remainder.int floordiv.int divmod.int __round_to_zero_floordiv.int",
    ),
}


def _contract(name: str, overload: str) -> Callable[[OperationCall], None] | None:
    return _CONTRACTS.get(f"{name}.{overload}", _CONTRACTS.get(name))
