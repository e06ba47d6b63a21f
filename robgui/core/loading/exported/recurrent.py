"""Contracts of recurrent layers: a wrong shape makes torch's kernels read beyond their tensors."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from robgui.core.loading.exported.contract import OperationCall

#: Gates of a recurrent layer: rows of its weights for each hidden unit.
_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def _states(call: OperationCall) -> list[Tensor]:
    hx = call["hx"]
    if isinstance(hx, list | tuple):
        return list(hx)
    return [hx]


def recurrent(call: OperationCall) -> None:
    """Every weight and state has the shape that the input and the number of layers require."""
    x, params, states = call.tensor("input", 3), list(call["params"]), _states(call)
    gates = _GATES[call.operation]
    (layers,) = call.sizes("num_layers", 1, 256)
    ways = 2 if call["bidirectional"] else 1
    plain = 4 if call["has_biases"] else 2
    call.same_type((x, *params, *states))
    each, rest = divmod(len(params), layers * ways)
    # An LSTM may project its output to fewer numbers with a fifth weight.
    projected = gates == 4 and each == plain + 1
    call.need(
        x.numel() > 0 and rest == 0 and (each == plain or projected),
        f"it has {len(params)} weights",
    )
    call.need(len(states) == (2 if gates == 4 else 1), f"it has {len(states)} states")
    call.need(
        all(weight.ndim in (1, 2) for weight in params) and params[1].ndim == 2,
        "a weight has too many axes",
    )
    # w_ih is ``(gates · hidden, input)``, w_hh ``(gates · hidden, shown)``.
    hidden, shown = params[0].shape[0] // gates, params[1].shape[1]
    batch = x.shape[0 if call["batch_first"] else 1]
    wanted = [(layers * ways, batch, shown), (layers * ways, batch, hidden)]
    # Only an LSTM has the second one, its cell state.
    right = all(tuple(state.shape) == shape for state, shape in zip(states, wanted, strict=False))
    call.need(
        0 < shown <= hidden and (projected or shown == hidden) and right,
        "a state has not the shape of the layers",
    )
    for place in range(layers * ways):
        # The first layer sees the input, the others what both directions below them show.
        if place < ways:
            size = x.shape[2]
        else:
            size = shown * ways
        shapes = [
            (gates * hidden, size),
            (gates * hidden, shown),
            *[(gates * hidden,)] * (plain - 2),
            # The projection; without one the last shape has no weight.
            (shown, hidden),
        ]
        _check_weights(call, params[place * each : (place + 1) * each], shapes)


def cell(call: OperationCall) -> None:
    """The same for one step of a recurrent layer."""
    x, states = call.tensor("input", 2), _states(call)
    weights = [call[name] for name in ("w_ih", "w_hh", "b_ih", "b_hh")]
    call.same_type((x, *weights, *states))
    gates = _GATES[call.operation.removesuffix("_cell")]
    call.need(
        len(states) == (2 if gates == 4 else 1) and weights[1].ndim == 2,
        "its weights or states do not fit",
    )
    hidden = weights[1].shape[1]
    call.need(
        hidden > 0 and all(tuple(state.shape) == (x.shape[0], hidden) for state in states),
        "a state has another shape",
    )
    rows = gates * hidden
    _check_weights(
        call,
        [weight for weight in weights if weight is not None],
        [(rows, x.shape[1]), (rows, hidden), (rows,), (rows,)],
    )


def _check_weights(
    call: OperationCall, weights: Sequence[Tensor], wanted: Sequence[tuple[int, ...]]
) -> None:
    right = all(
        tuple(weight.shape) == shape for weight, shape in zip(weights, wanted, strict=False)
    )
    call.need(right, "a weight does not fit the input")
