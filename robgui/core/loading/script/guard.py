"""Checks, while TorchScript runs, what it hands to the few kernels that check little themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from robgui.core.loading.exported import layers
from robgui.core.loading.exported.contract import BrokenContractError, Call, bind
from robgui.core.model.watching import Watching

_UPSAMPLE = (
    "nearest1d",
    "nearest2d",
    "nearest3d",
    "linear1d",
    "bilinear2d",
    "bicubic2d",
    "trilinear3d",
)
_VARIANTS = (
    "_nearest_exact1d",
    "_nearest_exact2d",
    "_nearest_exact3d",
    "_bicubic2d_aa",
    "_bilinear2d_aa",
    "_lanczos2d_aa",
)


@contextmanager
def guarded() -> Iterator[None]:
    """Runs TorchScript under a guard.

    The sentence of a refused call is not buried in torch's report.
    """
    guard = _Guard()
    try:
        with guard:
            yield
    except RuntimeError as error:
        raise guard.broken or error from error


class _Guard(Watching):
    """Sees every call below autograd; a call that breaks the contract of its kernel is not made."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.broken: BrokenContractError | None = None

    def __torch_dispatch__(
        self,
        function: torch._ops.OpOverload,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Checks the call where the kernel has a contract, then makes it."""
        contract = _CONTRACTS.get(function._schema.name)
        if contract is not None:
            try:
                contract(bind(function, args, kwargs or {}))
            except BrokenContractError as error:
                self.broken = error
                raise
        return function(*args, **(kwargs or {}))


def _layer(call: Call) -> None:
    """One layer and direction of an LSTM as oneDNN computes it."""
    x = call.tensor("input", 3)
    hidden, size = call["hidden_size"], x.shape[2]
    weights = [call.tensor(f"weight{place}") for place in range(4)]
    states = [call.tensor(name) for name in ("hx_", "cx_")]
    call.same_type((x, *weights, *states))
    call.need(call["mode"] == 2 and not call["batch_sizes"], "it is no LSTM")
    wanted = [(4 * hidden, size), (4 * hidden, hidden)]
    call.need(
        all(tuple(weight.shape) == shape for weight, shape in zip(weights, wanted, strict=False)),
        "a weight does not fit",
    )
    biased = not call["has_biases"] or all(
        tuple(weight.shape) == (4 * hidden,) for weight in weights[2:]
    )
    call.need(x.numel() > 0 and biased, "a bias does not fit")
    # torch has already turned the input: its second axis is the batch
    call.need(all(state.numel() == x.shape[1] * hidden for state in states), "a state does not fit")


def _mixing(call: Call) -> None:
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


def _check_mask(call: Call, x: Tensor, heads: int) -> None:
    mask, kind = call["mask"], call["mask_type"]
    batch, length = x.shape[0], x.shape[1]
    shapes = {0: (length, length), 1: (batch, length), 2: (batch, heads, length, length)}
    fits = mask is None or (
        kind in shapes and tuple(mask.shape) == shapes[kind] and mask.dtype == torch.bool
    )
    call.need(fits, "the mask does not fit the input")


def _refused(call: Call) -> None:
    """A kernel whose contract is not known."""
    raise BrokenContractError(
        f"its operation {call.operation} is refused: it is not known to be safe"
    )


def _named(contract: Callable[[Call], None], *names: str) -> dict[str, Callable[[Call], None]]:
    return {f"aten::{name}": contract for name in names}


_CONTRACTS: dict[str, Callable[[Call], None]] = {
    **_named(layers.recurrent, "lstm"),
    **_named(_layer, "mkldnn_rnn_layer"),
    **_named(
        layers.attention,
        "scaled_dot_product_attention",
        "_scaled_dot_product_flash_attention_for_cpu",
    ),
    **_named(_mixing, "_native_multi_head_attention", "_transformer_encoder_layer_fwd"),
    **_named(
        layers.enlarge,
        *(f"upsample_{name}" for name in _UPSAMPLE),
        *(f"_upsample{name}" for name in _VARIANTS),
    ),
    **_named(
        _refused,
        "_nested_tensor_from_mask",
        "_nested_tensor_from_mask_left_aligned",
        "to_padded_tensor",
    ),
}
