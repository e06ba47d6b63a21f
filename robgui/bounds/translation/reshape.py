"""Operations that move, repeat, drop or pad numbers and compute nothing."""

from __future__ import annotations

import math

from robgui.bounds.network import Operation
from robgui.bounds.translation.call import Call, Translator, affine, single_ref
from robgui.bounds.translation.replay import along, replay


def _reshape(call: Call) -> list[Operation]:
    """Anything that keeps the numbers of a row in order: views, copies, conversions."""
    ref = single_ref(call)
    if math.prod(ref.shape) != math.prod(call.result):
        raise call.unsupported("changes the number of values")
    inner, outer = ref.shape[1:], call.shape
    return affine(
        call,
        (ref,),
        lambda x: x.reshape(len(x), *outer),
        pull=lambda rows: rows.reshape(len(rows), *inner),
        # A conversion rounds once; moving numbers does not.
        roundings=int(ref.precision != call.precision),
    )


def _dropout(call: Call) -> list[Operation]:
    if call.argument(2, "train", False):
        raise call.unsupported("is random")
    return _reshape(call)


def _slice(call: Call) -> list[Operation]:
    """A part of a row; exporters also write slices that leave nothing out, even along the batch."""
    if call.result == single_ref(call).shape:
        return _reshape(call)
    return _along_dim(call)


def _cat(call: Call) -> list[Operation]:
    parts = call.args[0]
    dim = int(call.argument(1, "dim", 0)) % len(call.result)
    if dim != 0:
        return replay(call)
    if len(parts) == 1:
        return _reshape(call)
    raise call.unsupported("joins inputs of a batch")


def _permute(call: Call) -> list[Operation]:
    rank = len(single_ref(call).shape)
    # Rows are independent inputs: an operation that moves them cannot be bounded row by row.
    if call.args[1][0] % rank != 0:
        raise call.unsupported("moves the batch")
    return replay(call)


def _transpose(call: Call) -> list[Operation]:
    rank = len(single_ref(call).shape)
    if any(dim % rank == 0 for dim in call.args[1:3]):
        raise call.unsupported("moves the batch")
    return replay(call)


def _expand(call: Call) -> list[Operation]:
    ref = single_ref(call)
    if len(ref.shape) != len(call.result):
        raise call.unsupported("adds an axis before the batch")
    shape = call.shape
    return affine(call, (ref,), lambda x: x.expand(len(x), *shape))


def _pad(call: Call) -> list[Operation]:
    # Padding is listed from the last axis on, two numbers each: the batch comes last.
    if any(call.args[1][2 * len(single_ref(call).shape) - 2 :]):
        raise call.unsupported("pads the batch")
    return replay(call, roundings=1)  # The padding value may round.


_along_dim = along("dim")

_SAME = (
    "to",
    "_to_copy",
    "contiguous",
    "clone",
    "detach",
    "alias",
    "lift_fresh",
    "type_as",
    "positive",
)
_VIEWS = (
    "view",
    "_unsafe_view",
    "reshape",
    "flatten",
    "unflatten",
    "squeeze",
    "unsqueeze",
    "view_as",
    "_reshape_alias",
)
_PADS = (
    "constant_pad_nd",
    "reflection_pad1d",
    "reflection_pad2d",
    "replication_pad1d",
    "replication_pad2d",
)

REARRANGING: dict[str, Translator] = {
    **dict.fromkeys((*_SAME, *_VIEWS), _reshape),
    **dict.fromkeys(("dropout", "feature_dropout", "alpha_dropout", "native_dropout"), _dropout),
    **dict.fromkeys(("select", "narrow", "index_select"), _along_dim),
    **dict.fromkeys(("cat", "concat"), _cat),
    **dict.fromkeys(_PADS, _pad),
    "slice": _slice,
    "flip": along("dims"),
    "permute": _permute,
    "transpose": _transpose,
    "expand": _expand,
}
