"""Translates torch operations, as a model calls them, into the few terms of ``network``.

An operation is accepted only if it treats all rows of a batch alike and independently. Whatever is
in none of the tables is unsupported.
"""

from __future__ import annotations

from robgui.bounds.network import Operation, UnsupportedError
from robgui.bounds.translation.affine import WEIGHING
from robgui.bounds.translation.call import Call, Ref, Translator, leaves
from robgui.bounds.translation.piecewise_linear import BENDING
from robgui.bounds.translation.reshape import REARRANGING

__all__ = [
    "CONSTANTS",
    "SHAPE_ONLY",
    "SQUASHES",
    "TRANSLATORS",
    "Call",
    "Ref",
    "leaves",
    "translate",
]

#: Operations that only ask for a tensor's size, and those that make a constant of its size.
SHAPE_ONLY = frozenset(
    {"size", "sym_size", "sym_numel", "numel", "dim", "stride", "is_same_size", "sym_stride"}
)
CONSTANTS = frozenset(
    {
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_empty",
    }
)
#: Final operations of a model that keep the order of its scores.
SQUASHES = {
    **dict.fromkeys(("softmax", "_softmax"), "softmax"),
    **dict.fromkeys(("log_softmax", "_log_softmax"), "log_softmax"),
    "sigmoid": "sigmoid",
}
#: Everything else that the bounds know.
TRANSLATORS: dict[str, Translator] = {**REARRANGING, **WEIGHING, **BENDING}


def translate(call: Call) -> list[Operation]:
    """The operations equivalent to ``call``, in order; the last one gives its result."""
    translator = TRANSLATORS.get(call.name)
    if translator is None:
        raise UnsupportedError(f"its operation {call.name!r} is not one that the bounds know")
    if not all(ref.shape[:1] == (call.rows,) for ref in call.refs) or call.result[:1] != (
        call.rows,
    ):
        raise call.unsupported("mixes the inputs of a batch")
    return translator(call)
